import Base

/// Reads the rows of a fleet's CSV file.
enum FleetTable {
    static let mostBytes = 32 << 20

    static func rows(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> [FleetRow]? {
        guard let rows = CSVFile.rows(bytes, file: file, diagnostics) else { return nil }
        guard let header = rows.first else {
            diagnostics.error(
                Place(file: file, line: 1, column: 1),
                "the file has no rows",
                hint: "start with the columns: id,serial,family"
            )
            return nil
        }
        guard let columns = columns(header, diagnostics) else { return nil }
        let vehicles = rows.dropFirst().filter { row in
            // A spreadsheet writes cleared or only formatted rows as bare commas.
            row.cells.contains { !$0.text.isEmpty }
        }
        if vehicles.isEmpty {
            diagnostics.error(
                Place(file: file, line: header.line, column: 1),
                "no vehicle follows the names of the columns",
                hint: "add a row for each vehicle"
            )
        }
        return vehicles.compactMap { row in
            fleetRow(row, columns, file: file, diagnostics)
        }
    }

    /// The names of the columns; nil when the following rows could not be interpreted with them.
    private static func columns(_ header: CSVFile.Row, _ diagnostics: Diagnostics) -> [String]? {
        let names = header.cells.map(\.text)
        let start = header.cells.first?.place ?? Place(file: "", line: 1, column: 1)
        if names.count == 1, let separator = foreignSeparator(in: names[0]) {
            diagnostics.error(
                start,
                "the cells are separated by \(separator)",
                hint: "save the file with commas"
            )
            return nil
        }
        let errors = diagnostics.errorCount
        var first: [String: Place] = [:]
        var meant: Set<String> = []
        for cell in header.cells {
            if cell.text.isEmpty {
                diagnostics.error(cell.place, "a column has no name", hint: "name or remove it")
            } else if let earlier = first[cell.text] {
                diagnostics.error(
                    cell.place,
                    "the column \(quoted(cell.text)) occurs twice",
                    hint: "the first one is at \(earlier); remove one of them"
                )
            } else if let column = FleetRow.misspelling(cell.text, missing: { !names.contains($0) })
            {
                meant.insert(column)
                FleetRow.reportMisspelling(
                    cell.text,
                    at: cell.place,
                    meant: column,
                    diagnostics
                )
            }
            if first[cell.text] == nil { first[cell.text] = cell.place }
        }
        for column in Grammar.vehicle.fields where column.presence == .required {
            guard !names.contains(column.key), !meant.contains(column.key) else { continue }
            diagnostics.error(
                start,
                "the column `\(column.key)` is missing",
                hint: "the first row names the columns; id, serial and family must be there"
            )
        }
        return diagnostics.errorCount == errors ? names : nil
    }

    /// The separator that a spreadsheet used instead of commas.
    private static func foreignSeparator(in header: String) -> String? {
        if header.contains(";") { return "semicolons" }
        return header.contains("\t") ? "tabs" : nil
    }

    private static func fleetRow(
        _ row: CSVFile.Row,
        _ columns: [String],
        file: String,
        _ diagnostics: Diagnostics
    ) -> FleetRow? {
        let place = Place(file: file, line: row.line, column: 1)
        guard row.cells.count == columns.count else {
            let extra = row.cells.count > columns.count
            diagnostics.error(
                extra ? row.cells[columns.count].place : place,
                "the row has \(row.cells.count) cells, the first row \(columns.count)",
                hint: extra
                    ? "put a cell that holds a comma in quotes"
                    : "leave cells empty, but write the commas"
            )
            return nil
        }
        var result = FleetRow(at: place)
        for (column, cell) in zip(columns, row.cells) {
            switch column {
            case "id": result.id = cell
            case "serial": result.serial = cell
            case "family": result.family = cell
            case "profile": if !cell.text.isEmpty { result.profile = cell }
            case "secret": if !cell.text.isEmpty { result.secret = cell }
            case "token": if !cell.text.isEmpty { result.token = cell }
            case "go-serial": if !cell.text.isEmpty { result.goSerial = cell }
            case "hardware-id": if !cell.text.isEmpty { result.hardwareID = cell }
            case "pairing": if !cell.text.isEmpty { result.pairing = cell }
            case "passkey": if !cell.text.isEmpty { result.passkey = cell }
            case "renew-bond": if !cell.text.isEmpty { result.renewsBond = cell }
            case "steps": if !cell.text.isEmpty { result.steps = .cell(cell) }
            default:
                guard !column.hasPrefix("x-"), !cell.text.isEmpty else { continue }
                result.labels.append((column, cell))
            }
        }
        return result
    }
}
