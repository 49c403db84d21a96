/// What the names that people and modules give may consist of: the one table for all ways in.
///
/// | name | length | characters | not as the first one |
/// |---|---|---|---|
/// | id of a vehicle | 1 to 128 bytes | everything that is seen, and spaces inside; no `*`, `?`, `=` | `+`, `-`, `@`, a combining mark |
/// | serial | 1 to 64 | ASCII that is seen; no `*`, `?` | `=`, `+`, `-`, `@` |
/// | name of a rollout, a profile, an image | 1 to 64 | letters of ASCII, digits, `.`, `_`, `-` | `-`, `.` |
///
/// Names get into spreadsheets (where `=` begins a formula), onto command lines (where `-` begins a
/// flag, `@` a group of vehicles, and `*` means all of them) and onto terminals.
package enum Naming {
    /// Whether a text may be the id of a vehicle.
    package static func isVehicle(_ text: some StringProtocol) -> Bool {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), let first = bytes.first, begins(first),
            first != 0x20, bytes.reversed().first != 0x20
        else { return false }
        if bytes.allSatisfy({ $0 < 0x7F }) {
            return bytes.allSatisfy { $0 >= 0x20 && !isReserved($0) && $0 != 0x3D }
        }
        guard let mark = text.unicodeScalars.first, !mark.isMark else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII {
                return scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "="
                    && !isReserved(UInt8(truncatingIfNeeded: scalar.value))
            }
            // A space of another kind looks like a space, and is none.
            return !scalar.isUnseen && scalar.properties.generalCategory != .spaceSeparator
        }
    }

    /// Whether a text may be a serial.
    package static func isSerial(_ bytes: [UInt8]) -> Bool {
        guard (1...64).contains(bytes.count), let first = bytes.first, begins(first) else {
            return false
        }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) && !isReserved($0) }
    }

    /// A text with `mark` for each byte that cannot stand inside the name of something in a manifest.
    package static func word(of text: some StringProtocol, else mark: UInt8) -> String {
        let bytes = text.utf8.map { isWord([0x61, $0], upperCase: true) ? $0 : mark }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text may be the name of something in a manifest.
    package static func isWord(_ bytes: [UInt8], upperCase: Bool) -> Bool {
        guard (1...64).contains(bytes.count), let first = bytes.first, first != 0x2D, first != 0x2E
        else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            case 0x41...0x5A: upperCase
            default: false
            }
        }
    }

    /// Not `=`, `+`, `-` or `@`.
    private static func begins(_ byte: UInt8) -> Bool {
        byte != 0x3D && byte != 0x2B && byte != 0x2D && byte != 0x40
    }

    /// `*` and `?`, which stand for other characters in patterns.
    private static func isReserved(_ byte: UInt8) -> Bool { byte == 0x2A || byte == 0x3F }
}

extension Unicode.Scalar {
    /// Whether it is shown on the character before it.
    fileprivate var isMark: Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(properties.generalCategory)
    }
}
