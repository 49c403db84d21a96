/// Wraps running text into lines.
enum Paragraph {
    /// The words of `text` in lines of at most `width` characters, except for longer words.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= width {
                line += " " + word
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// A term with its explanation beside it, or below it when the term is too long.
    static func entry(_ term: String, _ text: String, column: Int, width: Int) -> String {
        let lines = lines(text, width: width - column)
        let indent = String(repeating: " ", count: column)
        var entry = "  " + term
        if entry.count + 2 <= column, let first = lines.first {
            entry += String(repeating: " ", count: column - entry.count) + first + "\n"
            return entry + lines.dropFirst().map { indent + $0 + "\n" }.joined()
        }
        return entry + "\n" + lines.map { indent + $0 + "\n" }.joined()
    }
}
