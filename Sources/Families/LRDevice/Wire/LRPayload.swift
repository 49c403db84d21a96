import Base

/// Encodes and decodes the payloads of LR messages.
package enum LRPayload {
    /// Separates the parts of a payload that has several.
    private static let separator: UInt8 = 0x1F
    private static let nameLimit = 20

    /// The first 20 characters: the device has room for no more.
    package static func name(_ text: String) -> [UInt8] {
        Array(String(text.prefix(nameLimit)).utf8)
    }

    /// The low byte of the magnitude; an empty payload means "off".
    package static func autoLock(_ seconds: Int?) -> [UInt8] {
        seconds.map { [UInt8(truncatingIfNeeded: $0.magnitude)] } ?? []
    }

    package static func pair(_ first: String, _ second: String) -> [UInt8] {
        Array(first.utf8) + [separator] + Array(second.utf8)
    }

    /// A list of names; empty ones are dropped.
    package static func names(in payload: [UInt8]) -> [String] {
        payload.split(separator: separator).map { String(decoding: $0, as: UTF8.self) }
    }

    package static func names(_ list: [String]) -> [UInt8] {
        Array(list.map { Array($0.utf8) }.joined(separator: [separator]))
    }

    /// The new state of the lock, and the sealed password that permits it.
    package static func lock(_ state: LRLockState, sealed password: [UInt8]) -> [UInt8] {
        [state.rawValue] + password
    }

    package static func guest(unlock: Bool, code: String, id: String) -> [UInt8] {
        [unlock ? 1 : 0] + pair(code, id)
    }
}

/// The state that a lock reports.
package enum LRLockState: UInt8, CaseIterable, Sendable {
    case locked = 0
    case unlocked = 1

    /// Every byte except 01 counts as locked: other software reads the devices in the same way.
    package init(reported byte: UInt8) { self = byte == 1 ? .unlocked : .locked }
}
