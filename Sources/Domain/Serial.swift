/// The identity that a module sends over the air; it is the only one that survives a changed
/// address.
package struct Serial: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Lower case: serials are compared without regard to case.
    package let text: String

    /// Nil unless the text is 1 to 64 visible ASCII characters without white space.
    package init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard (1...64).contains(characters.count),
            characters.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text.lowercased()
    }

    /// The serial of a module that advertises raw bytes: two hex digits for each byte.
    package init?(bytes: some Collection<UInt8>) {
        guard (1...32).contains(bytes.count) else { return nil }
        text = Hex.text(bytes)
    }

    package var description: String { text }

    package static func < (left: Serial, right: Serial) -> Bool { left.text < right.text }
}

/// The operator's name for a vehicle; unique in a fleet.
package struct VehicleID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// Nil unless the text is 1 to 128 bytes without control characters or surrounding spaces.
    package init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard (1...128).contains(characters.count),
            characters.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            characters.first != 0x20, characters.last != 0x20
        else { return nil }
        self.text = String(text)
    }

    package var description: String { text }

    package static func < (left: VehicleID, right: VehicleID) -> Bool { left.text < right.text }
}
