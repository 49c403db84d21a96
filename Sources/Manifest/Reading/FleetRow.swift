import Base

/// One vehicle as it is written, before its values are interpreted.
struct FleetRow {
    enum Steps {
        case cell(Cell)
        case node(SourceNode)
    }

    let place: Place
    var id: Cell?
    var serial: Cell?
    var family: Cell?
    var profile: Cell?
    var secret: Cell?
    var token: Cell?
    var issuer: TokenIssuer?
    var goSerial: Cell?
    var hardwareID: Cell?
    var pairing: Cell?
    var passkey: Cell?
    var renewsBond: Cell?
    var steps: Steps?
    /// In a table, those of empty cells, too.
    var labels: [(name: String, cell: Cell)] = []

    init(at place: Place) { self.place = place }

    /// Columns with a meaning; all other columns are labels.
    static let columns = Grammar.vehicle.keys

    /// Labels that resemble a column but are valid words.
    private static let plainWords: Set<String> = ["parking", "pairings", "passkeys"]

    /// The column that a label was probably meant to be.
    ///
    /// Labels are free, so only close misspellings of the longer column names count, and only of a
    /// column that is missing: a secret in a misspelled column would become a label and be printed.
    static func misspelling(_ label: String, missing: (String) -> Bool) -> String? {
        guard label.utf8.count <= 64, !plainWords.contains(label.lowercased()) else { return nil }
        let word = Array(label.lowercased().utf8)
        return columns.first { column in
            guard missing(column), column != label else { return false }
            let allowed = column.utf8.count < 4 ? 0 : column.utf8.count < 6 ? 1 : 2
            return Nearest.distance(word, Array(column.utf8)) <= allowed
        }
    }

    static func reportMisspelling(
        _ label: String,
        at place: Place,
        meant: String,
        _ diagnostics: Diagnostics
    ) {
        diagnostics.error(
            place,
            "unknown column \(quoted(label))",
            hint: "did you mean `\(meant)`? A label needs a name less like it"
        )
    }
}
