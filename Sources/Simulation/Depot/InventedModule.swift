package import Base
package import Radio

/// A module that is made up from a row of a fleet list, for a rehearsal without a depot's file.
package struct InventedModule: Sendable {
    package let serial: Serial
    package let profile: Profile?
    /// The version that it runs before the release; nil when nothing updates it.
    package var version: FirmwareVersion?
    /// What the image that it gets demands of its hardware.
    package var type: UInt32?
    package var variant: UInt32?
    /// 32 bytes that are always the same for its secret, and for its vehicle.
    package let chance: [UInt8]
    /// The hardware id in the list.
    package var hardwareID: UInt32?
    /// Whether a booking has begun on its vehicle.
    package var isBooked = false

    package init(_ serial: Serial, _ profile: Profile?, chance: [UInt8]) {
        (self.serial, self.profile, self.chance) = (serial, profile, chance)
    }
}

/// What a family makes of an invented module.
package struct InventedItem: Sendable {
    /// Its keys in a depot's file, after `serial`, `family` and `profile`.
    package let keys: [(name: String, value: String)]
    /// The text of its secret; nil when none opens it.
    package let secret: String?
    /// Faults of a bad night, in the form of a depot's file.
    package let faults: [String]

    /// The faults of every family whose modules take images.
    package static let cuts = [
        "link-lost-at: 3000", "silent-at: 2000", "restart-at: 3000", "connect-fails: true",
    ]

    package init(
        _ keys: [(name: String, value: String?)],
        secret: String? = nil,
        faults: [String]
    ) {
        self.keys = keys.compactMap { key in key.value.map { (key.name, $0) } }
        self.secret = secret
        self.faults = faults
    }

    /// A module of which only its version is made up, with these faults besides `cuts`.
    package init(runs version: FirmwareVersion?, faults: [String]) {
        self.init([("version", version.map { "\"\($0)\"" })], faults: Self.cuts + faults)
    }
}
