/// A GATT identifier: 128 bits, or 16 bits on the Bluetooth base.
package struct GATTUUID: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A 16-bit identifier occupies bits 96 to 111 of 00000000-0000-1000-8000-00805F9B34FB.
    package init(short: UInt16) {
        high = UInt64(short) << 32 | 0x1000
        low = 0x8000_0080_5F9B_34FB
    }

    /// The two halves in their written order, the more significant first.
    package init(_ high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the dashed form of 36 characters, or four hex digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        if text.utf8.count == 4, let bytes = Hex.bytes(text) {
            self.init(short: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
            return
        }
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            let bytes = Hex.bytes(groups.joined())
        else { return nil }
        self.init(bytes: bytes)
    }

    /// Sixteen bytes, the most significant first; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The most significant byte first.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    /// Lower case with dashes, as BlueZ writes it.
    package var description: String {
        var text = Array(Hex.text(bytes).utf8)
        for index in [20, 16, 12, 8] { text.insert(0x2D, at: index) }
        return String(decoding: text, as: UTF8.self)
    }

    package static func == (left: GATTUUID, right: GATTUUID) -> Bool {
        left.low == right.low && left.high == right.high
    }

    /// Both halves folded into one word, for hashing.
    fileprivate var word: UInt64 { high &* 5 ^ low }

    package static func < (left: GATTUUID, right: GATTUUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// One characteristic, identified by its own UUID and its service's, never by a handle or a path.
package struct Characteristic: Hashable, Sendable, CustomStringConvertible {
    package let service: GATTUUID
    package let uuid: GATTUUID

    package init(_ uuid: GATTUUID, of service: GATTUUID) {
        self.uuid = uuid
        self.service = service
    }

    package var description: String { uuid.description }

    /// Hashes one word instead of four: a characteristic is looked up for every packet.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(uuid.word &* 3 ^ service.word)
    }

    package static func == (left: Characteristic, right: Characteristic) -> Bool {
        left.uuid == right.uuid && left.service == right.service
    }
}

/// The operations that a characteristic allows.
package struct CharacteristicFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Self(rawValue: 1)
    package static let write = Self(rawValue: 2)
    package static let writeWithoutResponse = Self(rawValue: 4)
    package static let notify = Self(rawValue: 8)
    package static let indicate = Self(rawValue: 16)
}
