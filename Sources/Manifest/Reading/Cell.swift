import SourceTree

/// A value of a fleet list, from a CSV file or from the manifest itself.
struct Cell: Sendable, Equatable {
    let text: String
    let place: Place
    /// In a CSV cell in quotes each quote inside takes two columns.
    let doublesQuotes: Bool

    init(_ text: String, at place: Place, doublesQuotes: Bool = false) {
        self.text = text
        self.place = place
        self.doublesQuotes = doublesQuotes
    }
}

/// Where the characters of a cell stand in its file.
struct CellPlaces {
    private let file: String
    /// The file's line of each line of the cell.
    private let firstLine: Int
    /// For each line of the cell the file's column of each character and of the line's end.
    private let columns: [[Int]]

    init(_ cell: Cell) {
        var lines: [[Int]] = []
        var line = [cell.place.column]
        var column = cell.place.column
        for scalar in cell.text.unicodeScalars {
            if scalar == "\n" {
                lines.append(line)
                column = 1
                line = [column]
            } else {
                column += cell.doublesQuotes && scalar == "\"" ? 2 : 1
                line.append(column)
            }
        }
        lines.append(line)
        file = cell.place.file
        firstLine = cell.place.line
        columns = lines
    }

    /// The place of a line and column of the text, counted from 1; past the end, the end's.
    func place(line: Int, column: Int) -> Place {
        let row = min(max(line - 1, 0), columns.count - 1)
        let known = columns[row]
        let at = known[min(max(column - 1, 0), known.count - 1)]
        return Place(file: file, line: firstLine + row, column: at)
    }
}
