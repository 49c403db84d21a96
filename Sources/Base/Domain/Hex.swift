/// Bytes as lower-case hexadecimal text, and back.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func text(_ bytes: some Collection<UInt8>) -> String { spelled(Array(bytes)) }

    private static func spelled(_ bytes: [UInt8]) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            characters.append(digits[Int(byte >> 4)])
            characters.append(digits[Int(byte & 15)])
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// The bytes that `text` contains as pairs of hex digits of either case; nil for anything else.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = value(characters[index]), let low = value(characters[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    package static func isDigit(_ character: UInt8) -> Bool { value(character) != nil }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }
}
