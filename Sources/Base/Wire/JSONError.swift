/// Why a text is not valid JSON for this reader, with the offset.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case endsEarly
        case unexpectedByte(UInt8)
        case trailingBytes
        case nestedTooDeeply
        case duplicateMember(String)
        case controlCharacterInString
        case badEscape
        case loneSurrogate
        case invalidUTF8
        case badNumber
        case numberOutOfRange
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
            case .endsEarly: "the text ends early"
            case .unexpectedByte(let byte) where (0x21...0x7E).contains(byte):
                "unexpected '\(Character(Unicode.Scalar(byte)))'"
            case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
            case .trailingBytes: "something follows the value"
            case .nestedTooDeeply: "nested more than \(JSONReader.depthLimit) deep"
            case .duplicateMember(let name): "member '\(name)' appears twice"
            case .controlCharacterInString: "a control character stands in a string"
            case .badEscape: "not an escape sequence"
            case .loneSurrogate: "half of a surrogate pair"
            case .invalidUTF8: "not UTF-8"
            case .badNumber: "not a number"
            case .numberOutOfRange: "the number is too long or too large"
            }
        return "\(what) at byte \(offset)"
    }
}
