import Base

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
    case missed, hearing, verdict, execution, step, said, run, gateway, rollout, plan, transfer

    /// The condition for rows that are past: `$1` is how many beginnings are kept, `$2` the age in
    /// microseconds.
    var condition: String {
        switch self {
        // A vehicle that was not heard in one beginning may be heard in the next.
        case .missed:
            """
            \(Self.isOver("x")) AND NOT EXISTS (SELECT FROM yardmaster.execution e
                WHERE e.rollout = x.rollout AND e.beginning = x.beginning
                  AND e.vehicle = x.vehicle AND e.since >= \(Self.moment))
              OR \(Self.isOldOrder("x"))
            """
        // These rows are hints; an active rollout keeps those of its beginning.
        case .hearing:
            """
            x.at < \(Self.moment) AND NOT EXISTS (SELECT FROM yardmaster.rollout r
                WHERE r.name = x.rollout AND r.state = 'running' AND r.beginning = x.beginning)
            """
        // The last verdict of each vehicle stays as long as its rollout is known.
        case .verdict:
            """
            x.at < \(Self.moment) AND (\(Self.isOldOrder("x")) OR x.number < (
                -- The last one is the same for all nights of the vehicle, and is read once from the disk.
                SELECT l.number FROM yardmaster.verdict l WHERE l.rollout = x.rollout
                  AND l.vehicle = x.vehicle AND (l.counts OR NOT x.counts)
                ORDER BY l.number DESC LIMIT 1
              ) AND NOT EXISTS (SELECT FROM yardmaster.rollout r
                WHERE r.name = x.rollout AND x.at >= r.begun))
            """
        case .execution:
            """
            x.state <> 'claimed' AND (\(Self.isOver("x")) AND x.since < \(Self.moment)
                OR \(Self.isOldOrder("x")))
              AND NOT EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = x.vehicle
                AND s.rollout = x.rollout AND \(Self.isDoubt("s")))
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
                AND \(Self.isDoubt("s")))
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
              AND NOT EXISTS (SELECT FROM yardmaster.module m
                WHERE m.rollout = x.name AND m.holder IS NOT NULL)
            """
        // The last transfers to each module: what it can be brought back to.
        case .transfer:
            """
            (SELECT count(*) FROM yardmaster.transfer l
              WHERE l.serial = x.serial AND l.number > x.number) >= 32
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
    private static let order = "^(exec|update)-[0-9].*Z$"
    private static let moment = "yardmaster.clock() - $2::bigint * interval '1 microsecond'"

    /// The condition for a doubt, in the words of the index of doubts.
    private static func isDoubt(_ row: String) -> String {
        "(\(row).outcome IS NULL OR \(row).outcome = 'in-doubt')"
    }

    /// The condition for rows of a beginning that is not kept; how old a row is, is its own.
    ///
    /// The age of the current beginning says nothing: that of a nightly rollout is always young.
    private static func isOver(_ row: String) -> String {
        """
        EXISTS (SELECT FROM yardmaster.rollout r WHERE r.name = \(row).rollout
          AND \(row).beginning <= r.beginning - $1::bigint)
        """
    }

    /// The condition for rows of an order that no gateway works on.
    private static func isOldOrder(_ row: String) -> String {
        """
        \(row).rollout ~ '\(order)' AND EXISTS (SELECT FROM yardmaster.rollout r
          WHERE r.name = \(row).rollout AND r.updated < \(moment))
          AND NOT EXISTS (SELECT FROM yardmaster.module m
            WHERE m.rollout = \(row).rollout AND m.holder IS NOT NULL)
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
            "count what is past in \(table.rawValue)",
            """
            SELECT count(*) FROM yardmaster.\(table.rawValue) x
            WHERE (\(table.condition)) AND $1::bigint IS NOT NULL AND $2::bigint IS NOT NULL
            """,
            ["\(retention.beginnings)", retention.age.microseconds]
        )
        return Int(found.first?.integer(0) ?? 0)
    }

    /// How many pages of the server's files a table has.
    package func pages(of table: FleetPast) throws(FleetError) -> Int {
        let found = try rows(
            "measure \(table.rawValue)",
            """
            SELECT pg_relation_size('yardmaster.\(table.rawValue)')
              / current_setting('block_size')::bigint
            """
        )
        return Int(found.first?.integer(0) ?? 0)
    }

    /// Deletes the rows that are past among those in these pages, in one transaction; returns how
    /// many.
    ///
    /// Page after page, each row is looked at once, whatever the table's size. `keep` gets each row
    /// as JSON before any of them is gone; when it throws, nothing is deleted. Without `isKept` it gets none.
    package func drop<E: Error>(
        from table: FleetPast,
        beyond retention: FleetRetention,
        in pages: Range<Int>,
        isKept: Bool = true,
        keep: @Sendable ([String]) throws(E) -> Void
    ) throws -> Int {
        let operation = "drop what is past in \(table.rawValue)"
        try run("BEGIN", operation)
        do {
            let found = try rows(
                operation,
                """
                DELETE FROM yardmaster.\(table.rawValue) d USING (
                  SELECT x.ctid FROM yardmaster.\(table.rawValue) x
                  WHERE x.ctid >= $3::tid AND x.ctid < $4::tid AND (\(table.condition))
                    AND $1::bigint IS NOT NULL AND $2::bigint IS NOT NULL
                  FOR UPDATE SKIP LOCKED
                ) AS past WHERE d.ctid = past.ctid
                RETURNING \(isKept ? "row_to_json(d)" : "NULL")
                """,
                [
                    "\(retention.beginnings)", retention.age.microseconds,
                    "(\(pages.lowerBound),0)", "(\(pages.upperBound),0)",
                ]
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

    /// Records that everything that is past was dropped.
    package func notePruning() throws(FleetError) {
        _ = try rows(
            "record that the past was dropped",
            "UPDATE yardmaster.schema SET pruned = yardmaster.clock()"
        )
    }

    /// How long ago everything that is past was dropped, and how old the oldest verdict is; nil
    /// for never and for none.
    package func pruning() throws(FleetError) -> (since: Duration?, oldest: Duration?) {
        let found = try rows(
            "look when the past was dropped",
            """
            SELECT (extract(epoch FROM yardmaster.clock() - s.pruned) * 1000000)::bigint,
              (SELECT (extract(epoch FROM yardmaster.clock() - v.at) * 1000000)::bigint
                FROM yardmaster.verdict v ORDER BY v.number LIMIT 1)
            FROM yardmaster.schema s
            """
        )
        func age(_ column: Int) -> Duration? {
            found.first?.integer(column).map { max(.zero, .microseconds($0)) }
        }
        return (age(0), age(1))
    }
}
