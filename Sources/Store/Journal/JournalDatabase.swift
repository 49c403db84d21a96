import Base
import CSQLite

/// One connection to the journal's file, for one thread at a time.
final class JournalDatabase {
    /// How a connection is opened.
    enum Mode {
        /// Reads and writes, and creates the file.
        case write
        /// Reads what another process may be writing.
        case read
        /// Reads a file that no process has open, without a lock and without creating files beside
        /// it.
        case frozen
    }

    /// Whether a transaction is on disk when it returns.
    enum Durability: String {
        /// It is: SQLite syncs the log, and so everything before.
        case durable = "FULL"
        /// It survives the end of this process; a power cut only once a durable transaction
        /// follows.
        case relaxed = "NORMAL"
    }

    /// Used only by `SQLStatement` and errors.
    let handle: OpaquePointer
    private var durability: Durability?
    /// For a simulated power cut: how many more transactions are written; nil for all.
    var transactionsLeft: Int?
    /// For a simulated disk that is full once: how many transactions are written before that.
    var transactionsBeforeRefusal: Int?
    /// The state after a simulated power cut: everything up to the last durable transaction.
    var disk: JournalDatabase?
    /// Prepared statements by their text, for further use: to prepare one costs more than to run
    /// it.
    private var kept: [String: PreparedStatement] = [:]
    private static let mostKept = 64

    init(path: String, mode: Mode) throws(JournalError) {
        var handle: OpaquePointer?
        let path = try Self.withoutLinks(path)
        // Multi-thread mode: one thread at a time uses it, so SQLite need not lock each call.
        let flags =
            switch mode {
            case .write: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .read: SQLITE_OPEN_READONLY
            case .frozen: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let name = mode == .frozen ? Self.address(of: path) + "?immutable=1" : path
        let code = sqlite3_open_v2(
            name,
            &handle,
            flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
            nil
        )
        guard code == SQLITE_OK, let handle else {
            // Even a failed call returns a handle, which has the reason.
            defer { sqlite3_close_v2(handle) }
            throw JournalError("open", handle: handle)
        }
        sqlite3_extended_result_codes(handle, 1)
        // The state directory's lock keeps other writers out; this is for readers' short locks.
        sqlite3_busy_timeout(handle, 5_000)
        self.handle = handle
    }

    /// The path for SQLite, which opens the file itself: no part of it is a link, and SQLite refuses one that becomes a
    /// link meanwhile.
    private static func withoutLinks(_ path: String) throws(JournalError) -> String {
        guard path != ":memory:" else { return path }
        do throws(FileFault) {
            let place = try FilePlace(path)
            return "\(try place.folder.path())/\(place.name)"
        } catch { throw JournalError("open", error) }
    }

    deinit {
        kept = [:]
        sqlite3_close_v2(handle)
    }

    /// Returns a statement for one user: the kept one, or a new one while that is in use.
    func lend(_ sql: String) throws(JournalError) -> PreparedStatement {
        let known = kept[sql]
        if let known, !known.isLent {
            known.isLent = true
            return known
        }
        let fresh = try PreparedStatement(sql, in: self)
        if known == nil, kept.count < Self.mostKept { kept[sql] = fresh }
        return fresh
    }

    func execute(_ sql: String) throws(JournalError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw JournalError("execute", handle: handle)
        }
    }

    func statement(_ sql: String) throws(JournalError) -> SQLStatement {
        try SQLStatement(sql, in: self)
    }

    /// Runs `body` in a transaction, which is rolled back when `body` throws.
    func transaction<R>(
        _ durability: Durability,
        _ body: () throws(JournalError) -> R
    ) throws(JournalError) -> R {
        if let left = transactionsLeft {
            guard left > 0 else {
                throw JournalError(.disk, "commit", words: "the power is cut")
            }
            transactionsLeft = left - 1
        }
        if let left = transactionsBeforeRefusal {
            transactionsBeforeRefusal = left > 0 ? left - 1 : nil
            guard left > 0 else {
                throw JournalError(.full, "commit", words: "no space is left on the disk")
            }
        }
        if self.durability != durability {
            try execute("PRAGMA synchronous = \(durability.rawValue)")
            self.durability = durability
        }
        try statement("BEGIN IMMEDIATE").run()
        do {
            let result = try body()
            try statement("COMMIT").run()
            if let disk, durability == .durable { try disk.copy(self) }
            return result
        } catch {
            // SQLite rolls back automatically after some errors, such as a full disk.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// All statements in `body` see the journal at the time of the first of them.
    func snapshot<R>(_ body: () throws(JournalError) -> R) throws(JournalError) -> R {
        try execute("BEGIN")
        defer { try? execute("ROLLBACK") }
        return try body()
    }

    func integer(_ sql: String) throws(JournalError) -> Int {
        let statement = try statement(sql)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    func text(_ sql: String) throws(JournalError) -> String {
        let statement = try statement(sql)
        return try statement.step() ? statement.text(0) ?? "" : ""
    }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
    var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Replaces the content with everything that the other connection sees.
    func copy(_ other: JournalDatabase) throws(JournalError) {
        let backup = sqlite3_backup_init(handle, "main", other.handle, "main")
        guard sqlite3_backup_step(backup, -1) == SQLITE_DONE,
            sqlite3_backup_finish(backup) == SQLITE_OK
        else { throw JournalError("copy", handle: handle) }
    }

    /// A path as a `file:` address, in which `?`, `#` and `%` have other meanings.
    private static func address(of path: String) -> String {
        var address = "file:"
        for character in path {
            switch character {
            case "?": address += "%3f"
            case "#": address += "%23"
            case "%": address += "%25"
            default: address.append(character)
            }
        }
        return address
    }
}
