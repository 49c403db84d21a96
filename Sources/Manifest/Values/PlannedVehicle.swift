package import Base

/// One vehicle of a plan, with its steps.
package struct PlannedVehicle: Sendable, Equatable {
    package internal(set) var id: VehicleID
    package let serial: Serial
    package let family: Family
    package let profile: String
    package internal(set) var secret: SecretReference?
    /// The car-share token of its GO device, where there is one in addition to the module.
    package let token: SecretReference?
    /// The issuer of its token, where none is stored.
    package internal(set) var issuer: TokenIssuer?
    /// The serial of its GO device, where there is one in addition to the module.
    package let goSerial: Serial?
    /// The hardware id of its GO device.
    package let hardwareID: UInt32?
    package let bond: PlannedBond
    /// Sorted by name.
    package let labels: [Label]
    /// Its own steps, or else the manifest's.
    package internal(set) var steps: [Step]
    package let place: Place
    /// The place of its serial.
    package let serialPlace: Place
    /// The place of its secret; nil where it has none.
    package internal(set) var secretPlace: Place?
    package internal(set) var tokenPlace: Place?
    package internal(set) var passkeyPlace: Place?
    /// What its list says now, as a sentence, where that is another device than the one that the
    /// rollout was begun with; no part of the plan.
    package internal(set) var exchanged: String?

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

extension PlannedVehicle {
    /// The value of a label, `family` or `profile`; empty where its row has no such column.
    package func value(of label: String) -> String {
        switch label {
        case "family": family.rawValue
        case "profile": profile
        default: labels.first { $0.name == label }?.value ?? ""
        }
    }

    /// What a later row of the vehicle says of its devices, as a sentence; nil where it has the
    /// same ones.
    func exchanged(by row: PlannedVehicle) -> String? {
        let (device, now, before): (String, Serial?, Serial?) =
            serial != row.serial
            ? ("module", row.serial, serial) : ("GO device", row.goSerial, goSerial)
        guard now != before else { return nil }
        return "its \(device) is \(now?.text ?? "none") in the list now, and was "
            + "\(before?.text ?? "none") when the rollout was begun: nothing is done on it before "
            + "`run --again`"
    }

    /// That another vehicle has its module, as a sentence.
    func exchanged(into owner: VehicleID) -> String {
        "its module \(serial) is in \(owner) in the list now: nothing is done on it before `run --again`"
    }
}

/// The pairing settings in a vehicle's row.
package struct PlannedBond: Sendable, Equatable {
    /// Nil where the profile decides.
    package var pairing: PairingKind?
    /// The reference to its six digits.
    package var passkey: SecretReference?
    /// Whether a bond that the module has lost may be made again.
    package var mayRenew = false

    package init() {}
}

/// A column of the fleet list without a predefined meaning.
package struct Label: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = Self.name(name)
        self.value = value
    }

    /// The name of a column: the same one with and without capital letters, as spreadsheets begin
    /// words with them.
    package static func name(_ text: some StringProtocol) -> String { text.lowercased() }
}
