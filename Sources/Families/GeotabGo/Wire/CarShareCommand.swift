package import Wire

/// One thing that a vehicle can be told over the car-share protocol.
package enum CarShareCommand: String, CaseIterable, Sendable, Hashable {
    case lock
    case unlockDriver = "unlock-driver"
    case unlockAll = "unlock-all"
    case openTrunk = "open-trunk"
    case closeTrunk = "close-trunk"
    case locate
    case ignitionInhibit = "ignition-inhibit"
    case ignitionEnable = "ignition-enable"
    case checkIn = "check-in"
    case checkOut = "check-out"
    case secureConditionsCheck = "secure-conditions-check"

    /// Its bit, in commands as in permissions.
    package var bit: UInt32 {
        switch self {
        case .lock: 1
        case .unlockDriver: 2
        case .unlockAll: 4
        case .openTrunk: 8
        case .closeTrunk: 16
        case .locate: 32
        case .ignitionInhibit: 64
        case .ignitionEnable: 128
        case .checkIn: 1_024
        case .checkOut: 2_048
        case .secureConditionsCheck: 4_194_304
        }
    }

    /// What doing it a second time does to the vehicle.
    package enum Repetition: String, Sendable, Hashable, Comparable {
        /// It only asks.
        case observe
        /// It brings about a state: done twice is done once.
        case converge
        /// It happens each time.
        case once

        private var weight: Int {
            switch self {
            case .observe: 0
            case .converge: 1
            case .once: 2
            }
        }

        package static func < (left: Repetition, right: Repetition) -> Bool {
            left.weight < right.weight
        }
    }

    package var repetition: Repetition {
        switch self {
        case .secureConditionsCheck: .observe
        case .lock, .unlockDriver, .unlockAll, .ignitionInhibit, .ignitionEnable: .converge
        // A trunk may have a person's hand in it by then; a booking begins and ends once.
        case .openTrunk, .closeTrunk, .locate, .checkIn, .checkOut: .once
        }
    }
}

/// What one request asks for: one command or several, which the vehicle takes in its own order.
package struct CarShareCommands: Hashable, Sendable, CustomStringConvertible {
    package let bits: UInt32

    package init(_ command: CarShareCommand) { bits = command.bit }

    /// Nil when there is none.
    package init?(_ commands: some Sequence<CarShareCommand>) {
        let bits = commands.reduce(0) { $0 | $1.bit }
        guard bits != 0 else { return nil }
        self.bits = bits
    }

    /// In the order of the table.
    package var list: [CarShareCommand] {
        CarShareCommand.allCases.filter { bits & $0.bit != 0 }
    }

    /// The worst of its commands.
    package var repetition: CarShareCommand.Repetition {
        list.map(\.repetition).max() ?? .observe
    }

    package var description: String { list.map(\.rawValue).joined(separator: "+") }

    /// The command message: one field of 32 bits.
    package var bytes: [UInt8] {
        var fields = ProtobufFields()
        fields.add(1, fixed: bits)
        return fields.serialized
    }

    /// The bits of a command message, with those that nobody has given a meaning; no field means
    /// none.
    package static func bits(of bytes: [UInt8]) throws(ProtobufError) -> UInt32 {
        try ProtobufFields(bytes).fixed32(1) ?? 0
    }
}
