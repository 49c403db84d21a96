import Base

/// Text that equals other text only when their bytes are the same.
///
/// As strings, two encodings of the same letter would be equal, but a signature covers bytes.
package struct ExactText: Hashable, Sendable, Comparable, CustomStringConvertible {
    let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Safe to print.
    package var description: String { text.visible }

    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
