package import Base

/// Reads a journal, for the run that writes it and for all other commands.
package struct JournalView {
    let database: JournalDatabase

    /// The newest run of one rollout, or of any.
    package func lastRun(rollout: String?) throws(JournalError) -> RunRecord? {
        try runs(rollout: rollout, limit: 1).first
    }

    /// The newest run whose radio was not simulated.
    package func lastRealRun() throws(JournalError) -> RunRecord? {
        try row(
            """
            SELECT \(RunRecord.columns) FROM runs WHERE seed IS NULL ORDER BY number DESC LIMIT 1
            """
        )
    }

    /// The present in the calendar of the runs: rehearsed nights have one of their own, in which it
    /// is the end of the last one.
    package func present(_ now: WallTime) throws(JournalError) -> WallTime {
        guard let last = try lastRun(rollout: nil), last.seed != nil else { return now }
        return last.end?.time ?? last.started
    }

    /// The newest run that is no order; the newest of all when there are only orders.
    package func lastRollout() throws(JournalError) -> RunRecord? {
        try row(
            "SELECT \(RunRecord.columns) FROM runs ORDER BY is_order, number DESC LIMIT 1"
        )
    }

    /// The newest runs first.
    package func runs(rollout: String?, limit: Int) throws(JournalError) -> [RunRecord] {
        try rows(
            """
            SELECT \(RunRecord.columns) FROM runs WHERE ?1 IS NULL OR rollout = ?1
            ORDER BY number DESC LIMIT ?2
            """,
            [Value(rollout), Value(limit)]
        )
    }

    package func run(_ number: Int) throws(JournalError) -> RunRecord? {
        try row(
            "SELECT \(RunRecord.columns) FROM runs WHERE number = ?",
            [Value(number)]
        )
    }

    /// Runs without an end: the active one, and those that were killed.
    package func openRuns() throws(JournalError) -> [RunRecord] {
        try rows(
            "SELECT \(RunRecord.columns) FROM runs WHERE ended IS NULL ORDER BY number"
        )
    }

    /// Up to `limit` events of a run after the one numbered `number`, in order.
    package func events(
        run: Int,
        after number: Int = 0,
        limit: Int = .max
    ) throws(JournalError) -> [EventRecord] {
        try rows(
            """
            SELECT \(EventRecord.columns) FROM events WHERE run = ? AND number > ?
            ORDER BY number LIMIT ?
            """,
            [Value(run), Value(number), Value(limit)]
        )
    }

    /// The last event of a run about each vehicle, by vehicle id: its end, or its standing.
    package func lastWords(ofRun number: Int) throws(JournalError) -> [EventRecord] {
        try rows(
            """
            SELECT \(EventRecord.columns) FROM events WHERE run = ?1 AND number IN (
                SELECT MAX(number) FROM events
                WHERE run = ?1 AND kind IN ('vehicle-ended', 'vehicle-stands') GROUP BY vehicle)
            ORDER BY vehicle
            """,
            [Value(number)]
        )
    }

    /// The last event about a vehicle in runs of a rollout from `first` on and before another one:
    /// its end, or its standing.
    package func lastWord(
        of vehicle: VehicleID,
        in rollout: String,
        from first: Int,
        before run: Int
    ) throws(JournalError) -> EventRecord? {
        try row(
            """
            SELECT \(EventRecord.columns) FROM events
            WHERE vehicle = ?1 AND kind IN ('vehicle-ended', 'vehicle-stands') AND run >= ?3
                AND run < ?4 AND run IN (SELECT number FROM runs WHERE rollout = ?2)
            ORDER BY run DESC, number DESC LIMIT 1
            """,
            [.text(vehicle.text), .text(rollout), Value(first), Value(run)]
        )
    }

    /// The last event of a run: its end, unless the run was killed.
    package func lastEvent(run: Int) throws(JournalError) -> EventRecord? {
        try row(
            """
            SELECT \(EventRecord.columns) FROM events WHERE run = ? ORDER BY number DESC LIMIT 1
            """,
            [Value(run)]
        )
    }

    /// When something was last heard of a run, however it ended.
    package func lastSign(of run: RunRecord) throws(JournalError) -> WallTime {
        let event = try lastEvent(run: run.number)?.time ?? run.started
        return max(run.started, event, run.end?.time ?? run.started)
    }

    /// The records in the rows of an answer.
    func rows<R: JournalRecord>(
        _ sql: String,
        _ values: [Value] = []
    ) throws(JournalError) -> [R] {
        try rows(sql, values) { row throws(JournalError) in try R(row: row) }
    }

    /// The record in the first row; nil when there is none.
    func row<R: JournalRecord>(
        _ sql: String,
        _ values: [Value] = []
    ) throws(JournalError) -> R? {
        let found: [R] = try rows(sql, values)
        return found.first
    }

    func rows<R>(
        _ sql: String,
        _ values: [Value],
        _ read: (borrowing SQLStatement) throws(JournalError) -> R
    ) throws(JournalError) -> [R] {
        let statement = try database.statement(sql)
        try statement.bind(values)
        var rows: [R] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }
}
