import Synchronization

/// A journal without rows, made once: to make its tables takes longer than a short simulation.
enum BlankJournal {
    /// Nobody but the one that holds the mutex uses it.
    private struct Original: @unchecked Sendable {
        let database: JournalDatabase
    }

    private static let original = Mutex<Original?>(nil)

    /// The other database has to be empty, and nobody may be at work on it.
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
