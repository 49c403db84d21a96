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
            "read the clock and this user's rights",
            """
            SELECT (extract(epoch FROM yardmaster.clock()) * 1000)::bigint,
              \(FleetUser.isOperator)
            """
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
        return ground
    }

    package func debts() throws(FleetError) -> [Debt] {
        try rows(
            "read the debts",
            "\(Debt.shared) ORDER BY vehicle, serial"
        ).compactMap { Debt($0) }
    }

    private func doubtsOfAll() throws(FleetError) -> [IntentRecord] {
        try rows(
            "read the doubts",
            """
            SELECT d.vehicle, d.rollout, d.digest, d.ordinal, d.action, d.gateway, r.number,
              (extract(epoch FROM d.begun) * 1000)::bigint
            FROM (\(Self.doubts)) d LEFT JOIN yardmaster.run r ON r.instance = d.instance
            ORDER BY d.begun, d.vehicle, d.digest, d.ordinal
            """
        ).compactMap { IntentRecord(doubt: $0) }
    }

    private func owedByAll() throws(FleetError) -> [OwedStep] {
        try rows(
            "read what is owed",
            "\(OwedStep.shared) ORDER BY vehicle, rollout, digest, ordinal"
        ).compactMap { OwedStep($0) }
    }

    /// The failures of these vehicles; nil for all.
    package func failures(of vehicles: [VehicleID]?) throws(FleetError) -> [FailureCount] {
        let names = vehicles.map { FleetDatabase.array($0.map(\.text)) }
        return try rows(
            "read the failures",
            """
            \(FailureCount.shared)
            \(names == nil ? "" : "WHERE vehicle = ANY ($1::text[])") ORDER BY vehicle, release
            """,
            names.map { [$0] } ?? []
        ).compactMap { FailureCount($0) }
    }

    // MARK: Rollouts

    /// Whether the rollout has more vehicles than that.
    package func hasMore(
        than count: Int,
        in rollout: FleetRollout
    ) throws(FleetError) -> Bool {
        try !rows(
            "look for one more vehicle",
            """
            SELECT FROM yardmaster.execution WHERE rollout = $1 AND beginning = $2::bigint
            OFFSET $3::bigint LIMIT 1
            """,
            [rollout.name, "\(rollout.beginning)", "\(count)"]
        ).isEmpty
    }

    /// The state of a rollout's vehicles.
    package func view(
        of rollout: FleetRollout,
        _ scope: FleetView.Scope = .all
    ) throws(FleetError) -> FleetView {
        var view = FleetView(rollout)
        var verdicts = FleetVehicle.verdict
        if case .all = scope { verdicts = FleetVehicle.verdicts }
        let (condition, values) = scope.condition
        view.vehicles = try rows(
            "read the vehicles of the rollout",
            """
            SELECT \(FleetVehicle.columns) FROM \(FleetVehicle.source(verdicts))
            WHERE r.name = $1 AND \(condition) ORDER BY e.wave, e.vehicle
            """,
            [rollout.name, "\(max(0, rollout.begun.milliseconds - 1))"] + values
        ).compactMap { FleetVehicle($0) }
        let underWay = try rows(
            "read the gate",
            """
            SELECT count(*) FROM yardmaster.execution
            WHERE rollout = $1 AND beginning = $2::bigint AND state = 'claimed'
            """,
            [rollout.name, "\(rollout.beginning)"]
        ).first?.integer(0)
        view.underWay = Int(underWay ?? 0)
        view.runs = try rows(
            "read the runs of the rollout",
            """
            SELECT \(FleetRun.columns) FROM \(FleetRun.source)
            JOIN (SELECT max(id) AS id FROM yardmaster.run
              WHERE rollout = $1 AND beginning = $2::bigint GROUP BY gateway) l ON l.id = r.id
            ORDER BY r.id
            """,
            [rollout.name, "\(rollout.beginning)"]
        ).compactMap { FleetRun($0) }
        switch scope {
        case .all: view.failures = try failures(of: nil)
        case .only(let vehicle): view.failures = try failures(of: [vehicle])
        case .open(let owing):
            view.failures = try failures(of: view.vehicles.map(\.vehicle))
            view.done = try done(
                in: rollout,
                except: owing,
                since: view.runs.last?.byServer.started
            )
        }
        return view
    }

    private func done(
        in rollout: FleetRollout,
        except owing: FleetView.Owing,
        since run: WallTime?
    ) throws(FleetError) -> [FleetView.Done] {
        try rows(
            "read which vehicles are done",
            """
            SELECT wave, outcome, count(*), string_agg(vehicle, E'\\n'), count(recent),
              (extract(epoch FROM min(recent)) * 1000)::bigint,
              (extract(epoch FROM max(recent)) * 1000)::bigint
            FROM (SELECT e.wave, e.outcome, e.vehicle,
                CASE WHEN e.since >= to_timestamp($5::double precision / 1000) THEN e.since END AS recent
              FROM yardmaster.execution e
              WHERE e.rollout = $1 AND e.beginning = $2::bigint AND \(FleetView.Scope.done)) d
            GROUP BY 1, 2 ORDER BY 1, 2
            """,
            [rollout.name, "\(rollout.beginning)"] + owing.values
                // The server rounds to milliseconds, upwards too.
                + ["\(max(0, (run ?? rollout.begun).milliseconds - 1))"]
        ).compactMap { FleetView.Done($0) }
    }

    /// The rollouts that are no orders, the one that was worked on last first; the vehicles of `known` are not counted.
    package func briefs(except known: String? = nil) throws(FleetError) -> [FleetBrief] {
        let found = try rows(
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
                AND r.name IS DISTINCT FROM $1
              GROUP BY 1, 2, 3, 4
            ) e ON true
            ORDER BY r.updated DESC, r.name
            """,
            [known]
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
            "look for the vehicle",
            """
            SELECT \(FleetRollout.columns) FROM yardmaster.rollout r
            WHERE EXISTS (SELECT FROM yardmaster.execution e WHERE e.rollout = r.name
              AND e.beginning = r.beginning AND e.vehicle = $1)
            ORDER BY r.updated DESC, r.name
            """,
            [vehicle.text]
        ).compactMap { FleetRollout($0) }
    }

    /// All rollouts, orders too.
    package func rolloutNames() throws(FleetError) -> Set<String> {
        Set(
            try rows(
                "read the rollouts' names",
                "SELECT name FROM yardmaster.rollout"
            ).compactMap { $0.text(0) }
        )
    }

    /// The rollouts that were at work since then, or that are named, the one that was worked on last first.
    package func rollouts(
        since: WallTime,
        or names: [String]
    ) throws(FleetError) -> [FleetRollout] {
        try rows(
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
        ).compactMap { FleetRollout($0) }
    }

    /// The last run of each rollout, by its name.
    package func lastRuns() throws(FleetError) -> [String: FleetRun] {
        var runs: [String: FleetRun] = [:]
        for run in try rows(
            "read the last runs",
            """
            SELECT \(FleetRun.columns) FROM yardmaster.rollout n CROSS JOIN LATERAL (
              SELECT l.* FROM yardmaster.run l WHERE l.rollout = n.name
              ORDER BY l.id DESC LIMIT 1) r
            LEFT JOIN yardmaster.gateway g ON g.instance = r.instance
            """
        ).compactMap({ FleetRun($0) }) { runs[run.run.rollout] = run }
        return runs
    }

    /// The zone of the window of the rollout that was worked on last and has one, of those of this name if any.
    package func zone(of rollout: String?) throws(FleetError) -> String? {
        try rows(
            "look for the zone",
            """
            SELECT p.zone FROM yardmaster.rollout r JOIN yardmaster.plan p ON p.digest = r.plan
            WHERE ($1::text IS NULL OR r.name = $1) AND p.zone IS NOT NULL
            ORDER BY r.updated DESC LIMIT 1
            """,
            [rollout]
        ).first?.text(0)
    }

    /// The shown part of a plan; nil when no gateway has stored it.
    package func planView(_ digest: String) throws(FleetError) -> String? {
        try rows(
            "read the plan",
            "SELECT view FROM yardmaster.plan WHERE digest = $1",
            [digest]
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
            "read the runs",
            """
            SELECT \(FleetRun.columns) FROM \(FleetRun.source)
            WHERE $1::text IS NULL OR r.rollout = $1 ORDER BY r.id DESC LIMIT $2::bigint
            """,
            [rollout, "\(limit)"]
        ).compactMap { FleetRun($0) }
    }

    /// The run of this number of a gateway: the last one where its state directory was made again.
    package func run(_ number: Int, of gateway: String) throws(FleetError) -> FleetRun? {
        try rows(
            "look for run \(gateway)/\(number)",
            """
            SELECT \(FleetRun.columns) FROM \(FleetRun.source)
            WHERE r.gateway = $1 AND r.number = $2::bigint ORDER BY r.id DESC LIMIT 1
            """,
            [gateway, "\(number)"]
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

    /// How vehicles have ended since then, orders excepted, and when they answered since.
    ///
    /// From before it, the last end of each vehicle of a rollout, and the last `succeeded` or `already-current` one.
    /// The earlier ones are those of the day before, and for the other vehicles found one by one, so that nights of long
    /// ago are not read.
    package func endings(
        since: WallTime
    ) throws(FleetError) -> (endings: [Ending], answered: [VehicleID: WallTime]) {
        let found = try rows(
            "read how vehicles have ended",
            Self.endings,
            ["\(max(0, since.milliseconds))"]
        )
        var endings: [Ending] = []
        var answered: [VehicleID: WallTime] = [:]
        for row in found {
            guard let vehicle = row.vehicle(0), let at = row.time(2) else { continue }
            if let outcome = row.text(1).flatMap({ Outcome(rawValue: $0) }) {
                endings.append(Ending(vehicle, outcome, at: at))
            }
            if row.isTrue(3) { answered[vehicle] = max(at, answered[vehicle] ?? at) }
        }
        return (endings, answered)
    }

    private static let endings: String = {
        let moment = "to_timestamp($1::double precision / 1000)"
        let isGood = "outcome IN ('succeeded', 'already-current')"
        func earlier(_ condition: String) -> String {
            """
            (SELECT v.number, v.vehicle, v.outcome, v.at FROM yardmaster.verdict v
              WHERE v.rollout = e.rollout AND v.vehicle = e.vehicle AND v.counts
                AND v.at < \(moment) AND v.at > \(moment) - interval '90 days' AND \(condition)
              ORDER BY v.number DESC LIMIT 1)
            """
        }
        return """
            WITH y AS MATERIALIZED (
              SELECT DISTINCT ON (v.rollout, v.vehicle) v.rollout, v.number, v.vehicle, v.outcome, v.at
              FROM yardmaster.verdict v
              WHERE v.counts AND v.at < \(moment) AND v.at >= \(moment) - interval '1 day'
              ORDER BY v.rollout, v.vehicle, v.number DESC
            )
            SELECT a.vehicle, a.outcome, (extract(epoch FROM a.at) * 1000)::bigint, a.answered FROM (
              SELECT v.number, v.vehicle, v.at, \(answered) AS answered,
                CASE WHEN v.counts AND v.rollout !~ '\(order)' THEN v.outcome END AS outcome
              FROM yardmaster.verdict v WHERE v.at >= \(moment)
              UNION ALL SELECT l.number, l.vehicle, l.at, false, l.outcome FROM yardmaster.rollout r
              JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
              LEFT JOIN y ON y.rollout = e.rollout AND y.vehicle = e.vehicle
              CROSS JOIN LATERAL (
                SELECT y.number, y.vehicle, y.outcome, y.at WHERE y.number IS NOT NULL
                UNION ALL SELECT * FROM \(earlier("y.number IS NULL")) f) o
              -- The last one is good on most vehicles, and nothing else is looked for.
              CROSS JOIN LATERAL (SELECT o.* UNION ALL SELECT *
                FROM \(earlier("NOT o.\(isGood) AND v.\(isGood)")) g) l
              WHERE r.name !~ '\(order)'
            ) a ORDER BY a.number
            """
    }()

    /// Whether the vehicle of a verdict `v` has answered.
    private static let answered = """
        (v.version IS NOT NULL
          OR v.outcome IN ('succeeded', 'already-current', 'rolled-back', 'rejected'))
        """

    private func verdicts(
        _ condition: String,
        _ values: [String?]
    ) throws(FleetError) -> [FleetVerdictRecord] {
        try rows(
            "read the verdicts",
            """
            SELECT vehicle, serial, rollout, gateway, run, outcome, failure, sentence, version,
              (extract(epoch FROM at) * 1000)::bigint
            FROM yardmaster.verdict WHERE counts AND (\(condition)) ORDER BY number
            """,
            values
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
    /// verdicts and to its steps and debts; the verdicts on those of which that is `known` are not read.
    package func sightings(
        of vehicle: VehicleID?,
        known: [VehicleID: WallTime] = [:]
    ) throws(FleetError) -> [Sighting] {
        let found = try rows(
            "read when vehicles answered",
            """
            SELECT vehicle, (extract(epoch FROM max(at)) * 1000)::bigint FROM (
              SELECT e.vehicle, l.at FROM yardmaster.rollout r
              JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
                AND e.vehicle = coalesce($1, e.vehicle) AND e.vehicle <> ALL ($2::text[])
              CROSS JOIN LATERAL (SELECT v.at FROM yardmaster.verdict v
                WHERE v.rollout = e.rollout AND v.vehicle = e.vehicle
                  AND \(Self.answered)
                ORDER BY v.number DESC LIMIT 1) l
              UNION ALL SELECT vehicle, begun FROM yardmaster.debt
              UNION ALL SELECT s.vehicle, s.begun FROM yardmaster.rollout r
              JOIN yardmaster.step s ON s.rollout = r.name AND s.beginning = r.beginning
              UNION ALL SELECT vehicle, begun FROM yardmaster.step
              WHERE outcome IS NULL OR outcome = 'in-doubt'
            ) a WHERE $1::text IS NULL OR vehicle = $1
            GROUP BY vehicle
            """,
            [vehicle?.text, Self.array(known.keys.map(\.text))]
        )
        var last = known
        for row in found {
            guard let vehicle = row.vehicle(0), let at = row.time(1) else { continue }
            last[vehicle] = max(at, last[vehicle] ?? at)
        }
        return last.map { Sighting($0, at: $1) }
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
