import Base

/// Splits a CSV file (RFC 4180, and with semicolons or tabs) into rows of cells, each with its place.
struct CSVFile {
    /// A file with more columns is not a fleet list.
    static let mostCells = 256
    /// Each cell takes some memory, even if it is empty.
    static let mostCellsInAll = 2_000_000
    static let mostRows = FleetReader.mostVehicles + 1

    /// What stands between two cells.
    enum Separator: UInt8, CaseIterable {
        case comma = 0x2C
        case semicolon = 0x3B
        case tab = 0x09

        var name: String { "\(self)" }
        var text: String { String(UnicodeScalar(rawValue)) }
    }

    struct Row {
        let line: Int
        var cells: [Cell]
    }

    /// All rows that are not blank, and how their cells are separated.
    struct Contents {
        let separator: Separator
        let rows: [Row]
    }

    private let file: String
    private let bytes: [UInt8]
    private let diagnostics: Diagnostics
    private var separator = Separator.comma
    private var index = 0
    private var line = 1
    private var column = 1

    private init(_ bytes: [UInt8], file: String, _ diagnostics: Diagnostics) {
        self.bytes = bytes
        self.file = file
        self.diagnostics = diagnostics
    }

    /// Nil when the file is not text, or ends inside quotes.
    static func contents(
        _ source: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> Contents? {
        let marked = source.starts(with: [0xEF, 0xBB, 0xBF])
        let bytes = marked ? Array(source.dropFirst(3)) : source
        if let fault = ForeignFile.fault(bytes, file: file) {
            diagnostics.add(fault)
            return nil
        }
        var reader = CSVFile(bytes, file: file, diagnostics)
        guard reader.findSeparator() else { return nil }
        return reader.rows().map { Contents(separator: reader.separator, rows: $0) }
    }

    private mutating func rows() -> [Row]? {
        var rows: [Row] = []
        var cells = 0
        while index < bytes.count {
            if takeLineEnd() { continue }
            guard let row = row() else { return nil }
            rows.append(row)
            cells += row.cells.count
            guard rows.count <= Self.mostRows, cells <= Self.mostCellsInAll else {
                diagnostics.error(
                    Place(file: file, line: row.line, column: 1),
                    rows.count > Self.mostRows
                        ? "more than \(Self.mostRows - 1) vehicles"
                        : "more than \(Self.mostCellsInAll) cells in the file",
                    hint: "split the fleet over several files"
                )
                return nil
            }
        }
        return rows
    }

    /// Takes the separator from Excel's own first line, such as `sep=;`, or else from the first row;
    /// false after an error.
    private mutating func findSeparator() -> Bool {
        let first = bytes.prefix { !Self.isLineEnd($0) }
        // A spreadsheet may quote the line as it quotes a cell.
        let mark = first.count <= 7 ? first.filter { $0 != 0x22 } : []
        guard mark.count == 5, let named = mark.last,
            String(decoding: mark.dropLast(), as: UTF8.self).lowercased() == "sep="
        else {
            separator = usualSeparator
            return true
        }
        guard let known = Separator(rawValue: named) else {
            diagnostics.error(
                place,
                "the cells are separated by \(quoted(String(decoding: [named], as: UTF8.self)))",
                hint: "save the file with commas, semicolons or tabs"
            )
            return false
        }
        separator = known
        index = first.count
        _ = takeLineEnd()
        return true
    }

    /// The most frequent separator of the first row, outside of quotes.
    private var usualSeparator: Separator {
        var counts: [Separator: Int] = [:]
        var isQuoted = false
        for byte in bytes.drop(while: Self.isLineEnd) {
            if byte == 0x22 { isQuoted.toggle() }
            if isQuoted { continue }
            if Self.isLineEnd(byte) { break }
            Separator(rawValue: byte).map { counts[$0, default: 0] += 1 }
        }
        return Separator.allCases.reduce(.comma) { best, next in
            counts[next, default: 0] > counts[best, default: 0] ? next : best
        }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    /// Whether the cell goes on with this byte.
    private func isInside(_ byte: UInt8) -> Bool {
        byte != separator.rawValue && !Self.isLineEnd(byte)
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09, isInside(byte) { step() }
    }

    private var place: Place { Place(file: file, line: line, column: column) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Advances by one byte; only the first byte of a character counts as a column.
    private mutating func step() {
        index += 1
        if next.map({ $0 & 0xC0 != 0x80 }) ?? true { column += 1 }
    }

    private mutating func takeLineEnd() -> Bool {
        guard let byte = next, Self.isLineEnd(byte) else { return false }
        index += byte == 0x0D && index + 1 < bytes.count && bytes[index + 1] == 0x0A ? 2 : 1
        line += 1
        column = 1
        return true
    }

    /// One row with its line end; nil when a quote is never closed.
    private mutating func row() -> Row? {
        var row = Row(line: line, cells: [])
        var isTooLong = false
        while true {
            skipBlanks()
            let start = place
            guard let cell = next == 0x22 ? quotedCell() : plainCell() else { return nil }
            if row.cells.count < Self.mostCells {
                row.cells.append(cell)
            } else if !isTooLong {
                isTooLong = true
                diagnostics.error(
                    start,
                    "more than \(Self.mostCells) cells in a row",
                    hint: "is this the right file?"
                )
            }
            guard next == separator.rawValue else { break }
            step()
        }
        _ = takeLineEnd()
        return row
    }

    /// Reads up to the separator; surrounding spaces are dropped, as people insert them by hand.
    private mutating func plainCell() -> Cell? {
        let start = place
        let first = index
        var hasQuote = false
        while let byte = next, isInside(byte) {
            if byte == 0x22, !hasQuote {
                hasQuote = true
                diagnostics.error(
                    place,
                    "a quote in the middle of a cell",
                    hint: "put the whole cell in quotes and write `\"\"` for each quote inside"
                )
            }
            step()
        }
        var text = bytes[first..<index]
        while text.last == 0x20 || text.last == 0x09 { text = text.dropLast() }
        return Cell(String(decoding: text, as: UTF8.self), at: start)
    }

    private mutating func quotedCell() -> Cell? {
        let opening = place
        step()
        let start = place
        var text: [UInt8] = []
        while let byte = next {
            if byte == 0x22 {
                step()
                guard next == 0x22 else {
                    afterQuote()
                    return Cell(
                        String(decoding: text, as: UTF8.self),
                        at: start,
                        doublesQuotes: true
                    )
                }
                text.append(0x22)
                step()
            } else if takeLineEnd() {
                text.append(0x0A)
            } else {
                text.append(byte)
                step()
            }
        }
        diagnostics.error(opening, "the quote is never closed", hint: "close it, or double it")
        return nil
    }

    /// Only spaces may be between a closing quote and the separator.
    private mutating func afterQuote() {
        skipBlanks()
        guard let byte = next, isInside(byte) else { return }
        diagnostics.error(
            place,
            "text after a closing quote",
            hint: "write `\"\"` for a quote inside a cell, or add the \(separator.name)"
        )
        while let byte = next, isInside(byte) { step() }
    }
}
