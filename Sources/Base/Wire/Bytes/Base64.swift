/// Base64 with the standard alphabet (RFC 4648, section 4).
package enum Base64 {
    /// The bytes that `text` encodes; nil unless every character is valid and the padding is
    /// correct.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var body = Array(text)
        while body.last == pad, text.count - body.count < 2 { body.removeLast() }
        var values: [UInt8] = []
        values.reserveCapacity(body.count)
        for character in body {
            guard let value = value(of: character) else { return nil }
            values.append(value)
        }
        guard let bytes = packed(values) else { return nil }
        return bytes
    }

    /// The bytes that a text encodes, ignoring all characters outside the alphabet; nil when the
    /// rest ends in the middle of a byte.
    package static func bytes(ignoringUnknownIn text: some Collection<UInt8>) -> [UInt8]? {
        packed(text.compactMap { value(of: $0) })
    }

    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let value = Int(word >> UInt32(18 - 6 * index) & 63)
                text.append(index <= group.count ? alphabet[value] : pad)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let pad: UInt8 = 0x3D

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61 + 26
        case 0x30...0x39: character - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }

    /// Packs six bits from each value; the remaining bits at the end must be zero.
    private static func packed(_ values: [UInt8]) -> [UInt8]? {
        guard values.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * 3 / 4)
        var word: UInt32 = 0
        var bits = 0
        for value in values {
            word = word << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            word &= 1 << UInt32(bits) - 1
        }
        return word == 0 ? bytes : nil
    }
}
