package import Base

/// A notification for people or other programs, and the state of its delivery.
package struct OutboxEntry: JournalRecord, Sendable, Equatable {
    package let id: Int64
    /// Its subject, the same for all targets; each target has one entry with this key.
    package let key: String
    /// The target's name in a notify list.
    package let target: String
    package let kind: String
    package let rollout: String?
    package let run: Int?
    package let made: WallTime
    /// The text, once it was written; it stays the same for all attempts.
    package var body: String?
    package var attempts: Int
    /// When the next attempt is due; nil when it is settled.
    package var next: WallTime?
    package var delivered: WallTime?
    /// Why the last attempt failed.
    package var failure: String?

    /// The longest pause between two attempts: what is due later was made by a clock that was wrong.
    package static let longestPause = Duration.seconds(3_600)

    /// Whether it is not delivered and will not be tried again.
    package var isGivenUp: Bool { delivered == nil && next == nil }

    static let columns =
        "id, key, target, kind, rollout, run, made, body, attempts, next, delivered, failure"

    init(row: borrowing SQLStatement) throws(JournalError) {
        id = row.integer(0)
        key = row.text(1) ?? ""
        target = row.text(2) ?? ""
        kind = row.text(3) ?? ""
        rollout = row.text(4)
        run = row.isNull(5) ? nil : Int(row.integer(5))
        made = WallTime(milliseconds: row.integer(6))
        body = row.text(7)
        attempts = Int(row.integer(8))
        next = row.isNull(9) ? nil : WallTime(milliseconds: row.integer(9))
        delivered = row.isNull(10) ? nil : WallTime(milliseconds: row.integer(10))
        failure = row.text(11)
    }
}

/// A request to send a notification.
package struct OutboxWish: Sendable, Equatable {
    package let key: String
    package let target: String
    package let kind: String
    package let rollout: String?
    package let run: Int?
    package let body: String?

    package init(
        key: String,
        target: String,
        kind: String,
        rollout: String? = nil,
        run: Int? = nil,
        body: String? = nil
    ) {
        self.key = key
        self.target = target
        self.kind = kind
        self.rollout = rollout
        self.run = run
        self.body = body
    }
}

extension Journal {
    /// Adds notifications; entries that exist already stay unchanged.
    package func post(_ wishes: [OutboxWish], at now: WallTime) throws(JournalError) {
        guard !wishes.isEmpty else { return }
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.post(wishes, at: now, in: database)
        }
    }

    static func post(
        _ wishes: [OutboxWish],
        at now: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        for wish in wishes {
            try database.statement(
                """
                INSERT OR IGNORE INTO outbox (key, target, kind, rollout, run, made, body, next)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            ).run([
                .text(wish.key), .text(wish.target), .text(wish.kind), Value(wish.rollout),
                Value(wish.run), Value(now), Value(wish.body), Value(now),
            ])
        }
    }

    /// Takes the next entry that is due.
    ///
    /// No other process gets it before `until`, and this counts as an attempt even if this process
    /// dies.
    package func takeOutbox(
        after id: Int64 = 0,
        at now: WallTime,
        until: WallTime,
        only key: String? = nil
    ) throws(JournalError) -> OutboxEntry? {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) -> OutboxEntry? in
            let due = try JournalView(database: database).outbox(due: now, after: id, key)
            guard var entry = due else { return nil }
            try database.statement(
                "UPDATE outbox SET attempts = attempts + 1, next = ?, made = min(made, ?) WHERE id = ?"
            ).run([Value(until), Value(now), .integer(entry.id)])
            entry.attempts += 1
            return entry
        }
    }

    /// Stores the text of an entry, so that another attempt sends the same.
    package func word(_ id: Int64, _ body: String) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("UPDATE outbox SET body = ? WHERE id = ?")
                .run([.text(body), .integer(id)])
        }
    }

    package func delivered(_ id: Int64, at now: WallTime) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                "UPDATE outbox SET delivered = ?, next = NULL, failure = NULL WHERE id = ?"
            ).run([Value(now), .integer(id)])
        }
    }

    /// Records a failed attempt and when the next one is due; nil gives the entry up.
    package func undelivered(
        _ id: Int64,
        because failure: String,
        again: WallTime?
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("UPDATE outbox SET failure = ?, next = ? WHERE id = ?")
                .run([.text(failure), again.map { Value($0) } ?? .null, .integer(id)])
        }
    }
}

extension JournalView {
    fileprivate func outbox(
        due now: WallTime,
        after id: Int64,
        _ key: String?
    ) throws(JournalError) -> OutboxEntry? {
        try row(
            """
            SELECT \(OutboxEntry.columns) FROM outbox
            WHERE (next <= ?1 OR next > ?4) AND id > ?2 AND (?3 IS NULL OR key = ?3)
            ORDER BY id LIMIT 1
            """,
            [
                Value(now), .integer(id), Value(key),
                Value(now.advanced(by: OutboxEntry.longestPause)),
            ]
        )
    }

    /// The newest entries first.
    package func outbox(limit: Int) throws(JournalError) -> [OutboxEntry] {
        try rows(
            "SELECT \(OutboxEntry.columns) FROM outbox ORDER BY id DESC LIMIT ?",
            [Value(limit)]
        )
    }

    /// Whether there is a notification about this already.
    package func isTold(_ key: String) throws(JournalError) -> Bool {
        try rows(
            "SELECT 1 FROM outbox WHERE key = ? LIMIT 1",
            [.text(key)],
            { row throws(JournalError) in row.integer(0) }
        ).first != nil
    }
}
