import Base
import Families

/// A fleet's CSV file as columns and rows, before its values are interpreted.
struct FleetSheet {
    let separator: CSVFile.Separator
    let header: CSVFile.Row
    /// The names of the columns: capital letters and surrounding spaces do not count in them.
    let columns: [String]
    /// The rows after the header.
    let rows: [CSVFile.Row]

    /// Nil after an error that leaves no rows to look at.
    init?(_ bytes: [UInt8], file: String, _ diagnostics: Diagnostics) {
        guard let contents = CSVFile.contents(bytes, file: file, diagnostics) else { return nil }
        guard let header = contents.rows.first else {
            diagnostics.error(
                Place(file: file, line: 1, column: 1),
                "the file has no rows",
                hint: "start with the columns: id,serial,family"
            )
            return nil
        }
        separator = contents.separator
        self.header = header
        columns = header.cells.map { Self.name($0.text) }
        rows = Array(contents.rows.dropFirst())
    }

    private static func name(_ text: String) -> String {
        let isSpace = { (character: Character) in character == "\u{A0}" || character == " " }
        var name = text[...].drop(while: isSpace)
        while name.last.map(isSpace) == true { name = name.dropLast() }
        return Label.name(name)
    }

    /// Reports columns with the same name.
    func checkNames(_ diagnostics: Diagnostics) {
        var first: [String: Place] = [:]
        for (name, cell) in zip(columns, header.cells) where !name.isEmpty {
            if let earlier = first[name] {
                diagnostics.error(
                    cell.place,
                    "the column \(quoted(name)) occurs twice",
                    hint: "the first one is at \(earlier); remove one of them"
                )
            } else {
                first[name] = cell.place
            }
        }
    }

    /// The columns in which a number that a spreadsheet made is a mistake: elsewhere it is a text
    /// like any other.
    private static let named: Set<String> = ["id", "serial", "go-serial"]

    /// Whether the cell of a column is intact; false after an error.
    static func isIntact(_ cell: Cell, _ column: String, _ diagnostics: Diagnostics) -> Bool {
        guard named.contains(column), SpreadsheetNumber.isOne(cell.text) else { return true }
        diagnostics.error(
            cell.place,
            SpreadsheetNumber.sentence,
            hint: SpreadsheetNumber.remedy
        )
        return false
    }

    /// The serial that pairs such as `00:A0:50:01` and `00 a0 50 01` mean, where the serials of the
    /// family are hex digits; any other text as it is.
    static func serial(_ text: String, family: String, profile: String?) -> String {
        guard let mark = text.utf8.first(where: { $0 == 0x3A || $0 == 0x20 }),
            let family = FamilyRegistry.family(named: family), FamilyRegistry.hasHexSerials(family)
        else { return text }
        let pairs = text.utf8.split(separator: mark, omittingEmptySubsequences: false)
        guard pairs.count > 1, pairs.allSatisfy({ $0.count == 2 && $0.allSatisfy(Hex.isDigit) })
        else { return text }
        // A model that we do not know may have the module's address as its serial.
        let isAddress = mark == 0x3A && pairs.count == 6
        let isKnown = profile.map { FamilyRegistry.ships($0, of: family) } ?? true
        return isAddress && !isKnown ? text : String(decoding: pairs.joined(), as: UTF8.self)
    }
}
