/// Why bytes are not valid CBOR for this reader, with the offset.
package struct CBORError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case endsEarly
        case trailingBytes
        case nestedTooDeeply
        /// Additional information 28 to 30, or 31 where an indefinite length is not allowed.
        case reserved(UInt8)
        case strayBreak
        /// A string of indefinite length contains an item that is not a string of its kind.
        case badPiece
        case invalidUTF8
        case duplicateKey
        case tooManyKeys
        /// A simple value below 32 that takes two bytes.
        case badSimpleValue
    }

    package let reason: Reason
    /// Counts from 0.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String {
        let what =
            switch reason {
            case .endsEarly: "the item ends early"
            case .trailingBytes: "something follows the item"
            case .nestedTooDeeply: "nested more than \(CBORReader.depthLimit) deep"
            case .reserved(let byte): "0x\(String(byte, radix: 16)) begins no item"
            case .strayBreak: "an end of something that was not begun"
            case .badPiece: "a piece of a string that is none"
            case .invalidUTF8: "text that is not UTF-8"
            case .duplicateKey: "a key appears twice"
            case .tooManyKeys: "a map of more than \(CBORReader.keyLimit) keys"
            case .badSimpleValue: "not a simple value"
            }
        return "\(what) at byte \(offset)"
    }
}
