import CSQLite

/// The value of a parameter of a statement.
enum Value {
    case null
    case integer(Int64)
    case text(String)

    init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// A statement that SQLite has prepared.
final class PreparedStatement {
    fileprivate let pointer: OpaquePointer
    /// Whether a `SQLStatement` uses it now.
    var isLent = true

    init(_ sql: String, in database: JournalDatabase) throws(JournalError) {
        var pointer: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(database.handle, sql, -1, flags, &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw JournalError("prepare", handle: database.handle)
        }
        self.pointer = pointer
    }

    deinit { sqlite3_finalize(pointer) }
}

/// One prepared statement, which returns to its connection when the value is destroyed.
struct SQLStatement: RecordRow, ~Copyable {
    private let prepared: PreparedStatement
    private let database: JournalDatabase

    init(_ sql: String, in database: JournalDatabase) throws(JournalError) {
        self.database = database
        prepared = try database.lend(sql)
    }

    /// Gives the statement back, without any row or value of this use.
    deinit {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        prepared.isLent = false
    }

    private var pointer: OpaquePointer { prepared.pointer }

    /// Runs it once to its end, and ignores rows.
    borrowing func run(_ values: [Value] = []) throws(JournalError) {
        try bind(values)
        while try step() {}
    }

    /// Sets all parameters in order and makes the statement ready to step.
    borrowing func bind(_ values: [Value]) throws(JournalError) {
        sqlite3_reset(pointer)
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let code =
                switch value {
                case .null: sqlite3_bind_null(pointer, index)
                case .integer(let number): sqlite3_bind_int64(pointer, index, number)
                case .text(let text):
                    shim_bind_text(pointer, index, text, Int32(clamping: text.utf8.count))
                }
            guard code == SQLITE_OK else { throw JournalError("bind", handle: database.handle) }
        }
    }

    /// True when there is a row to read.
    borrowing func step() throws(JournalError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw JournalError("step", handle: database.handle)
        }
    }

    borrowing func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(pointer, Int32(column)) == SQLITE_NULL
    }

    borrowing func integer(_ column: Int) -> Int64 { sqlite3_column_int64(pointer, Int32(column)) }

    borrowing func isTrue(_ column: Int) -> Bool { integer(column) != 0 }

    borrowing func text(_ column: Int) -> String? {
        guard let text = sqlite3_column_text(pointer, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Parses the column's text; when it cannot be parsed, the journal is damaged.
    borrowing func value<V>(
        _ column: Int,
        _ read: (String) -> V?
    ) throws(JournalError) -> V {
        let text = text(column) ?? ""
        guard let value = read(text) else {
            let name =
                sqlite3_column_name(pointer, Int32(column)).map { String(cString: $0) } ?? "?"
            throw JournalError(.corrupt, "read", words: "column \(name) holds '\(text)'")
        }
        return value
    }

    /// The same for a column that may be null.
    borrowing func optional<V>(
        _ column: Int,
        _ read: (String) -> V?
    ) throws(JournalError) -> V? {
        isNull(column) ? nil : try value(column, read)
    }
}
