package import Domain
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
    case require([Requirement], otherwise: Refusal)
    case update(UpdateJob)
}

/// What becomes of a vehicle whose precondition does not hold.
package enum Refusal: String, Sendable, CaseIterable {
    case `defer`, skip, fail, warn
}

/// A condition on a property of the module.
package struct Requirement: Sendable, Equatable {
    package enum Comparison: String, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"
    }

    package let property: Property
    package let comparison: Comparison
    package let value: Double

    package init(_ property: Property, _ comparison: Comparison, _ value: Double) {
        self.property = property
        self.comparison = comparison
        self.value = value
    }

    package func holds(for measured: Double) -> Bool {
        switch comparison {
        case .equal: measured == value
        case .notEqual: measured != value
        case .atLeast: measured >= value
        case .atMost: measured <= value
        case .above: measured > value
        case .below: measured < value
        }
    }

    /// As the manifest has it: `>= 40`.
    package var description: String { "\(comparison.rawValue) \(Property.text(value))" }
}

/// A value of the generic Comodule profile that can be a precondition.
package enum Property: String, Sendable, CaseIterable {
    /// In percent.
    case stateOfCharge = "state_of_charge"
    /// In km/h.
    case speed

    /// Whole numbers print without a fraction.
    package static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }
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
    /// In the order in which they are sent.
    package let parts: [FirmwarePart]

    package init(
        name: String,
        digest: SHA256Digest,
        version: FirmwareVersion,
        type: Int?,
        variant: Int?,
        allowsDowngrade: Bool,
        parts: [FirmwarePart]
    ) {
        self.name = name
        self.digest = digest
        self.version = version
        self.type = type
        self.variant = variant
        self.allowsDowngrade = allowsDowngrade
        self.parts = parts
    }

    package var size: Int { parts.reduce(0) { $0 + $1.firmware.count } }
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
