extension StringProtocol {
    /// The text with all that could move a cursor, break a line or turn the writing spelled out.
    ///
    /// Names and messages come from files and from the air; what is printed of them must not
    /// command the terminal or forge a line of a log.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isUnseen) else { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isUnseen {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Control characters of both sets, line separators and marks of writing direction.
    fileprivate var isUnseen: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
