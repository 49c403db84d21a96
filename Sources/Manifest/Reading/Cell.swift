import Base

/// A value of a fleet list, from a CSV file or from the manifest itself.
struct Cell: Sendable, Equatable {
    let text: String
    let place: Place
    /// Whether a quote in the text takes two columns, as in a quoted CSV cell.
    let doublesQuotes: Bool

    init(_ text: String, at place: Place, doublesQuotes: Bool = false) {
        self.text = text
        self.place = place
        self.doublesQuotes = doublesQuotes
    }
}

/// The places of a cell's characters in its file.
struct CellPlaces {
    private let file: String
    /// The file's line of the cell's first line.
    private let firstLine: Int
    /// For each line of the cell, the file's columns of its characters and of its end.
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

    /// The place of a line and column of the text, counted from 1; positions past the end give the
    /// end.
    func place(line: Int, column: Int) -> Place {
        let row = min(max(line - 1, 0), columns.count - 1)
        let known = columns[row]
        let at = known[min(max(column - 1, 0), known.count - 1)]
        return Place(file: file, line: firstLine + row, column: at)
    }
}
