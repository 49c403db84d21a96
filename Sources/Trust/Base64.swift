/// RFC 4648 section 4, strictly: padded, no other characters, no bits left over.
package enum Base64 {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Nil for anything but the one spelling of some bytes.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        let characters = Array(text)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).count { $0 == 0x3D }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        var group: UInt32 = 0
        for (index, character) in characters.enumerated() {
            let value: UInt32
            if index >= characters.count - padding {
                guard character == 0x3D else { return nil }
                value = 0
            } else {
                guard let known = Self.value(character) else { return nil }
                value = known
            }
            group = group << 6 | value
            guard index % 4 == 3 else { continue }
            bytes += [
                UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8),
                UInt8(truncatingIfNeeded: group),
            ]
            group = 0
        }
        let spare = bytes.suffix(padding)
        guard spare.allSatisfy({ $0 == 0 }) else { return nil }
        bytes.removeLast(padding)
        // Bits that belong to no byte must be zero, or one signature would have several spellings.
        guard Self.text(bytes).utf8.elementsEqual(characters) else { return nil }
        return bytes
    }

    package static func text(_ bytes: [UInt8]) -> String {
        var characters: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var group: UInt32 = 0
            for index in 0..<3 {
                let position = start + index
                group = group << 8 | (position < part.endIndex ? UInt32(bytes[position]) : 0)
            }
            for index in 0..<4 {
                let letter = letters[Int(group >> UInt32(18 - 6 * index) & 63)]
                characters.append(index <= part.count ? letter : 0x3D)
            }
        }
        return String(decoding: characters, as: UTF8.self)
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character - 0x41)
        case 0x61...0x7A: UInt32(character - 0x61 + 26)
        case 0x30...0x39: UInt32(character - 0x30 + 52)
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
