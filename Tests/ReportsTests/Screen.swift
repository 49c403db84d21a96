/// A terminal as far as our lines need one: cursor up, clear below, colours dropped, wrapping.
struct Screen {
    let width: Int
    private var lines: [[Character]] = [[]]
    private var row = 0
    private var column = 0

    init(width: Int) { self.width = width }

    var text: String {
        lines.map { String($0) }.joined(separator: "\n")
    }

    mutating func write(_ text: String) {
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\n", "\r\n":
                row += 1
                column = 0
                if row == lines.count { lines.append([]) }
            case "\r": column = 0
            case "\u{1B}":
                rest.removeFirst()
                let number = rest.prefix { $0.isNumber }
                rest = rest[number.endIndex...]
                switch rest.popFirst() {
                case "A": row = max(0, row - (Int(number) ?? 1))
                case "K": lines[row].removeSubrange(min(column, lines[row].count)...)
                case "J":
                    lines.removeSubrange((row + 1)...)
                    lines[row].removeSubrange(column...)
                default: break
                }
            default:
                if column == width {
                    row += 1
                    column = 0
                    if row == lines.count { lines.append([]) }
                }
                if column < lines[row].count {
                    lines[row][column] = character
                } else {
                    lines[row].append(character)
                }
                column += 1
            }
        }
    }
}
