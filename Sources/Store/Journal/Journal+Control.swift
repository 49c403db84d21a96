package import Base

// A rollout as a whole: its state, people's requests to it, and vehicles that must be left alone.

extension Journal {
    package func rollout(_ name: String) throws(JournalError) -> RolloutRecord? {
        try view().rollout(name)
    }

    /// Stores the state that a run found; a hold that was set in the meantime stays.
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

    /// Stores a request for the active run, or for the next one; it is on disk when this returns.
    ///
    /// Like all requests of people, it is written without the state directory's lock.
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

    /// Requests that no run has answered yet, oldest first.
    package func openRequests(for rollout: String) throws(JournalError) -> [OpenRequest] {
        try view().openRequests(for: rollout)
    }

    /// Stores the answer to a request, which is then no longer open.
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

    /// Inhibits a vehicle or the depot from now on; replaces an earlier inhibit.
    ///
    /// `listed` is the vehicle in a list, with its module.
    package func inhibit(
        _ inhibit: Inhibit,
        listed: ListedVehicle? = nil,
        saying: Saying? = nil
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                "INSERT OR REPLACE INTO inhibits (\(Inhibit.columns)) VALUES (?, ?, ?, ?, ?)"
            ).run(inhibit.values)
            try Self.know(listed, in: database)
            try Self.note(saying, in: database)
        }
    }

    /// Lifts an inhibit; true when there was one.
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

    /// The inhibits in force at a time, sorted by vehicle, the depot's first.
    package func inhibits(at time: WallTime) throws(JournalError) -> [Inhibit] {
        try view().inhibits(at: time)
    }

    /// Counts one more failure of a vehicle on a release, and returns the count.
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

    /// Deletes failures of a vehicle, or of all; returns how many counts there were.
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

    /// Stores a measure; only the newest of each vehicle is kept.
    static func note(_ measure: Measure, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            "INSERT OR REPLACE INTO measures (\(Measure.columns)) VALUES (?, ?, ?, ?, ?)"
        ).run(measure.values)
    }
}

extension JournalView {
    package func rollout(_ name: String) throws(JournalError) -> RolloutRecord? {
        try row(
            RolloutRecord.query + " WHERE name = ?",
            [.text(name)]
        )
    }

    package func openRequests(for rollout: String?) throws(JournalError) -> [OpenRequest] {
        try rows(
            """
            SELECT \(OpenRequest.columns) FROM requests
            WHERE answered IS NULL AND (rollout IS NULL OR ?1 IS NULL OR rollout = ?1) ORDER BY id
            """,
            [Value(rollout)]
        )
    }

    package func inhibits(at time: WallTime) throws(JournalError) -> [Inhibit] {
        try rows(
            """
            SELECT \(Inhibit.columns) FROM inhibits WHERE expires IS NULL OR expires > ?
            ORDER BY vehicle
            """,
            [Value(time)]
        )
    }

    /// Sorted by vehicle and release.
    package func failures(atLeast count: Int) throws(JournalError) -> [FailureCount] {
        try rows(
            """
            SELECT \(FailureCount.columns) FROM failures WHERE count >= ?
            ORDER BY vehicle, release
            """,
            [Value(count)]
        )
    }

    /// Sorted by vehicle.
    package func measures() throws(JournalError) -> [Measure] {
        try rows(
            "SELECT \(Measure.columns) FROM measures ORDER BY vehicle"
        )
    }
}
