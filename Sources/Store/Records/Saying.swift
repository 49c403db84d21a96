package import Base

/// A person's command and its effect: kept after the effect is gone.
package struct Saying: JournalRecord, Sendable, Equatable {
    /// The name of the command.
    package let verb: String
    /// Nil for a command about vehicles.
    package let rollout: String?
    /// Empty means all of the rollout, or the depot.
    package internal(set) var vehicles: [VehicleID]
    package let reason: String
    package let author: String
    package let made: WallTime
    /// The last run that had begun at that time; 0 when nothing had run.
    package var run = 0
    /// The gateway of that run; nil for a run of this machine's journal.
    package var gateway: String?

    /// The name of that run; nil when nothing had run.
    package var runName: RunName? { run > 0 ? RunName(run, of: gateway) : nil }

    package init(
        _ verb: String,
        rollout: String? = nil,
        vehicles: [VehicleID] = [],
        reason: String = "",
        author: String,
        at made: WallTime
    ) {
        self.verb = verb
        self.rollout = rollout
        self.vehicles = vehicles
        self.reason = reason
        self.author = author
        self.made = made
    }

    static let columns = "verb, rollout, vehicles, reason, author, made, run"

    init(row: borrowing SQLStatement) {
        verb = row.text(0) ?? ""
        rollout = row.text(1)
        vehicles = (row.text(2) ?? "").split(separator: "\n").compactMap { VehicleID($0) }
        reason = row.text(3) ?? ""
        author = row.text(4) ?? ""
        made = WallTime(milliseconds: row.integer(5))
        run = Int(row.integer(6))
    }

    /// In the order of `columns`, without the run.
    fileprivate var values: [Value] {
        [
            .text(verb), Value(rollout), .text(vehicles.map(\.text).joined(separator: "\n")),
            .text(reason), .text(author), Value(made),
        ]
    }
}

extension Journal {
    /// Records a command whose effect is not in the journal.
    package func note(_ saying: Saying) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.note(saying, in: database)
        }
    }

    /// Records the author and the command, in the transaction of its effect.
    static func note(
        _ saying: Saying?,
        in database: JournalDatabase
    ) throws(JournalError) {
        guard let saying else { return }
        try database.statement(
            """
            INSERT INTO said (\(Saying.columns))
            SELECT ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) FROM runs
            """
        ).run(saying.values)
    }
}

extension JournalView {
    /// Commands since a run had begun, about a rollout or vehicles, oldest first; nil means about
    /// all rollouts.
    package func sayings(
        of rollout: String?,
        sinceRun run: Int,
        limit: Int
    ) throws(JournalError) -> [Saying] {
        try rows(
            """
            SELECT \(Saying.columns) FROM said
            WHERE run >= ?1 AND (?2 IS NULL OR rollout IS NULL OR rollout = ?2)
            ORDER BY id DESC LIMIT ?3
            """,
            [Value(run), Value(rollout), Value(limit)]
        ).reversed()
    }
}
