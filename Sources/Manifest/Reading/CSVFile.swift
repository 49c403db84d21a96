import Base

/// Splits a CSV file (RFC 4180) into rows of cells, each with its place.
struct CSVFile {
    /// A file with more columns is not a fleet list.
    static let mostCells = 256
    /// Each cell takes some memory, even if it is empty.
    static let mostCellsInAll = 2_000_000
    static let mostRows = FleetReader.mostVehicles + 1

    struct Row {
        let line: Int
        var cells: [Cell]
    }

    private let file: String
    private let bytes: [UInt8]
    private let diagnostics: Diagnostics
    private var index = 0
    private var line = 1
    private var column = 1

    private init(_ bytes: [UInt8], file: String, _ diagnostics: Diagnostics) {
        self.bytes = bytes
        self.file = file
        self.diagnostics = diagnostics
    }

    /// All rows that are not blank; nil when the file is not text or ends inside quotes.
    static func rows(_ source: [UInt8], file: String, _ diagnostics: Diagnostics) -> [Row]? {
        let marked = source.starts(with: [0xEF, 0xBB, 0xBF])
        let bytes = marked ? Array(source.dropFirst(3)) : source
        let fault = SourceCheck.fault(bytes, directives: true) { line, column in
            Place(file: file, line: line, column: column)
        }
        if let fault {
            diagnostics.add(fault.diagnostic(file: file))
            return nil
        }
        var reader = CSVFile(bytes, file: file, diagnostics)
        var rows: [Row] = []
        var cells = 0
        while reader.index < reader.bytes.count {
            if reader.takeLineEnd() { continue }
            guard let row = reader.row() else { return nil }
            rows.append(row)
            cells += row.cells.count
            guard rows.count <= mostRows, cells <= mostCellsInAll else {
                diagnostics.error(
                    Place(file: file, line: row.line, column: 1),
                    rows.count > mostRows
                        ? "more than \(mostRows - 1) vehicles"
                        : "more than \(mostCellsInAll) cells in the file",
                    hint: "split the fleet over several files"
                )
                return nil
            }
        }
        return rows
    }

    private var place: Place { Place(file: file, line: line, column: column) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Advances by one byte; only the first byte of a character counts as a column.
    private mutating func step() {
        index += 1
        if next.map({ $0 & 0xC0 != 0x80 }) ?? true { column += 1 }
    }

    private mutating func takeLineEnd() -> Bool {
        guard let byte = next, byte == 0x0A || byte == 0x0D else { return false }
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
            while next == 0x20 || next == 0x09 { step() }
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
            guard next == 0x2C else { break }
            step()
        }
        _ = takeLineEnd()
        return row
    }

    /// Reads up to the comma; surrounding spaces are dropped, as people insert them by hand.
    private mutating func plainCell() -> Cell? {
        let start = place
        let first = index
        var hasQuote = false
        while let byte = next, byte != 0x2C, byte != 0x0A, byte != 0x0D {
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

    /// Only spaces may be between a closing quote and the comma.
    private mutating func afterQuote() {
        while next == 0x20 || next == 0x09 { step() }
        guard let byte = next, byte != 0x2C, byte != 0x0A, byte != 0x0D else { return }
        diagnostics.error(
            place,
            "text after a closing quote",
            hint: "write `\"\"` for a quote inside a cell, or add the comma"
        )
        while let byte = next, byte != 0x2C, byte != 0x0A, byte != 0x0D { step() }
    }
}
