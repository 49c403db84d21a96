import Base

/// A record that is read from a row of the journal.
protocol JournalRecord {
    /// The columns of the row are those of the record, in their order.
    init(row: borrowing SQLStatement) throws(JournalError)
}

/// A row from which records are read: of the journal, or of a fleet's tables.
protocol RecordRow: ~Copyable {
    borrowing func text(_ column: Int) -> String?
    borrowing func time(_ column: Int) -> WallTime?
    borrowing func isTrue(_ column: Int) -> Bool
    /// Parses the column's text, without which there is no record.
    borrowing func value<V>(_ column: Int, _ read: (String) -> V?) throws(JournalError) -> V
    /// The same for a column that may be null.
    borrowing func optional<V>(_ column: Int, _ read: (String) -> V?) throws(JournalError) -> V?
}
