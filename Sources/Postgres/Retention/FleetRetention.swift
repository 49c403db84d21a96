import Domain

/// What of a fleet's past is kept.
package struct FleetRetention: Sendable, Equatable {
    /// The last beginnings of each rollout, the one that is on among them.
    package let beginnings: Int
    /// Whatever is no older than this stays, too.
    package let age: Duration

    package init(beginnings: Int, age: Duration) {
        precondition(beginnings > 0 && age >= .zero)
        (self.beginnings, self.age) = (beginnings, age)
    }
}

/// A table of the fleet that grows with what is done, in the order in which it is emptied.
///
/// The others hold what counts: rights and their epochs, debts, what is owed, what people set, failures that count
/// towards a quarantine.
package enum FleetPast: String, CaseIterable, Sendable {
    case missed, hearing, verdict, execution, step, said, run, gateway, rollout, plan

    /// Which rows are past: `$1` is how many beginnings are kept, `$2` the age in microseconds.
    var condition: String {
        switch self {
        // What was not heard in a beginning says nothing in the next one.
        case .missed: "\(Self.isOver("x")) OR \(Self.isOldOrder("x"))"
        // Hints; a rollout that is running keeps those of its beginning.
        case .hearing:
            """
            x.at < \(Self.moment) AND NOT EXISTS (SELECT FROM yardmaster.rollout r
                WHERE r.name = x.rollout AND r.state = 'running' AND r.beginning = x.beginning)
            """
        // Of each vehicle the last word stays as long as its rollout is known.
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
        // The last start of each gateway stays: it is waited for after a restore.
        case .gateway:
            """
            x.heard < \(Self.moment) AND EXISTS (SELECT FROM yardmaster.gateway g
                WHERE g.name = x.name AND g.heard > x.heard)
              AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.holder = x.instance)
              AND NOT EXISTS (SELECT FROM yardmaster.execution e
                WHERE e.instance = x.instance AND e.state = 'claimed')
              AND NOT EXISTS (SELECT FROM yardmaster.awaited a WHERE a.instance = x.instance)
            """
        // An order is not gone on with: nothing is left of it once all of it is past.
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

    /// What `exec` calls its rollouts.
    private static let order = "^exec-[0-9].*Z$"
    private static let moment = "yardmaster.clock() - $2::bigint * interval '1 microsecond'"

    /// Of a beginning that is not kept, of a rollout whose present one is older than what is kept by its age.
    private static func isOver(_ row: String) -> String {
        """
        EXISTS (SELECT FROM yardmaster.rollout r WHERE r.name = \(row).rollout
          AND \(row).beginning <= r.beginning - $1::bigint AND r.begun < \(moment))
        """
    }

    /// Of an order that nobody works on.
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

    /// Deletes at most so many rows that are past, in one transaction that `keep` may end by throwing; gives how many.
    ///
    /// `keep` has each row as JSON, and is over before any of them is gone.
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
            // The server takes back whatever is not committed when the session ends.
            close()
            throw error
        }
    }
}
