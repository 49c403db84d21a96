package import Base

// Reads for `status`, `history` and the like: they change nothing, and nothing waits for them.

extension FleetDatabase {
    /// Runs `body` so that everything it reads is of one moment.
    package func atOneMoment<R: Sendable>(
        _ body: @Sendable (isolated FleetDatabase) throws(FleetError) -> R
    ) throws(FleetError) -> R {
        try transaction(
            "look at one moment",
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        ) { () throws(FleetError) in try body(self) }
    }

    /// Steps in doubt; a step that a gateway is carrying out now is not in doubt yet.
    private static let doubts = """
        SELECT s.* FROM yardmaster.step s
        WHERE (s.outcome IS NULL OR s.outcome = 'in-doubt') AND NOT (s.outcome IS NULL
          AND EXISTS (SELECT FROM yardmaster.module m WHERE m.serial = s.serial
            AND m.holder = s.instance AND m.epoch = s.epoch AND m.expires > yardmaster.clock()))
        """

    /// What applies to all rollouts.
    package func ground() throws(FleetError) -> FleetGround {
        let now = try rows(
            FleetStatement(
                "read the clock and this user's rights",
                """
                SELECT (extract(epoch FROM yardmaster.clock()) * 1000)::bigint,
                  \(FleetUser.isOperator)
                """
            )
        ).first
        var ground = FleetGround(
            time: WallTime(milliseconds: now?.integer(0) ?? 0),
            history: EpochGuard(try history(), known: nil)
        )
        ground.isOperator = now?.isTrue(1) ?? false
        ground.gateways = try gateways()
        ground.debts = try debts()
        ground.doubts = try doubtsOfAll()
        ground.owed = try owedByAll()
        ground.inhibits = try inhibits()
        ground.recalls = try recallUses(ground.debts)
        ground.failures = try failures()
        return ground
    }

    package func debts() throws(FleetError) -> [Debt] {
        try rows(
            FleetStatement("read the debts", "\(Debt.shared) ORDER BY vehicle, serial")
        ).compactMap { Debt($0) }
    }

    private func doubtsOfAll() throws(FleetError) -> [IntentRecord] {
        try rows(
            FleetStatement(
                "read the doubts",
                """
                SELECT d.vehicle, d.rollout, d.digest, d.ordinal, d.action, d.gateway, r.number,
                  (extract(epoch FROM d.begun) * 1000)::bigint
                FROM (\(Self.doubts)) d LEFT JOIN yardmaster.run r ON r.instance = d.instance
                ORDER BY d.begun, d.vehicle, d.digest, d.ordinal
                """
            )
        ).compactMap { IntentRecord(doubt: $0) }
    }

    private func owedByAll() throws(FleetError) -> [OwedStep] {
        try rows(
            FleetStatement(
                "read what is owed",
                "\(OwedStep.shared) ORDER BY vehicle, rollout, digest, ordinal"
            )
        ).compactMap { OwedStep($0) }
    }

    private func failures() throws(FleetError) -> [FailureCount] {
        try rows(
            FleetStatement("read the failures", "\(FailureCount.shared) ORDER BY vehicle, release")
        ).compactMap { FailureCount($0) }
    }

    // MARK: Rollouts

    /// The state of a rollout's vehicles, or of one of them.
    package func view(
        of rollout: FleetRollout,
        only vehicle: VehicleID? = nil
    ) throws(FleetError) -> FleetView {
        var view = FleetView(rollout)
        let found = try rows(
            FleetStatement(
                "read the vehicles of the rollout",
                """
                SELECT \(FleetVehicle.columns)
                FROM \(FleetVehicle.source(vehicle == nil ? FleetVehicle.verdicts : FleetVehicle.verdict))
                WHERE r.name = $1 AND ($3::text IS NULL OR e.vehicle = $3)
                ORDER BY e.wave, e.vehicle
                """,
                [rollout.name, "\(max(0, rollout.begun.milliseconds - 1))", vehicle?.text]
            )
        )
        view.vehicles = found.compactMap { FleetVehicle($0) }
        let underWay = try rows(
            FleetStatement(
                "read the gate",
                """
                SELECT count(*) FROM yardmaster.execution
                WHERE rollout = $1 AND beginning = $2::bigint AND state = 'claimed'
                """,
                [rollout.name, "\(rollout.beginning)"]
            )
        ).first?.integer(0)
        view.underWay = Int(underWay ?? 0)
        view.runs = try rows(
            FleetStatement(
                "read the runs of the rollout",
                """
                SELECT \(FleetRun.columns) FROM \(FleetRun.source)
                JOIN (SELECT max(id) AS id FROM yardmaster.run
                  WHERE rollout = $1 AND beginning = $2::bigint GROUP BY gateway) l ON l.id = r.id
                ORDER BY r.id
                """,
                [rollout.name, "\(rollout.beginning)"]
            )
        ).compactMap { FleetRun($0) }
        return view
    }

    /// The rollouts that are no orders, the one that was worked on last first.
    package func briefs() throws(FleetError) -> [FleetBrief] {
        let found = try rows(
            FleetStatement(
                "read the rollouts",
                """
                WITH r AS MATERIALIZED (
                  SELECT * FROM yardmaster.rollout WHERE name !~ '\(Self.order)'
                  ORDER BY updated DESC LIMIT 100
                ), doubtful AS (SELECT DISTINCT d.vehicle FROM (\(Self.doubts)) d),
                owing AS (SELECT DISTINCT o.vehicle FROM yardmaster.owed o)
                SELECT \(FleetRollout.columns), e.outcome, e.isDoubtful, e.hasDebt, e.owes, e.count
                FROM r LEFT JOIN LATERAL (
                  SELECT coalesce(x.outcome, l.outcome) AS outcome,
                    d.vehicle IS NOT NULL AS isDoubtful,
                    m.serial IS NOT NULL AS hasDebt, o.vehicle IS NOT NULL AS owes,
                    count(*) AS count
                  FROM yardmaster.execution x
                  LEFT JOIN doubtful d ON d.vehicle = x.vehicle
                  LEFT JOIN yardmaster.debt m ON m.serial = x.serial
                  LEFT JOIN owing o ON o.vehicle = x.vehicle
                  \(FleetVehicle.left(of: "x"))
                  WHERE x.rollout = r.name AND x.beginning = r.beginning
                  GROUP BY 1, 2, 3, 4
                ) e ON true
                ORDER BY r.updated DESC, r.name
                """
            )
        )
        var briefs: [FleetBrief] = []
        for row in found {
            guard let rollout = FleetRollout(row) else { continue }
            if briefs.last?.rollout.name != rollout.name {
                briefs.append(FleetBrief(rollout: rollout))
            }
            let first = FleetRollout.columnCount
            guard let count = row.integer(first + 4) else { continue }
            briefs[briefs.count - 1].groups.append(
                FleetBrief.Group(
                    count: Int(count),
                    outcome: row.text(first).flatMap { Outcome(rawValue: $0) },
                    isDoubtful: row.isTrue(first + 1),
                    hasDebt: row.isTrue(first + 2),
                    owes: row.isTrue(first + 3)
                )
            )
        }
        return briefs
    }

    /// The rollouts that have the vehicle in their present beginning, the one that was worked on last first.
    package func rollouts(with vehicle: VehicleID) throws(FleetError) -> [FleetRollout] {
        try rows(
            FleetStatement(
                "look for the vehicle",
                """
                SELECT \(FleetRollout.columns) FROM yardmaster.rollout r
                WHERE EXISTS (SELECT FROM yardmaster.execution e WHERE e.rollout = r.name
                  AND e.beginning = r.beginning AND e.vehicle = $1)
                ORDER BY r.updated DESC, r.name
                """,
                [vehicle.text]
            )
        ).compactMap { FleetRollout($0) }
    }

    /// All rollouts, orders too.
    package func rolloutNames() throws(FleetError) -> Set<String> {
        Set(
            try rows(
                FleetStatement("read the rollouts' names", "SELECT name FROM yardmaster.rollout")
            ).compactMap { $0.text(0) }
        )
    }

    /// The rollouts that were at work since then, or that are named, the one that was worked on last first.
    package func rollouts(
        since: WallTime,
        or names: [String]
    ) throws(FleetError) -> [FleetRollout] {
        try rows(
            FleetStatement(
                "read the rollouts of the night",
                """
                SELECT \(FleetRollout.columns) FROM yardmaster.rollout n
                WHERE n.name = ANY ($2::text[])
                  OR n.updated >= to_timestamp($1::double precision / 1000)
                  OR (SELECT max(greatest(l.noted, l.closed)) FROM (
                    SELECT r.noted, r.closed FROM yardmaster.run r WHERE r.rollout = n.name
                    ORDER BY r.id DESC LIMIT 100) l)
                    >= to_timestamp($1::double precision / 1000)
                ORDER BY n.updated DESC, n.name
                """,
                ["\(max(0, since.milliseconds))", Self.array(names)]
            )
        ).compactMap { FleetRollout($0) }
    }

    /// The last run of each rollout, by its name.
    package func lastRuns() throws(FleetError) -> [String: FleetRun] {
        var runs: [String: FleetRun] = [:]
        for run in try rows(
            FleetStatement(
                "read the last runs",
                """
                SELECT \(FleetRun.columns) FROM yardmaster.rollout n CROSS JOIN LATERAL (
                  SELECT l.* FROM yardmaster.run l WHERE l.rollout = n.name
                  ORDER BY l.id DESC LIMIT 1) r
                LEFT JOIN yardmaster.gateway g ON g.instance = r.instance
                """
            )
        ).compactMap({ FleetRun($0) }) { runs[run.run.rollout] = run }
        return runs
    }

    /// The zone of the window of the rollout that was worked on last and has one, of those of this name if any.
    package func zone(of rollout: String?) throws(FleetError) -> String? {
        try rows(
            FleetStatement(
                "look for the zone",
                """
                SELECT p.zone FROM yardmaster.rollout r JOIN yardmaster.plan p ON p.digest = r.plan
                WHERE ($1::text IS NULL OR r.name = $1) AND p.zone IS NOT NULL
                ORDER BY r.updated DESC LIMIT 1
                """,
                [rollout]
            )
        ).first?.text(0)
    }

    /// The shown part of a plan; nil when no gateway has stored it.
    package func planView(_ digest: String) throws(FleetError) -> String? {
        try rows(
            FleetStatement(
                "read the plan",
                "SELECT view FROM yardmaster.plan WHERE digest = $1",
                [digest]
            )
        ).first?.text(0)
    }

    /// People's commands since then, for a rollout or for vehicles, the newest first; nil means for
    /// all rollouts.
    package func sayings(
        of rollout: String?,
        since: WallTime,
        limit: Int
    ) throws(FleetError) -> [Saying] {
        let found = try rows(
            FleetStatement(
                "read what was said",
                """
                SELECT s.verb, s.rollout, s.vehicle, s.reason,
                  CASE WHEN s.login IN (s.author, (SELECT tableowner FROM pg_tables
                      WHERE schemaname = 'yardmaster' AND tablename = 'said'))
                    THEN s.author ELSE format('%s (%s)', s.author, s.login) END,
                  (extract(epoch FROM s.at) * 1000)::bigint, n.gateway, n.number
                FROM yardmaster.said s LEFT JOIN LATERAL (
                  SELECT r.gateway, r.number FROM yardmaster.run r WHERE r.noted <= s.at
                  ORDER BY r.id DESC LIMIT 1) n ON true
                WHERE ($1::text IS NULL OR s.rollout IS NULL OR s.rollout = $1)
                  AND s.at >= to_timestamp($2::double precision / 1000)
                ORDER BY s.number DESC LIMIT $3::bigint
                """,
                [rollout, "\(max(0, since.milliseconds))", "\(limit)"]
            )
        )
        var sayings: [Saying] = []
        for row in found {
            guard let verb = row.text(0), let author = row.text(4), let at = row.integer(5) else {
                continue
            }
            let vehicle = row.vehicle(2)
            var said = Saying(
                // A hold is recorded with the state that it sets, not with its verb.
                ["paused": "pause", "aborted": "abort"][verb] ?? verb,
                rollout: row.text(1),
                vehicles: vehicle.map { [$0] } ?? [],
                reason: row.text(3) ?? "",
                author: author,
                at: WallTime(milliseconds: at)
            )
            said.gateway = row.text(6)
            said.run = Int(row.integer(7) ?? 0)
            // One command for several vehicles has a row for each.
            if let vehicle, let last = sayings.last, last.isSame(as: said) {
                sayings[sayings.count - 1].vehicles.insert(vehicle, at: 0)
            } else {
                sayings.append(said)
            }
        }
        return sayings
    }

    // MARK: Runs

    /// The runs of all gateways, those that began last first; nil means of all rollouts.
    package func runs(of rollout: String?, limit: Int) throws(FleetError) -> [FleetRun] {
        try rows(
            FleetStatement(
                "read the runs",
                """
                SELECT \(FleetRun.columns) FROM \(FleetRun.source)
                WHERE $1::text IS NULL OR r.rollout = $1 ORDER BY r.id DESC LIMIT $2::bigint
                """,
                [rollout, "\(limit)"]
            )
        ).compactMap { FleetRun($0) }
    }

    /// The run of this number of a gateway: the last one where its state directory was made again.
    package func run(_ number: Int, of gateway: String) throws(FleetError) -> FleetRun? {
        try rows(
            FleetStatement(
                "look for run \(gateway)/\(number)",
                """
                SELECT \(FleetRun.columns) FROM \(FleetRun.source)
                WHERE r.gateway = $1 AND r.number = $2::bigint ORDER BY r.id DESC LIMIT 1
                """,
                [gateway, "\(number)"]
            )
        ).first.flatMap { FleetRun($0) }
    }

    /// The verdicts that a run gave, in their order.
    package func verdicts(of run: FleetRun) throws(FleetError) -> [FleetVerdictRecord] {
        try verdicts("instance = $1::uuid", [run.start.instance])
    }

    /// The verdicts on a vehicle, orders excepted, in their order.
    package func verdicts(on vehicle: VehicleID) throws(FleetError) -> [FleetVerdictRecord] {
        try verdicts(
            """
            number = ANY (ARRAY(SELECT v.number FROM yardmaster.rollout r
              JOIN yardmaster.verdict v ON v.rollout = r.name AND v.vehicle = $1
              WHERE r.name !~ '\(Self.order)'))
            """,
            [vehicle.text]
        )
    }

    /// The verdicts on vehicles since then, orders excepted; and from before it the last verdict on
    /// each vehicle of a rollout, and the last `succeeded` or `already-current` one.
    ///
    /// The earlier ones are found vehicle by vehicle, so that nights of long ago are not read.
    package func verdicts(since: WallTime) throws(FleetError) -> [FleetVerdictRecord] {
        let moment = "to_timestamp($1::double precision / 1000)"
        let isGood = "outcome IN ('succeeded', 'already-current')"
        func earlier(_ condition: String) -> String {
            """
            (SELECT v.number, v.outcome FROM yardmaster.verdict v
              WHERE v.rollout = e.rollout AND v.vehicle = e.vehicle AND v.counts
                AND v.at < \(moment) AND v.at > \(moment) - interval '90 days' \(condition)
              ORDER BY v.number DESC LIMIT 1)
            """
        }
        return try verdicts(
            """
            number = ANY (ARRAY(
              SELECT v.number FROM yardmaster.verdict v
              WHERE v.at >= \(moment) AND v.rollout !~ '\(Self.order)'
              UNION SELECT l.number FROM yardmaster.rollout r
              JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
              CROSS JOIN LATERAL \(earlier("")) o
              -- The last one is good on most vehicles, and nothing else is looked for.
              CROSS JOIN LATERAL (SELECT o.number UNION ALL SELECT g.number
                FROM \(earlier("AND NOT o.\(isGood) AND v.\(isGood)")) g) l
              WHERE r.name !~ '\(Self.order)'))
            """,
            ["\(max(0, since.milliseconds))"]
        )
    }

    private func verdicts(
        _ condition: String,
        _ values: [String?]
    ) throws(FleetError) -> [FleetVerdictRecord] {
        try rows(
            FleetStatement(
                "read the verdicts",
                """
                SELECT vehicle, serial, rollout, gateway, run, outcome, failure, sentence, version,
                  (extract(epoch FROM at) * 1000)::bigint
                FROM yardmaster.verdict WHERE counts AND (\(condition)) ORDER BY number
                """,
                values
            )
        ).compactMap { row in
            guard let vehicle = row.vehicle(0),
                let serial = row.text(1).flatMap({ Serial($0) }), let rollout = row.text(2),
                let gateway = row.text(3), let run = row.integer(4),
                let outcome = row.text(5).flatMap({ Outcome(rawValue: $0) }),
                let at = row.integer(9)
            else { return nil }
            return FleetVerdictRecord(
                vehicle: vehicle,
                serial: serial,
                rollout: rollout,
                gateway: gateway,
                run: Int(run),
                outcome: outcome,
                failure: row.text(6).flatMap { FailureClass(rawValue: $0) },
                sentence: row.text(7) ?? "",
                version: row.text(8).flatMap { FirmwareVersion($0) },
                at: WallTime(milliseconds: at)
            )
        }
    }

    /// When each vehicle of a rollout as it is, or this one, answered last, according to its
    /// verdicts and to its steps and debts.
    package func sightings(
        of vehicle: VehicleID?
    ) throws(FleetError) -> [(vehicle: VehicleID, at: WallTime)] {
        try rows(
            FleetStatement(
                "read when vehicles answered",
                """
                SELECT vehicle, (extract(epoch FROM max(at)) * 1000)::bigint FROM (
                  SELECT e.vehicle, l.at FROM yardmaster.rollout r
                  JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
                    AND e.vehicle = coalesce($1, e.vehicle)
                  CROSS JOIN LATERAL (SELECT v.at FROM yardmaster.verdict v
                    WHERE v.rollout = e.rollout AND v.vehicle = e.vehicle
                      AND (v.version IS NOT NULL OR v.outcome IN
                        ('succeeded', 'already-current', 'rolled-back', 'rejected'))
                    ORDER BY v.number DESC LIMIT 1) l
                  UNION ALL SELECT vehicle, begun FROM yardmaster.debt
                  UNION ALL SELECT s.vehicle, s.begun FROM yardmaster.rollout r
                  JOIN yardmaster.step s ON s.rollout = r.name AND s.beginning = r.beginning
                  UNION ALL SELECT vehicle, begun FROM yardmaster.step
                  WHERE outcome IS NULL OR outcome = 'in-doubt'
                ) a WHERE $1::text IS NULL OR vehicle = $1
                GROUP BY vehicle
                """,
                [vehicle?.text]
            )
        ).compactMap { row in
            guard let vehicle = row.vehicle(0), let at = row.integer(1)
            else { return nil }
            return (vehicle, WallTime(milliseconds: at))
        }
    }

    /// The pattern of the names of orders, which are the rollouts of `exec`.
    private static let order = "^(exec|update)-[0-9].*Z$"
}

extension Saying {
    /// Whether both are rows of the same command.
    fileprivate func isSame(as other: Saying) -> Bool {
        !vehicles.isEmpty && verb == other.verb && rollout == other.rollout
            && reason == other.reason && author == other.author
            && other.made.duration(to: made) < .seconds(1)
    }
}
