/// Checks a file's characters before any parser reads them, so that their errors have a place.
package enum SourceCheck {
    /// The first error in `bytes`; nil when there is none.
    ///
    /// In addition to bytes that are not text, it rejects the three rare line breaks (U+0085,
    /// U+2028, U+2029) that count as lines in YAML but not in editors, because places after them
    /// would be wrong. It also rejects directives, because libyaml compares each one with all
    /// earlier ones; in a file that is not YAML, `directives` allows lines that start with `%`.
    package static func fault(
        _ bytes: [UInt8],
        directives: Bool = false,
        origin: (_ line: Int, _ column: Int) -> Place
    ) -> YAMLFault? {
        let start = origin(1, 1)
        guard !bytes.isEmpty else { return .empty(start) }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            return .otherEncoding(start)
        }
        var (line, column) = (1, 1)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte < 0x80 {
                switch byte {
                case 0x0A, 0x0D:
                    let pair =
                        byte == 0x0D && index + 1 < bytes.endIndex && bytes[index + 1] == 0x0A
                    index += pair ? 2 : 1
                    line += 1
                    column = 1
                    continue
                case 0x00: return .binary(origin(line, column))
                case 0x01..<0x09, 0x0B..<0x20, 0x7F:
                    return .controlCharacter(origin(line, column), UInt32(byte))
                case 0x25
                where column == 1 && !directives
                    && !isVersionDirective(bytes[index...], line: line):
                    return .directive(origin(line, column))
                default: index += 1
                }
            } else {
                guard let (scalar, length) = decode(bytes, at: index) else {
                    return .invalidUTF8(origin(line, column))
                }
                switch scalar {
                case 0x80..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                    return .controlCharacter(origin(line, column), scalar)
                default: index += length
                }
            }
            column += 1
        }
        return nil
    }

    private static func isVersionDirective(_ rest: ArraySlice<UInt8>, line: Int) -> Bool {
        line <= 100 && rest.starts(with: Array("%YAML ".utf8))
    }

    /// The scalar that starts at `index`, and its length; rejects overlong forms and surrogates.
    private static func decode(_ bytes: [UInt8], at index: Int) -> (UInt32, Int)? {
        let first = bytes[index]
        let length: Int
        var scalar: UInt32
        switch first {
        case 0xC2...0xDF: (length, scalar) = (2, UInt32(first & 0x1F))
        case 0xE0...0xEF: (length, scalar) = (3, UInt32(first & 0x0F))
        case 0xF0...0xF4: (length, scalar) = (4, UInt32(first & 0x07))
        default: return nil
        }
        guard index + length <= bytes.count else { return nil }
        for byte in bytes[(index + 1)..<(index + length)] {
            guard byte & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        let valid =
            switch length {
            case 2: true
            case 3: scalar >= 0x800 && !(0xD800...0xDFFF).contains(scalar)
            default: (0x10000...0x10FFFF).contains(scalar)
            }
        return valid ? (scalar, length) : nil
    }
}
