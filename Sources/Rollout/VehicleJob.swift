package import Domain
package import Manifest
package import Sessions

/// All that is to be done on one vehicle, with everything it takes: no name is left to look up.
package struct VehicleJob: Sendable {
    package let vehicle: VehicleID
    package let serial: Serial
    package let key: ComoduleKey
    package let steps: [JobStep]

    package init(vehicle: VehicleID, serial: Serial, key: ComoduleKey, steps: [JobStep]) {
        self.vehicle = vehicle
        self.serial = serial
        self.key = key
        self.steps = steps
    }
}

/// One step, ready to be done.
package enum JobStep: Sendable {
    case require([Requirement], otherwise: Otherwise)
    case update(UpdateJob)
}

/// A condition on a property that the module has.
package struct Requirement: Sendable, Equatable {
    package let property: Property
    package let condition: Condition

    package init(_ property: Property, _ condition: Condition) {
        self.property = property
        self.condition = condition
    }
}

/// A value of the generic Comodule profile that can be a precondition.
package enum Property: String, Sendable, CaseIterable {
    /// In percent.
    case stateOfCharge = "state_of_charge"
    /// In km/h.
    case speed
}

/// One update of a module, with its image in memory.
package struct UpdateJob: Sendable {
    /// What the manifest calls the image.
    package let name: String
    package let digest: SHA256Digest
    package let version: FirmwareVersion
    /// The hardware it is for; nil where the manifest leaves that open.
    package let type: Int?
    package let variant: Int?
    package let allowsDowngrade: Bool
    /// What a module must run before, as the image's signer says.
    package let predecessor: FirmwareVersion?
    /// In the order in which they are sent.
    package let parts: [FirmwarePart]

    package init(
        name: String,
        digest: SHA256Digest,
        version: FirmwareVersion,
        type: Int?,
        variant: Int?,
        allowsDowngrade: Bool,
        predecessor: FirmwareVersion? = nil,
        parts: [FirmwarePart]
    ) {
        self.name = name
        self.digest = digest
        self.version = version
        self.type = type
        self.variant = variant
        self.allowsDowngrade = allowsDowngrade
        self.predecessor = predecessor
        self.parts = parts
    }

    package var size: Int { parts.reduce(0) { $0 + $1.firmware.count } }

    /// What decides whether a module may have it.
    var identity: ImageFirmware {
        ImageFirmware(
            name: name,
            version: version,
            family: .comodule,
            type: type,
            variant: variant,
            predecessor: predecessor
        )
    }
}

/// One signed piece of firmware: what describes it and what it is.
package struct FirmwarePart: Sendable, Equatable {
    package let initPacket: [UInt8]
    package let firmware: [UInt8]

    package init(initPacket: [UInt8], firmware: [UInt8]) {
        self.initPacket = initPacket
        self.firmware = firmware
    }
}
