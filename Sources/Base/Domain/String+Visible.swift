extension StringProtocol {
    /// The text with everything escaped that could move a cursor, break a line, change the
    /// writing direction, or not be seen at all.
    ///
    /// The one way of text from files, programs and the air to people: to terminals, tables, pages,
    /// labels, logs and CSV. It must not control a terminal, forge a line, or look like another text.
    package var visible: String {
        if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(self) }
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
    /// Control characters, separators of lines, direction marks, what has no width, and letters
    /// that each program draws as it likes.
    package var isUnseen: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        let unseen: [Unicode.GeneralCategory] = [
            .control, .format, .lineSeparator, .paragraphSeparator, .privateUse,
        ]
        return unseen.contains(properties.generalCategory) || properties.isDefaultIgnorableCodePoint
    }
}
