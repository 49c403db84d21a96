package import Domain
package import SourceTree

/// One vehicle of a plan with what is to be done on it.
package struct PlannedVehicle: Sendable, Equatable {
    package let id: VehicleID
    package let serial: Serial
    package let family: Family
    package let profile: String
    package let secret: SecretReference?
    /// The car-share token of a GO device beside the module.
    package let token: SecretReference?
    /// Who hands out its token, where none is kept.
    package internal(set) var issuer: TokenIssuer?
    /// Of a GO device beside the module.
    package let goSerial: Serial?
    /// Of its GO device.
    package let hardwareID: UInt32?
    package let bond: PlannedBond
    /// By name.
    package let labels: [Label]
    /// Its own steps, or else the manifest's.
    package internal(set) var steps: [Step]
    package let place: Place
    /// Where its serial stands.
    package let serialPlace: Place
    /// Where it says what opens it; nil where it says nothing of it.
    package internal(set) var secretPlace: Place?
    package internal(set) var tokenPlace: Place?
    package internal(set) var passkeyPlace: Place?

    package init(
        id: VehicleID,
        serial: Serial,
        family: Family,
        profile: String,
        secret: SecretReference?,
        token: SecretReference? = nil,
        goSerial: Serial? = nil,
        hardwareID: UInt32? = nil,
        bond: PlannedBond = PlannedBond(),
        labels: [Label],
        steps: [Step],
        place: Place,
        serialPlace: Place? = nil
    ) {
        self.id = id
        self.serial = serial
        self.family = family
        self.profile = profile
        self.secret = secret
        self.token = token
        self.goSerial = goSerial
        self.hardwareID = hardwareID
        self.bond = bond
        self.labels = labels
        self.steps = steps
        self.place = place
        self.serialPlace = serialPlace ?? place
    }
}

/// What a vehicle's row says of pairing with its module.
package struct PlannedBond: Sendable, Equatable {
    /// Nil where the profile decides.
    package var pairing: PairingKind?
    /// Where its six digits are kept.
    package var passkey: SecretReference?
    /// A bond that the module has lost may be made again.
    package var mayRenew = false

    package init() {}
}

/// A column of the fleet list that has no meaning of its own.
package struct Label: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
