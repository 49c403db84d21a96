// Removes old rows, so that the journal does not grow forever.

extension Journal {
    /// Drops rows that nobody needs any more, and frees their space when there is much of it.
    ///
    /// These are the events of all runs except the last `runs`; executions that were replaced by
    /// another one of the same rollout and vehicle, with their intents; orders as old as these
    /// events; requests that were answered; old sayings; and old reports that were sent. Whatever
    /// is owed, in doubt or set by people stays, with everything that it refers to.
    package func compact(keepingRuns runs: Int) throws(JournalError) {
        let database = try opened()
        try witness?.forget(before: try Self.firstKept(runs, in: database))
        try database.transaction(.relaxed) { () throws(JournalError) in
            let first = try Self.firstKept(runs, in: database)
            try database.statement("DELETE FROM events WHERE run < ?").run([Value(first)])
            try database.execute(
                "CREATE TEMP TABLE IF NOT EXISTS over (number INTEGER PRIMARY KEY)"
            )
            let oldest = try Self.firstKept(runs * Self.runsPerKept, in: database)
            try database.statement(Self.collect).run([Value(first), Value(oldest)])
            try database.execute(
                """
                DELETE FROM intents WHERE execution IN (SELECT number FROM over);
                DELETE FROM executions WHERE number IN (SELECT number FROM over);
                DELETE FROM over;
                """
            )
            try database.statement(Self.dropTries).run([Value(first)])
            for (table, name) in [("holds", "rollout"), ("rollouts", "name")] {
                try database.statement("DELETE FROM \(table) WHERE \(name) IN (\(Self.oldOrders))")
                    .run([Value(first)])
            }
            try database.statement(
                """
                DELETE FROM requests WHERE answered IS NOT NULL
                AND id NOT IN (SELECT id FROM requests ORDER BY id DESC LIMIT 100)
                """
            ).run([])
            try database.execute(
                """
                DELETE FROM said
                WHERE id <= (SELECT id FROM said ORDER BY id DESC LIMIT 1 OFFSET 2000);
                DELETE FROM outbox WHERE next IS NULL
                AND id NOT IN (SELECT id FROM outbox ORDER BY id DESC LIMIT 500)
                """
            )
            try database.execute(Self.dropTransfers)
            try database.statement(Self.dropWords).run([Value(oldest)])
            try database.statement(Self.dropRuns).run([Value(oldest)])
        }
        let free = try database.integer("PRAGMA freelist_count")
        let all = try database.integer("PRAGMA page_count")
        // Rewriting the file is worth it when a quarter of it is free space.
        if free * 4 > all, all > 1_000 { try database.execute("VACUUM") }
    }

    /// A run's own row is small, and is kept this many times as long as its events.
    private static let runsPerKept = 10

    /// The oldest of the last `runs` runs.
    private static func firstKept(
        _ runs: Int,
        in database: JournalDatabase
    ) throws(JournalError) -> Int {
        let statement = try database.statement(
            "SELECT coalesce(min(number), 0) FROM (SELECT number FROM runs "
                + "ORDER BY number DESC LIMIT ?)"
        )
        try statement.bind([Value(runs)])
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    /// Executions that no run continues, unless they have open work.
    private static let collect = """
        INSERT INTO over SELECT e.number FROM executions AS e
        LEFT JOIN rollouts AS r ON r.name = e.rollout
        WHERE (
            (e.beginning < coalesce(r.began, 0) AND (e.apart = 0 OR e.run < ?2))
            OR EXISTS (
                SELECT 1 FROM executions AS n
                WHERE n.rollout = e.rollout AND n.vehicle = e.vehicle AND n.number > e.number
                    AND n.plan IS e.plan
            )
            OR (
                e.run < ?1
                AND EXISTS (SELECT 1 FROM runs WHERE number = e.beginning AND is_order = 1)
            )
        )
        AND NOT EXISTS (SELECT 1 FROM debts WHERE debts.execution = e.number)
        AND NOT EXISTS (SELECT 1 FROM owed WHERE owed.execution = e.number)
        AND NOT EXISTS (
            SELECT 1 FROM intents AS i
            WHERE i.execution = e.number AND i.effect = '\(Effect.once.rawValue)'
                AND (i.outcome IS NULL OR i.outcome = '\(IntentRecord.doubtful)')
        )
        """

    /// Old attempts in an execution that continues, which do not show what was done.
    private static let dropTries = """
        DELETE FROM intents WHERE run < ?1 AND outcome IS NOT NULL AND (
            effect = '\(Effect.transfer.rawValue)' OR outcome = '\(IntentRecord.failed)'
        )
        """

    /// An order is never continued: nothing of it is needed once its executions are gone.
    private static let oldOrders = """
        SELECT name FROM rollouts WHERE began < ?1
        AND EXISTS (SELECT 1 FROM runs WHERE number = rollouts.began AND is_order = 1)
        AND NOT EXISTS (SELECT 1 FROM executions WHERE rollout = rollouts.name)
        """

    /// All but the last transfers to each module.
    private static let dropTransfers = """
        DELETE FROM transfers WHERE number IN (SELECT number FROM (
            SELECT number, row_number() OVER (PARTITION BY serial ORDER BY number DESC) AS place
            FROM transfers
        ) WHERE place > 32)
        """

    /// Reports that the fleet has accepted, about beginnings that are over.
    private static let dropWords = """
        DELETE FROM fleet_words WHERE told = 1 AND (run < ?1 OR beginning < (
            SELECT beginning FROM fleet_rollouts WHERE name = fleet_words.rollout
        ))
        """

    /// Runs that no other row refers to.
    private static let dropRuns = """
        DELETE FROM runs WHERE number < ?1 AND (fleet_instance IS NULL OR told = 2) AND number NOT IN (
            SELECT run FROM executions UNION SELECT beginning FROM executions
            UNION SELECT run FROM intents UNION SELECT run FROM events
            UNION SELECT run FROM leases WHERE run IS NOT NULL
            UNION SELECT began FROM rollouts
            UNION SELECT run FROM debts UNION SELECT seen_run FROM debts
            UNION SELECT run FROM owed
        )
        """
}
