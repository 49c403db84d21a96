import Domain

/// How much of a fleet's past is kept.
package struct FleetRetention: Sendable, Equatable {
    /// How many of the last beginnings of each rollout are kept, including the current one.
    package let beginnings: Int
    /// Rows that are no older than this are kept, too.
    package let age: Duration

    package init(beginnings: Int, age: Duration) {
        precondition(beginnings > 0 && age >= .zero)
        (self.beginnings, self.age) = (beginnings, age)
    }
}

/// A table of the fleet that grows with its work, in the order in which tables are cleaned.
///
/// The other tables have the current state: rights and their epochs, debts, owed steps, people's
/// commands, and failures that count towards a quarantine.
package enum FleetPast: String, CaseIterable, Sendable {
    case missed, hearing, verdict, execution, step, said, run, gateway, rollout, plan

    /// The condition for rows that are past: `$1` is how many beginnings are kept, `$2` the age in
    /// microseconds.
    var condition: String {
        switch self {
        // A vehicle that was not heard in one beginning may be heard in the next.
        case .missed: "\(Self.isOver("x")) OR \(Self.isOldOrder("x"))"
        // These rows are hints; an active rollout keeps those of its beginning.
        case .hearing:
            """
            x.at < \(Self.moment) AND NOT EXISTS (SELECT FROM yardmaster.rollout r
                WHERE r.name = x.rollout AND r.state = 'running' AND r.beginning = x.beginning)
            """
        // The last verdict of each vehicle stays as long as its rollout is known.
        case .verdict:
            """
            x.at < \(Self.moment) AND (\(Self.isOldOrder("x")) OR EXISTS (
                SELECT FROM yardmaster.verdict l WHERE l.rollout = x.rollout
                  AND l.vehicle = x.vehicle AND l.number > x.number AND (l.counts OR NOT x.counts)
              ) AND NOT EXISTS (SELECT FROM yardmaster.rollout r
                WHERE r.name = x.rollout AND x.at >= r.begun))
            """
        case .execution:
            """
            x.state <> 'claimed' AND (\(Self.isOver("x")) OR \(Self.isOldOrder("x")))
              AND NOT EXISTS (SELECT FROM yardmaster.step s WHERE s.rollout = x.rollout
                AND s.vehicle = x.vehicle AND coalesce(s.outcome, 'in-doubt') = 'in-doubt')
              AND NOT EXISTS (SELECT FROM yardmaster.debt d
                WHERE d.rollout = x.rollout AND d.serial = x.serial)
              AND NOT EXISTS (SELECT FROM yardmaster.owed o
                WHERE o.rollout = x.rollout AND o.vehicle = x.vehicle)
            """
        case .step:
            """
            x.outcome IN ('done', 'failed') AND x.settled < \(Self.moment)
              AND (\(Self.isOver("x")) OR \(Self.isOldOrder("x")))
            """
        case .said: "x.at < \(Self.moment)"
        // The last run of each gateway on each rollout stays, and every run with an open doubt.
        case .run:
            """
            x.noted < \(Self.moment) AND (\(Self.isOldOrder("x"))
                OR EXISTS (SELECT FROM yardmaster.run l WHERE l.gateway = x.gateway
                  AND l.rollout = x.rollout AND l.id > x.id))
              AND NOT EXISTS (SELECT FROM yardmaster.step s WHERE s.instance = x.instance
                AND coalesce(s.outcome, 'in-doubt') = 'in-doubt')
            """
        // The last process of each gateway stays: it is awaited after a restore.
        case .gateway:
            """
            x.heard < \(Self.moment) AND EXISTS (SELECT FROM yardmaster.gateway g
                WHERE g.name = x.name AND g.heard > x.heard)
              AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.holder = x.instance)
              AND NOT EXISTS (SELECT FROM yardmaster.execution e
                WHERE e.instance = x.instance AND e.state = 'claimed')
              AND NOT EXISTS (SELECT FROM yardmaster.awaited a WHERE a.instance = x.instance)
            """
        // An order is never continued: nothing of it is needed once all of it is past.
        case .rollout:
            """
            x.name ~ '\(Self.order)' AND x.updated < \(Self.moment)
              AND NOT EXISTS (SELECT FROM yardmaster.execution e WHERE e.rollout = x.name)
              AND NOT EXISTS (SELECT FROM yardmaster.step s WHERE s.rollout = x.name)
              AND NOT EXISTS (SELECT FROM yardmaster.debt d WHERE d.rollout = x.name)
              AND NOT EXISTS (SELECT FROM yardmaster.owed o WHERE o.rollout = x.name)
              AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.rollout = x.name)
            """
        // The view of a plan that no rollout uses any more.
        case .plan:
            """
            x.brought < \(Self.moment)
              AND NOT EXISTS (SELECT FROM yardmaster.rollout r WHERE r.plan = x.digest)
            """
        }
    }

    /// The names of the rollouts of `exec`.
    private static let order = "^exec-[0-9].*Z$"
    private static let moment = "yardmaster.clock() - $2::bigint * interval '1 microsecond'"

    /// The condition for rows of a beginning that is not kept, of a rollout whose current beginning
    /// is older than the age.
    private static func isOver(_ row: String) -> String {
        """
        EXISTS (SELECT FROM yardmaster.rollout r WHERE r.name = \(row).rollout
          AND \(row).beginning <= r.beginning - $1::bigint AND r.begun < \(moment))
        """
    }

    /// The condition for rows of an order that no gateway works on.
    private static func isOldOrder(_ row: String) -> String {
        """
        \(row).rollout ~ '\(order)' AND EXISTS (SELECT FROM yardmaster.rollout r
          WHERE r.name = \(row).rollout AND r.updated < \(moment))
          AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.rollout = \(row).rollout)
        """
    }
}

extension FleetDatabase {
    /// How many rows of a table are past.
    package func count(
        of table: FleetPast,
        beyond retention: FleetRetention
    ) throws(FleetError) -> Int {
        let found = try rows(
            FleetStatement(
                "count what is past in \(table.rawValue)",
                """
                SELECT count(*) FROM yardmaster.\(table.rawValue) x
                WHERE (\(table.condition)) AND $1::bigint IS NOT NULL AND $2::bigint IS NOT NULL
                """,
                ["\(retention.beginnings)", retention.age.microseconds]
            )
        )
        return Int(found.first?.integer(0) ?? 0)
    }

    /// Deletes at most `limit` rows that are past, in one transaction; returns how many.
    ///
    /// `keep` gets each row as JSON before any of them is gone; when it throws, nothing is deleted.
    package func drop<E: Error>(
        from table: FleetPast,
        beyond retention: FleetRetention,
        atMost limit: Int,
        keep: @Sendable ([String]) throws(E) -> Void
    ) throws -> Int {
        let operation = "drop what is past in \(table.rawValue)"
        try run("BEGIN", operation)
        do {
            let found = try rows(
                FleetStatement(
                    operation,
                    """
                    DELETE FROM yardmaster.\(table.rawValue) d USING (
                      SELECT x.ctid FROM yardmaster.\(table.rawValue) x
                      WHERE (\(table.condition)) AND $1::bigint IS NOT NULL
                        AND $2::bigint IS NOT NULL
                      LIMIT $3::bigint FOR UPDATE SKIP LOCKED
                    ) AS past WHERE d.ctid = past.ctid RETURNING row_to_json(d)
                    """,
                    ["\(retention.beginnings)", retention.age.microseconds, "\(limit)"]
                )
            )
            try keep(found.compactMap { $0.text(0) })
            try run("COMMIT", operation)
            return found.count
        } catch {
            // The server rolls back the transaction when the session ends.
            close()
            throw error
        }
    }
}
