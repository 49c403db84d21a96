package import Base

/// One command of the car-share protocol, with its word in manifests, tokens and reports.
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

    /// The permission that a token must contain for it.
    package var permission: CarSharePermission {
        switch self {
        case .lock: .lock
        case .unlockDriver: .unlockDriver
        case .unlockAll: .unlockAll
        case .openTrunk: .openTrunk
        case .closeTrunk: .closeTrunk
        case .locate: .locate
        case .ignitionInhibit: .ignitionInhibit
        case .ignitionEnable: .ignitionEnable
        case .checkIn: .checkIn
        case .checkOut: .checkOut
        case .secureConditionsCheck: .secureConditionsCheck
        }
    }

    /// Whether it can be repeated without harm, and a signed one does nobody a favour.
    package var isHarmless: Bool {
        switch self {
        case .lock, .ignitionInhibit, .secureConditionsCheck: true
        case .unlockDriver, .unlockAll, .openTrunk, .closeTrunk, .locate, .ignitionEnable,
            .checkIn, .checkOut:
            false
        }
    }

    /// Whether it gives a person who stands beside the vehicle a way into it, or a way off.
    package var opens: Bool {
        switch self {
        case .unlockDriver, .unlockAll, .openTrunk, .ignitionEnable, .checkIn: true
        case .lock, .closeTrunk, .locate, .ignitionInhibit, .checkOut, .secureConditionsCheck:
            false
        }
    }

    /// Its bit, which is the same in commands and in permissions.
    package var bit: UInt32 { permission.rawValue }
}

/// The commands of one request: one or several, which the vehicle carries out in its own order.
package struct CarShareCommands: Hashable, Sendable, CustomStringConvertible {
    package let bits: UInt32

    package init(_ command: CarShareCommand) { bits = command.bit }

    /// Nil when there is no command.
    package init?(_ commands: some Sequence<CarShareCommand>) {
        let bits = commands.reduce(0) { $0 | $1.bit }
        guard bits != 0 else { return nil }
        self.bits = bits
    }

    /// The commands in the order of the table.
    package var list: [CarShareCommand] {
        CarShareCommand.allCases.filter { bits & $0.bit != 0 }
    }

    /// Whether all of them can be repeated without harm: the vehicle ends in the intended state.
    package var isHarmless: Bool { list.allSatisfy(\.isHarmless) }

    package var description: String { list.map(\.rawValue).joined(separator: "+") }

    /// The command message: one field of 32 bits.
    package var bytes: [UInt8] {
        var fields = ProtobufFields()
        fields.add(1, fixed: bits)
        return fields.serialized
    }

    /// The bits of a command message, including unknown ones; a message without the field has no
    /// bits.
    package static func bits(of bytes: [UInt8]) throws(ProtobufError) -> UInt32 {
        try ProtobufFields(bytes).fixed32(1) ?? 0
    }
}
