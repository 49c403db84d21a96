/// The SHA-256 digest of an image or of a plan.
package struct SHA256Digest: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hex digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let bytes = Hex.bytes(text) else { return nil }
        self.init(bytes: bytes)
    }

    package var description: String { Hex.text(bytes) }

    package static func < (left: SHA256Digest, right: SHA256Digest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
