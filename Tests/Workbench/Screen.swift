/// A simulated terminal with the functions that our output needs: it shows the output as a person
/// would see it.
///
/// It supports the end of a line, carriage return, cursor up, erasing to the end of the line and of
/// the screen, colours (which it drops), characters of two columns, wrapping at the edge,
/// scrolling, and changes of width. Everything else is recorded as unknown, because our output does
/// not use it.
package struct Screen {
    /// One line of the window; a wrapped line continues in the next one.
    private struct Line {
        var cells: [String] = []
        var isWrapped = false

        /// The second column of a wide character is an empty cell.
        var text: String { cells.joined() }
    }

    package private(set) var width: Int
    /// Nil for a window that is as high as its contents.
    package private(set) var height: Int?
    /// Unknown sequences and characters.
    package private(set) var strange: [String] = []
    private var lines: [Line] = [Line()]
    /// Lines that have scrolled off the top.
    private var past: [Line] = []
    private var row = 0
    private var column = 0
    /// The beginning of a sequence whose end has not arrived.
    private var pending = ""

    package init(width: Int, height: Int? = nil) {
        self.width = width
        self.height = height
    }

    /// The contents of the window, without blanks at the ends of lines.
    package var text: String {
        lines.map { Self.trimmed($0.text) }.joined(separator: "\n")
    }

    /// The lines that have scrolled off the top and the window, as they were written, before
    /// wrapping.
    package var all: String {
        var text = ""
        for line in past + lines {
            text += line.isWrapped ? line.text : Self.trimmed(line.text) + "\n"
        }
        return text
    }

    /// The window with all its lines in a frame, for files that people compare.
    package var picture: String {
        let edge = "+" + String(repeating: "-", count: width) + "+\n"
        let height = height ?? lines.count
        var text = edge
        for index in 0..<height {
            let line = index < lines.count ? lines[index] : Line()
            text += "|" + line.text + String(repeating: " ", count: width - line.cells.count)
            text += "|\n"
        }
        return text + edge
    }

    private static func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: Writing

    package mutating func write(_ text: String) {
        var rest = Substring(pending + text)
        pending = ""
        while let character = rest.first {
            switch character {
            case "\n", "\r\n":
                rest.removeFirst()
                feed()
                column = 0
            case "\r":
                rest.removeFirst()
                column = 0
            case "\u{1B}":
                guard let end = take(rest) else {
                    pending = String(rest)
                    return
                }
                rest = rest[end...]
            default:
                rest.removeFirst()
                put(character)
            }
        }
    }

    /// Applies the sequence at the beginning and returns its end; nil when it is incomplete.
    private mutating func take(_ text: Substring) -> Substring.Index? {
        let body = text.dropFirst()
        guard let first = body.first else { return nil }
        guard first == "[" else {
            strange.append("\\e\(first)")
            return body.index(after: body.startIndex)
        }
        let parameters = body.dropFirst().prefix { "0123456789;?".contains($0) }
        guard parameters.endIndex < text.endIndex else { return nil }
        switch (text[parameters.endIndex], String(parameters)) {
        case ("A", let count):
            row = max(0, row - (Int(count) ?? 1))
            column = min(column, width - 1)
        case ("K", ""): erase(from: column, in: row)
        case ("J", ""):
            erase(from: column, in: row)
            lines.removeSubrange((row + 1)...)
        case ("m", _): break
        case (let end, let parameters): strange.append("\\e[\(parameters)\(end)")
        }
        return text.index(after: parameters.endIndex)
    }

    private mutating func erase(from column: Int, in row: Int) {
        lines[row].isWrapped = false
        if column < lines[row].cells.count { lines[row].cells.removeSubrange(column...) }
    }

    private mutating func put(_ character: Character) {
        guard let scalar = character.unicodeScalars.first, scalar.value >= 0x20, scalar != "\u{7F}"
        else {
            strange.append("\(character.unicodeScalars.map(\.value))")
            return
        }
        let size = Self.isWide(scalar) ? 2 : 1
        if column + size > width {
            lines[row].isWrapped = true
            feed()
            column = 0
        }
        var cells = lines[row].cells
        while cells.count < column + size { cells.append(" ") }
        // Half of a wide character is replaced by a blank.
        if column > 0, cells[column].isEmpty { cells[column - 1] = " " }
        cells[column] = String(character)
        if size == 2 { cells[column + 1] = "" }
        let next = column + size
        if next < cells.count, cells[next].isEmpty { cells[next] = " " }
        lines[row].cells = cells
        column += size
    }

    private mutating func feed() {
        row += 1
        if row == lines.count { lines.append(Line()) }
        guard let height, row >= height else { return }
        past.append(lines.removeFirst())
        row -= 1
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    // MARK: Another size

    /// Changes the window's size and wraps its contents again, as most terminals do.
    package mutating func resize(width: Int, height: Int?) {
        var all = past + lines
        let cursor = past.count + row
        var parted: [Line] = []
        var place = 0
        var (line, isOpen) = (Line(), false)
        func close() {
            var rest = line.cells[...]
            repeat {
                var piece = Array(rest.prefix(width))
                // A wide character is not split.
                if piece.count < rest.count, rest[rest.startIndex + piece.count].isEmpty {
                    piece.removeLast()
                }
                rest = rest.dropFirst(piece.count)
                parted.append(Line(cells: piece, isWrapped: !rest.isEmpty))
            } while !rest.isEmpty
            line = Line()
        }
        if all[all.count - 1].isWrapped { all[all.count - 1].isWrapped = false }
        for (index, next) in all.enumerated() {
            if index == cursor, !isOpen { place = parted.count }
            line.cells += next.cells
            isOpen = next.isWrapped
            if !isOpen { close() }
        }
        self.width = width
        self.height = height
        let above = max(0, parted.count - (height ?? parted.count))
        past = Array(parted.prefix(above))
        lines = Array(parted.dropFirst(above))
        row = max(0, min(place - above, lines.count - 1))
        column = min(column, width - 1)
    }
}
