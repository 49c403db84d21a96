package import Base

/// A fleet list as a CSV file in which a program adds and removes rows: all other bytes stay
/// unchanged.
package struct FleetFile: Sendable {
    /// The contents of a row.
    package struct Entry: Sendable, Equatable {
        package let id: String
        package let serial: String
        package let family: String
        /// Nil where there is no such column, or where the cell is empty.
        package let profile: String?
        package let secret: String?
        /// The reference to its passkey; nil where there is none.
        package let passkey: String?
    }

    /// Why a row cannot be written.
    package struct Mistake: Error, Sendable, Equatable {
        package let message: String
        package let hint: String
    }

    package private(set) var bytes: [UInt8]
    private var columns: [String] = []
    private var separator = CSVFile.Separator.comma
    private var rows: [CSVFile.Row] = []
    private let file: String

    /// Nil when `diagnostics` has received errors; a file that contains only its header is valid.
    package init?(_ bytes: [UInt8], file: String, _ diagnostics: Diagnostics) {
        self.bytes = bytes
        self.file = file
        guard read(diagnostics) else { return nil }
        for column in ["id", "serial", "family"] where !columns.contains(column) {
            diagnostics.error(
                Place(file: file, line: 1, column: 1),
                "the column `\(column)` is missing",
                hint: "the first row names the columns; id, serial and family must be there"
            )
        }
        if diagnostics.hasErrors { return nil }
    }

    private mutating func read(_ diagnostics: Diagnostics) -> Bool {
        guard let sheet = FleetSheet(bytes, file: file, diagnostics) else { return false }
        sheet.checkNames(diagnostics)
        for row in sheet.rows {
            for (column, cell) in zip(sheet.columns, row.cells) {
                _ = FleetSheet.isIntact(cell, column, diagnostics)
            }
        }
        guard !diagnostics.hasErrors else { return false }
        columns = sheet.columns
        separator = sheet.separator
        rows = sheet.rows
        return true
    }

    private func text(_ column: String, of row: CSVFile.Row) -> String? {
        guard let index = columns.firstIndex(of: column), index < row.cells.count else {
            return nil
        }
        return row.cells[index].text
    }

    package var entries: [Entry] {
        rows.map { row in
            let family = text("family", of: row) ?? ""
            let profile = text("profile", of: row).flatMap { $0.isEmpty ? nil : $0 }
            let serial = text("serial", of: row) ?? ""
            return Entry(
                id: text("id", of: row) ?? "",
                serial: FleetSheet.serial(serial, family: family, profile: profile),
                family: family,
                profile: profile,
                secret: text("secret", of: row),
                passkey: text("passkey", of: row).flatMap { $0.isEmpty ? nil : $0 }
            )
        }
    }

    /// Every cell of a row that is not empty, with its column.
    package func cells(ofRow number: Int) -> [(column: String, text: String)] {
        zip(columns, rows[number].cells).filter { !$1.text.isEmpty }.map { ($0, $1.text) }
    }

    package func has(_ column: String) -> Bool { columns.contains(column) }

    /// Adds a row at the end, or changes the cells of the vehicle's existing row; false when the
    /// row already had these values.
    package mutating func list(
        _ vehicle: VehicleID,
        _ cells: [(column: String, text: String)]
    ) throws(Mistake) -> Bool {
        for cell in cells where !columns.contains(cell.column) {
            throw Mistake(
                message: "\(file) has no column `\(cell.column)`, which \(vehicle) needs",
                hint: "add the column to its first row"
            )
        }
        guard let number = rows.firstIndex(where: { text("id", of: $0) == vehicle.text }) else {
            var row = Array(repeating: "", count: columns.count)
            for cell in cells {
                if let index = columns.firstIndex(of: cell.column) { row[index] = cell.text }
            }
            var added = bytes
            if let last = added.last, last != 0x0A, last != 0x0D { added += lineEnd }
            added += line(of: row)
            try replace(added)
            return true
        }
        var row = rows[number].cells.map(\.text)
        row += Array(repeating: "", count: max(0, columns.count - row.count))
        let old = row
        for cell in cells {
            if let index = columns.firstIndex(of: cell.column) { row[index] = cell.text }
        }
        guard row != old else { return false }
        let range = lines(of: number)
        let line = self.line(of: row)
        try replace(Array(bytes[..<range.lowerBound]) + line + bytes[range.upperBound...])
        return true
    }

    /// Gives many vehicles another text in one column; rows of other vehicles stay as they are.
    package mutating func set(
        _ column: String,
        to texts: [VehicleID: String]
    ) throws(Mistake) {
        guard let index = columns.firstIndex(of: column) else {
            throw Mistake(
                message: "\(file) has no column `\(column)`",
                hint: "add the column to its first row"
            )
        }
        var new = bytes
        // From the end, so that the places of earlier rows stay as they are.
        for number in rows.indices.reversed() {
            guard let id = text("id", of: rows[number]).flatMap({ VehicleID($0) }),
                let text = texts[id]
            else { continue }
            var row = rows[number].cells.map(\.text)
            row += Array(repeating: "", count: max(0, columns.count - row.count))
            row[index] = text
            let line = self.line(of: row)
            new.replaceSubrange(lines(of: number), with: line)
        }
        try replace(new)
    }

    /// Removes the vehicle's row; false when there was none.
    package mutating func strike(_ vehicle: VehicleID) throws(Mistake) -> Bool {
        guard let number = rows.firstIndex(where: { text("id", of: $0) == vehicle.text }) else {
            return false
        }
        let range = lines(of: number)
        try replace(Array(bytes[..<range.lowerBound]) + bytes[range.upperBound...])
        return true
    }

    private mutating func replace(_ new: [UInt8]) throws(Mistake) {
        let old = bytes
        bytes = new
        guard read(Diagnostics()) else {
            bytes = old
            throw Mistake(
                message: "\(file) could not be understood with the row",
                hint: "look at the ends of its lines"
            )
        }
    }

    /// The line end of the first line.
    private var lineEnd: [UInt8] {
        guard let end = bytes.firstIndex(of: 0x0A), end > 0, bytes[end - 1] == 0x0D else {
            return [0x0A]
        }
        return [0x0D, 0x0A]
    }

    /// The bytes of a row with its line end: up to the next row, without blank lines between them.
    private func lines(of number: Int) -> Range<Int> {
        let start = offset(ofLine: rows[number].line)
        let next = number + 1 < rows.count ? offset(ofLine: rows[number + 1].line) : bytes.count
        var end = next
        func ending(before end: Int) -> Int? {
            guard end > start else { return nil }
            switch bytes[end - 1] {
            case 0x0A: return end - 2 >= start && bytes[end - 2] == 0x0D ? 2 : 1
            case 0x0D: return 1
            default: return nil
            }
        }
        // Blank lines are kept, since somebody inserted them.
        while let last = ending(before: end), ending(before: end - last) != nil { end -= last }
        return start..<end
    }

    private func offset(ofLine line: Int) -> Int {
        var (index, number) = (0, 1)
        while number < line, index < bytes.count {
            if bytes[index] == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A {
                index += 1
                number += 1
            } else if bytes[index] == 0x0A || bytes[index] == 0x0D {
                number += 1
            }
            index += 1
        }
        return index
    }

    /// A row as its line, with the line end.
    private func line(of row: [String]) -> [UInt8] {
        Array(row.map(cell).joined(separator: separator.text).utf8) + lineEnd
    }

    private func cell(_ text: String) -> String {
        let marks = text.utf8.contains { byte in
            byte == separator.rawValue || "\"\r\n".utf8.contains(byte)
        }
        guard marks || text.first == " " || text.last == " " else { return text }
        return "\""
            + text.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
    }
}
