extension StringProtocol {
    /// The text with everything escaped that could move a cursor, break a line or change the
    /// writing direction.
    ///
    /// Names and messages come from files and from the air; when printed, they must not be able to
    /// control the terminal or forge a log line.
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
    /// Control characters of both sets, line separators and direction marks.
    fileprivate var isUnseen: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
