/// The tables, and the upgrade of files of older versions.
enum Schema {
    /// `YARD` in ASCII: distinguishes our file from any other SQLite database.
    static let applicationID = 0x5941_5244

    /// The upgrades after version 1, which is `tables`, `people` and `fleet`: the script at index n
    /// upgrades version n + 1 to n + 2.
    ///
    /// There is none yet. Once released, a script never changes, and neither does version 1: a new
    /// journal gets that, and then every upgrade.
    static let upgrades: [String] = []

    /// Prepares a connection that writes: settings, identity and the newest tables.
    ///
    /// `upgrades` is given by tests of upgrades only.
    static func prepare(
        _ database: JournalDatabase,
        _ upgrades: [String] = Schema.upgrades
    ) throws(JournalError) {
        // Checked before anything is changed, so that a foreign file stays unchanged.
        let found = try identify(database, upgrades)
        let mode = try database.text("PRAGMA journal_mode = WAL")
        guard ["wal", "memory"].contains(mode) else {
            throw JournalError(
                .cannotCreate,
                "open",
                words: "no write-ahead log here, only \(mode)"
            )
        }
        try database.execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        try upgrade(database, from: found, upgrades)
    }

    /// The version of a journal with the tables of version 1 and these upgrades.
    private static func version(_ upgrades: [String]) -> Int { 1 + upgrades.count }

    private static func upgrade(
        _ database: JournalDatabase,
        from found: Int,
        _ upgrades: [String]
    ) throws(JournalError) {
        let version = version(upgrades)
        guard found < version else { return }
        try database.transaction(.durable) { () throws(JournalError) in
            for script in ([tables + people + fleet] + upgrades)[found...] {
                try database.execute(script)
            }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
        }
    }

    /// The same journal with the newest tables, for reading only.
    ///
    /// It is the connection itself, or a copy in memory when an earlier version has written the
    /// file. Throws when the file is no journal.
    static func readable(
        _ database: JournalDatabase,
        _ upgrades: [String] = Schema.upgrades
    ) throws(JournalError) -> JournalDatabase {
        let found = try identify(database, upgrades)
        guard found > 0 else {
            throw JournalError(.missing, "open", words: "the file is empty")
        }
        guard found < version(upgrades) else { return database }
        let copy = try JournalDatabase(path: ":memory:", mode: .write)
        try copy.copy(database)
        try copy.execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        try upgrade(copy, from: found, upgrades)
        return copy
    }

    /// The version of one of our journals; 0 for an empty file.
    private static func identify(
        _ database: JournalDatabase,
        _ upgrades: [String]
    ) throws(JournalError) -> Int {
        let application = try database.integer("PRAGMA application_id")
        let found = try database.integer("PRAGMA user_version")
        if application == 0, found == 0,
            try database.integer("SELECT count(*) FROM sqlite_schema") == 0
        {
            return 0
        }
        guard application == applicationID, found > 0 else {
            throw JournalError(.foreign, "open", words: "application id \(application)")
        }
        guard found <= version(upgrades) else {
            throw JournalError(
                .schema(found: found, known: version(upgrades)),
                "open",
                words: "its schema is version \(found), ours is \(version(upgrades))"
            )
        }
        return found
    }

    /// The file was cut off, or was never ours: a new journal could not replace its content.
    static var empty: JournalError {
        JournalError(.corrupt, "open", words: "the file is empty")
    }
}
