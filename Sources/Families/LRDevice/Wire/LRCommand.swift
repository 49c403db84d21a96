/// The command of an LR message: the number in the high byte, its namespace in the low one.
package struct LRCommand: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let setName = Self(rawValue: 0x0101)
    package static let getName = Self(rawValue: 0x0201)
    package static let setAutoLock = Self(rawValue: 0x0301)
    package static let getAutoLock = Self(rawValue: 0x0401)
    package static let setUser = Self(rawValue: 0x0501)
    package static let reset = Self(rawValue: 0x0601)
    package static let startNetworkListen = Self(rawValue: 0x0102)
    package static let stopNetworkListen = Self(rawValue: 0x0202)
    /// Sent only as a notification.
    package static let networkUpdate = Self(rawValue: 0x0302)
    package static let connectToNetwork = Self(rawValue: 0x0402)
    package static let keyExchange = Self(rawValue: 0x0103)
    package static let setPassword = Self(rawValue: 0x0203)
    package static let getLockState = Self(rawValue: 0x0104)
    package static let setLockState = Self(rawValue: 0x0204)
    /// With one byte of payload it switches the LED of the kit's sample; with more bytes a guest
    /// unlocks.
    package static let guestUnlock = Self(rawValue: 0x0105)

    package var description: String {
        let digits = String(rawValue, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
