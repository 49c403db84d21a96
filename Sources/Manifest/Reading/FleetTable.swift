import Base

/// Reads the rows of a fleet's CSV file.
enum FleetTable {
    static let mostBytes = 32 << 20

    static func rows(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> [FleetRow]? {
        guard let sheet = FleetSheet(bytes, file: file, diagnostics),
            areUsable(sheet, diagnostics)
        else { return nil }
        let vehicles = sheet.rows.filter { row in
            // A spreadsheet writes cleared or only formatted rows as bare commas.
            row.cells.contains { !$0.text.isEmpty }
        }
        if vehicles.isEmpty {
            diagnostics.error(
                Place(file: file, line: sheet.header.line, column: 1),
                "no vehicle follows the names of the columns",
                hint: "add a row for each vehicle"
            )
        }
        return vehicles.compactMap { row in
            fleetRow(row, sheet, file: file, diagnostics)
        }
    }

    /// Whether the rows can be interpreted with these columns; false after an error.
    private static func areUsable(_ sheet: FleetSheet, _ diagnostics: Diagnostics) -> Bool {
        let names = sheet.columns
        let errors = diagnostics.errorCount
        var meant: Set<String> = []
        sheet.checkNames(diagnostics)
        for (name, cell) in zip(names, sheet.header.cells) {
            if name.isEmpty {
                diagnostics.error(cell.place, "a column has no name", hint: "name or remove it")
            } else if let column = FleetRow.misspelling(name, missing: { !names.contains($0) }) {
                meant.insert(column)
                FleetRow.reportMisspelling(
                    cell.text,
                    at: cell.place,
                    meant: column,
                    diagnostics
                )
            }
        }
        for column in Grammar.vehicle.fields where column.presence == .required {
            guard !names.contains(column.key), !meant.contains(column.key) else { continue }
            diagnostics.error(
                sheet.header.cells[0].place,
                "the column `\(column.key)` is missing",
                hint: "the first row names the columns; id, serial and family must be there"
            )
        }
        return diagnostics.errorCount == errors
    }

    private static func fleetRow(
        _ row: CSVFile.Row,
        _ sheet: FleetSheet,
        file: String,
        _ diagnostics: Diagnostics
    ) -> FleetRow? {
        let place = Place(file: file, line: row.line, column: 1)
        let count = row.cells.count
        guard count == sheet.columns.count else {
            let extra = count > sheet.columns.count
            let separator = sheet.separator.name
            diagnostics.error(
                extra ? row.cells[sheet.columns.count].place : place,
                "the row has \(counted(count, "cell")), the first row \(sheet.columns.count)",
                hint: extra
                    ? "put a cell that holds a \(separator) in quotes"
                    : "leave cells empty, but write the \(separator)s"
            )
            return nil
        }
        var result = FleetRow(at: place)
        for (column, cell) in zip(sheet.columns, row.cells)
        where FleetSheet.isIntact(cell, column, diagnostics) {
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
                guard !column.hasPrefix("x-") else { continue }
                result.labels.append((column, cell))
            }
        }
        result.serial = result.serial.map { cell in
            let family = result.family?.text ?? ""
            let serial = FleetSheet.serial(cell.text, family: family, profile: result.profile?.text)
            return Cell(serial, at: cell.place)
        }
        return result
    }
}
