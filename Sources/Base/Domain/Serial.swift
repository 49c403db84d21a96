/// The identity that a module sends over the air; it is the only one that survives a changed
/// address.
package struct Serial: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Lower case: serials are compared without regard to case.
    package let text: String

    /// Nil unless the text may be a serial by `Naming`.
    package init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard Naming.isSerial(characters) else { return nil }
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

    /// Nil unless the text may be an id by `Naming`.
    package init?(_ text: some StringProtocol) {
        guard Naming.isVehicle(text) else { return nil }
        self.text = String(text)
    }

    package var description: String { text }

    package static func < (left: VehicleID, right: VehicleID) -> Bool { left.text < right.text }
}
