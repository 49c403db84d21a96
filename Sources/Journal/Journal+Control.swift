package import Domain

// What a rollout as a whole is about: its state, what people want of it, what is left alone.

extension Journal {
    package func rollout(_ name: String) throws(JournalError) -> RolloutRecord? {
        try view().rollout(name)
    }

    /// Keeps what a run found; a hold that somebody has set meanwhile stays.
    package func save(_ rollout: RolloutRecord) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.save(rollout, in: database)
        }
    }

    static func save(
        _ rollout: RolloutRecord,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            """
            INSERT INTO rollouts (\(RolloutRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET
                plan = excluded.plan, state = excluded.state, wave = excluded.wave,
                wave_ended = excluded.wave_ended, began = excluded.began,
                updated = excluded.updated
            """
        ).run(rollout.values)
    }

    /// Leaves a request for the run under way, or for the next one; on disk when this returns.
    ///
    /// As all that people say, it is written without the state directory's lock.
    package func leave(_ request: ControlRequest) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.leave(request, in: database)
        }
    }

    static func leave(
        _ request: ControlRequest,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            "INSERT INTO requests (\(ControlRequest.columns)) VALUES (?, ?, ?, ?, ?)"
        ).run(request.values)
    }

    /// Requests that nobody has taken up yet, oldest first.
    package func openRequests(for rollout: String) throws(JournalError) -> [OpenRequest] {
        try view().openRequests(for: rollout)
    }

    /// Says what became of a request; it is not seen again.
    package func answer(
        _ request: OpenRequest,
        _ answer: String,
        at time: WallTime
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("UPDATE requests SET answer = ?, answered = ? WHERE id = ?")
                .run([.text(answer), Value(time), .integer(request.id)])
        }
    }

    /// Leaves a vehicle or the depot alone from now on; replaces what was said before.
    package func inhibit(
        _ inhibit: Inhibit,
        saying: Saying? = nil
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                "INSERT OR REPLACE INTO inhibits (\(Inhibit.columns)) VALUES (?, ?, ?, ?, ?)"
            ).run(inhibit.values)
            try Self.note(saying, in: database)
        }
    }

    /// True when there was something to lift.
    @discardableResult
    package func uninhibit(
        _ vehicle: VehicleID?,
        saying: Saying? = nil
    ) throws(JournalError) -> Bool {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("DELETE FROM inhibits WHERE vehicle = ?")
                .run([.text(vehicle?.text ?? "")])
            guard database.changedRows > 0 else { return false }
            try Self.note(saying, in: database)
            return true
        }
    }

    /// What holds at a time, sorted by vehicle, the depot first.
    package func inhibits(at time: WallTime) throws(JournalError) -> [Inhibit] {
        try view().inhibits(at: time)
    }

    /// Counts one more failure of a vehicle on a release, and returns how many there are.
    package func countFailure(
        _ vehicle: VehicleID,
        release: SHA256Digest,
        message: String,
        at time: WallTime
    ) throws(JournalError) -> Int {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                """
                INSERT INTO failures (\(FailureCount.columns)) VALUES (?, ?, 1, ?, ?)
                ON CONFLICT (vehicle, release) DO UPDATE SET
                    count = count + 1, message = excluded.message, last = excluded.last
                """
            ).run([
                .text(vehicle.text), .text(release.description), .text(message), Value(time),
            ])
            let found = try database.statement(
                "SELECT count FROM failures WHERE vehicle = ? AND release = ?"
            )
            try found.bind([.text(vehicle.text), .text(release.description)])
            return try found.step() ? Int(found.integer(0)) : 0
        }
    }

    package func failures(atLeast count: Int) throws(JournalError) -> [FailureCount] {
        try view().failures(atLeast: count)
    }

    /// Forgets failures of a vehicle, or of all; returns how many vehicles had some.
    package func clearFailures(
        of vehicle: VehicleID?,
        saying: Saying? = nil
    ) throws(JournalError) -> Int {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("DELETE FROM failures WHERE ?1 IS NULL OR vehicle = ?1")
                .run([Value(vehicle?.text)])
            let count = database.changedRows
            if count > 0 { try Self.note(saying, in: database) }
            return count
        }
    }

    /// Keeps the newest measure of each vehicle.
    static func note(_ measure: Measure, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            "INSERT OR REPLACE INTO measures (\(Measure.columns)) VALUES (?, ?, ?, ?, ?)"
        ).run(measure.values)
    }
}

extension JournalView {
    package func rollout(_ name: String) throws(JournalError) -> RolloutRecord? {
        try rows(
            RolloutRecord.query + " WHERE name = ?",
            [.text(name)],
            { row throws(JournalError) in try RolloutRecord(row: row) }
        ).first
    }

    package func openRequests(for rollout: String?) throws(JournalError) -> [OpenRequest] {
        try rows(
            """
            SELECT \(OpenRequest.columns) FROM requests
            WHERE answered IS NULL AND (rollout IS NULL OR ?1 IS NULL OR rollout = ?1) ORDER BY id
            """,
            [Value(rollout)],
            { row throws(JournalError) in try OpenRequest(row: row) }
        )
    }

    package func inhibits(at time: WallTime) throws(JournalError) -> [Inhibit] {
        try rows(
            """
            SELECT \(Inhibit.columns) FROM inhibits WHERE expires IS NULL OR expires > ?
            ORDER BY vehicle
            """,
            [Value(time)],
            { row throws(JournalError) in try Inhibit(row: row) }
        )
    }

    /// Sorted by vehicle and release.
    package func failures(atLeast count: Int) throws(JournalError) -> [FailureCount] {
        try rows(
            """
            SELECT \(FailureCount.columns) FROM failures WHERE count >= ?
            ORDER BY vehicle, release
            """,
            [Value(count)],
            { row throws(JournalError) in try FailureCount(row: row) }
        )
    }

    /// Sorted by vehicle.
    package func measures() throws(JournalError) -> [Measure] {
        try rows(
            "SELECT \(Measure.columns) FROM measures ORDER BY vehicle",
            [],
            { row throws(JournalError) in try Measure(row: row) }
        )
    }
}
