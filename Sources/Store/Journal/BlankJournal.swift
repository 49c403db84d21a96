import Synchronization

/// A journal without rows, created once: to create its tables takes longer than a short simulation.
enum BlankJournal {
    /// Used only by the holder of the mutex.
    private struct Original: @unchecked Sendable {
        let database: JournalDatabase
    }

    private static let original = Mutex<Original?>(nil)

    /// The other database must be empty and not in use.
    static func copy(to database: JournalDatabase) throws(JournalError) {
        try original.withLock { original throws(JournalError) in
            let known: Original
            if let original {
                known = original
            } else {
                known = Original(database: try JournalDatabase(path: ":memory:", mode: .write))
                try Schema.prepare(known.database)
                original = known
            }
            try database.copy(known.database)
        }
    }
}
