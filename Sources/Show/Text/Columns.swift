/// Measures text in columns of a terminal.
package enum Columns {
    /// The number of columns of a text: two for wide letters and pictures, none for combining
    /// marks.
    static func width(_ text: some StringProtocol) -> Int {
        // ASCII has a column for each byte; only CR and LF are one character together.
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// The longest beginning of the text that fits.
    package static func prefix(_ text: String, _ columns: Int) -> String {
        var (taken, left) = ("", columns)
        for character in text {
            left -= width(character)
            guard left >= 0 else { break }
            taken.append(character)
        }
        return taken
    }

    /// The text in lines of at most this many columns, broken at blanks where possible.
    static func wrapped(_ text: String, _ columns: Int) -> [String] {
        guard columns > 0, width(text) > columns else { return [text] }
        var lines: [String] = []
        var (line, used) = ("", 0)
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var (word, size) = (String(word), width(word))
            if used > 0, used + 1 + size > columns {
                lines.append(line)
                (line, used) = ("", 0)
            }
            while size > columns {
                let head = prefix(word, columns)
                guard !head.isEmpty else { break }
                lines.append(head)
                word = String(word.dropFirst(head.count))
                size = width(word)
            }
            line += used > 0 ? " " + word : word
            used += (used > 0 ? 1 : 0) + size
        }
        return lines + [line]
    }

    /// A text whose long lines go on below their last column, or indented where they have no columns.
    ///
    /// A command stays one line, so that it can be copied.
    package static func folded(_ text: String, _ columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { folded(line: String($0), columns) }.joined(separator: "\n")
    }

    private static func folded(line: String, _ columns: Int) -> String {
        let start = line.prefix { $0 == " " }.count
        let words = line.dropFirst(start)
        guard width(line) > columns, columns >= 40,
            !["$ ", "yardmaster ", "sudo ", "next: "].contains(where: words.hasPrefix)
        else { return line }
        guard let column = lastColumn(of: line, in: columns) else {
            return String(repeating: " ", count: start)
                + joined(wrapped(String(words), columns - start - 2), start + 2)
        }
        let cell = String(line.dropFirst(column.count))
        let below = wrapped(cell, columns - start - 4)
        let room = columns - column.width
        let beside = room < 30 ? [] : wrapped(cell, room)
        guard beside.isEmpty || beside.count > below.count + 1 else {
            return line.prefix(column.count) + joined(beside, column.width)
        }
        return joined([trimmed(line.prefix(column.count))] + below, start + 4)
    }

    private static func joined(_ lines: [String], _ indent: Int) -> String {
        lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// The characters before the last column of a table's row, and their width; nil where there is
    /// none within these columns.
    private static func lastColumn(of line: String, in columns: Int) -> (count: Int, width: Int)? {
        var (found, gap, used): ((count: Int, width: Int)?, Int, Int) = (nil, 0, 0)
        for (count, character) in line.enumerated() where used < columns {
            if character != " ", gap >= 2, count > gap { found = (count, used) }
            gap = character == " " ? gap + 1 : 0
            used += width(character)
        }
        return found
    }

    /// A row of a table whose cell in this column has a colour.
    ///
    /// Cells have no two blanks in a row.
    static func painted(_ line: String, _ colour: Colour, column: Int) -> String {
        var (start, found) = (line.startIndex, 0)
        while found < column, let gap = line[start...].firstRange(of: "  ") {
            start = line[gap.upperBound...].firstIndex { $0 != " " } ?? line.endIndex
            found += 1
        }
        let end = line[start...].firstRange(of: "  ")?.lowerBound ?? line.endIndex
        return line[..<start] + colour.paint(String(line[start..<end])) + line[end...]
    }

    /// Rows with aligned cells, two columns apart.
    package static func table(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { index in
            rows.map { index < $0.count ? width($0[index]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            trimmed(zip(row, widths).map(padded).joined(separator: "  ")[...])
        }
    }

    /// A table with its head, as text.
    package static func text(_ head: [String], _ rows: [[String]]) -> String {
        table([head] + rows).map { $0 + "\n" }.joined()
    }

    static func padded(_ text: String, _ columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }
}

extension String {
    /// The text with every non-ASCII character replaced by its number.
    package var ascii: String {
        guard utf8.contains(where: { $0 > 0x7F }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.isASCII ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
}
