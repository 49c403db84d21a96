package import Base

/// People's commands, in force for every gateway from the transaction that answers.
///
/// Each locks the rows of its rollouts first, as gateways do that ask for a right.
extension FleetDatabase {
    /// Pauses or aborts a rollout; returns nil when the fleet does not know it.
    package func hold(
        _ rollout: String,
        _ kind: Hold.Kind,
        reason: String,
        by author: String
    ) throws(FleetError) -> VerbAnswer? {
        let operation = "set what holds the rollout"
        return try transaction(operation) { () throws(FleetError) in
            let found = try rows(
                operation,
                """
                SELECT hold, state = 'finished' AND NOT EXISTS (
                  SELECT FROM yardmaster.gateway g WHERE g.rollout = $1 AND g.gone IS NULL
                    AND g.heard > yardmaster.clock() - interval '2 minutes')
                FROM yardmaster.rollout WHERE name = $1 FOR UPDATE
                """,
                [rollout]
            )
            guard let row = found.first else { return nil }
            let hold = row.text(0).flatMap { Hold.Kind(rawValue: $0) }
            let answer = VerbAnswer(to: kind, under: hold, isOver: row.isTrue(1))
            guard answer == .done else { return answer }
            _ = try rows(
                operation,
                """
                UPDATE yardmaster.rollout SET hold = $2, hold_reason = $3, hold_author = $4,
                  hold_made = yardmaster.clock(), updated = yardmaster.clock()
                WHERE name = $1
                """,
                [rollout, kind.rawValue, reason, author]
            )
            if author != Hold.gate { try note(kind.rawValue, rollout, reason: reason, by: author) }
            return answer
        }
    }

    /// Holds a rollout as a machine that joins the fleet holds it, unless it is held already.
    ///
    /// What was said then is in that machine's journal.
    package func bring(_ hold: Hold) throws(FleetError) {
        _ = try rows(
            "hold the rollout as this machine does",
            """
            UPDATE yardmaster.rollout SET hold = $2, hold_reason = $3, hold_author = $4,
              hold_made = yardmaster.clock(), updated = yardmaster.clock()
            WHERE name = $1 AND hold IS NULL
            """,
            [hold.rollout, hold.kind.rawValue, hold.reason, hold.author]
        )
    }

    /// Lifts a pause; returns nil when the fleet does not know the rollout.
    package func resume(_ rollout: String, by author: String) throws(FleetError) -> VerbAnswer? {
        let operation = "resume the rollout"
        return try transaction(operation) { () throws(FleetError) in
            guard let found = try lock(rollout, operation).first else { return nil }
            let answer = VerbAnswer(toResumeUnder: found.hold?.kind)
            guard answer == .done else { return answer }
            _ = try rows(
                operation,
                """
                WITH done AS (
                  UPDATE yardmaster.rollout SET hold = NULL, hold_reason = NULL,
                    hold_author = NULL, hold_made = NULL, resumed = resumed + 1,
                    attempted = 0, failed = 0, room = $2::integer, stopped_after = NULL,
                    -- A wave that has ended is answered only when it was that wave that paused the
                    -- rollout: other pauses take nothing from its soak time, check and question.
                    wave = CASE WHEN stopped_after = wave AND wave_ended IS NOT NULL
                      AND state = 'running' AND wave < waves - 1 THEN wave + 1 ELSE wave END,
                    updated = yardmaster.clock()
                  WHERE name = $1 RETURNING name, beginning
                )
                UPDATE yardmaster.execution e SET forgiven = true, attempted = 0, failed = 0
                FROM done WHERE e.rollout = done.name AND e.beginning = done.beginning
                  AND e.counted
                """,
                [rollout, found.rule.map { "\(GateCount().headroom($0))" }]
            )
            try note("resume", rollout, by: author)
            return answer
        }
    }

    /// Records what a person has said about a rollout, or about each of these vehicles.
    private func note(
        _ verb: String,
        _ rollout: String? = nil,
        on vehicles: [VehicleID]? = nil,
        reason: String = "",
        by author: String
    ) throws(FleetError) {
        _ = try rows(
            "note what was said",
            """
            INSERT INTO yardmaster.said (verb, rollout, vehicle, reason, author)
            SELECT $1, $2, v, $4, $5 FROM unnest(coalesce($3::text[], ARRAY[NULL])) AS v
            """,
            [verb, rollout, vehicles.map { Self.array($0.map(\.text)) }, reason, author]
        )
    }

    /// Inhibits vehicles, or with nil the depot; replaces earlier inhibits.
    ///
    /// The server's clock decides when it is over, for every machine; returns when that is.
    @discardableResult
    package func inhibit(
        _ vehicles: [VehicleID?],
        reason: String,
        for length: Duration?,
        by author: String
    ) throws(FleetError) -> WallTime? {
        try rows(
            "leave vehicles alone",
            """
            WITH v AS MATERIALIZED (
              SELECT u.vehicle, t.expires FROM unnest($1::text[]) AS u(vehicle), (SELECT
                yardmaster.clock() + $4::bigint * interval '1 microsecond' AS expires) t
            ), said AS (
              INSERT INTO yardmaster.said (verb, vehicle, reason, author)
              SELECT 'inhibit', vehicle, $2, $3 FROM v
            )
            INSERT INTO yardmaster.inhibit AS i (vehicle, reason, author, expires)
            SELECT vehicle, $2, $3, expires FROM v
            ON CONFLICT (vehicle) DO UPDATE SET reason = excluded.reason,
              author = excluded.author, expires = excluded.expires, made = excluded.made
            RETURNING (extract(epoch FROM expires) * 1000)::bigint
            """,
            [
                Self.array(vehicles.map { $0?.text ?? "" }), reason, author,
                length?.microseconds,
            ]
        ).first?.time(0)
    }

    /// Lifts inhibits; returns how many there were.
    package func uninhibit(
        _ vehicles: [VehicleID?],
        by author: String
    ) throws(FleetError) -> Int {
        try rows(
            "have vehicles take part again",
            """
            WITH gone AS (
              DELETE FROM yardmaster.inhibit WHERE vehicle = ANY ($1::text[]) RETURNING vehicle
            ), said AS (
              INSERT INTO yardmaster.said (verb, vehicle, reason, author)
              SELECT 'uninhibit', vehicle, '', $2 FROM gone
            )
            SELECT vehicle FROM gone
            """,
            [Self.array(vehicles.map { $0?.text ?? "" }), author]
        ).count
    }

    // MARK: Vehicles

    /// Tries vehicles of a rollout, or with nil of every one, again on all gateways.
    ///
    /// Nil for `chosen` means all of the rollout. Returns nil when the fleet does not know the rollout.
    package func retry(
        _ rollout: String?,
        among chosen: [VehicleID]? = nil,
        named: Set<VehicleID> = [],
        reason: String = "",
        by author: String
    ) throws(FleetError) -> Rearmed? {
        let operation = "retry vehicles"
        return try transaction(operation) { () throws(FleetError) in
            let known = try lock(rollout, with: chosen, operation)
            if known.isEmpty, rollout != nil { return nil }
            let open = known.filter { $0.hold?.kind.isForGood != true }
            guard known.isEmpty || !open.isEmpty else {
                return Rearmed(hold: known.first?.hold?.kind)
            }
            let isPaused = open.contains { $0.hold?.kind == .paused }
            var rearmed = Rearmed(hold: isPaused ? .paused : nil)
            var ended: [(rollout: String, vehicle: VehicleID)] = []
            let cases = try cases(of: open.map(\.name), chosen, named, operation)
            for (rollout, vehicle, found) in cases {
                let isNamed = named.contains(vehicle)
                if found.isDoubtful, !isNamed { rearmed.doubtful.append(vehicle) }
                switch found.retry(vehicle, isNamed: isNamed) {
                case .left: continue
                case .refused(let why): rearmed.refused[vehicle] = why
                case .again(let verdict, let doubts):
                    if doubts, rearmed.answered.last != vehicle { rearmed.answered.append(vehicle) }
                    if verdict { ended.append((rollout, vehicle)) }
                }
            }
            guard rearmed.refused.isEmpty else {
                rearmed.answered = []
                return rearmed
            }
            rearmed.vehicles = Set(ended.map(\.vehicle)).sorted()
            rearmed.rollouts = Set(ended.map(\.rollout))
            guard !rearmed.all.isEmpty else { return rearmed }
            try answerDoubts(of: rearmed.answered, as: IntentRecord.failed, by: author)
            try takeVerdicts(ended, operation)
            if let rollout, chosen == nil {
                try note("retry", rollout, reason: reason, by: author)
            } else {
                try note("retry", on: rearmed.all, by: author)
            }
            return rearmed
        }
    }

    /// Clears vehicles after a person has looked: nothing is owed to them, and nothing is in doubt
    /// on those that were named in full.
    package func clear(
        _ vehicles: [VehicleID],
        named: Set<VehicleID>,
        by author: String
    ) throws(FleetError) -> Cleared {
        let operation = "clear vehicles"
        let names = Self.array(vehicles.map(\.text))
        return try transaction(operation) { () throws(FleetError) in
            _ = try lock(nil, with: vehicles, operation)
            var cleared = try clearable(vehicles, named: named, operation)
            guard cleared.atWork == nil else { return cleared }
            try answerDoubts(of: cleared.answered, as: IntentRecord.done, by: author)
            cleared.failures = try rows(
                operation,
                """
                WITH debts AS (
                  DELETE FROM yardmaster.debt WHERE vehicle = ANY ($1::text[])
                ), owed AS (
                  DELETE FROM yardmaster.owed WHERE vehicle = ANY ($1::text[])
                ), opened AS (
                  -- The rollout of an answered doubt goes on, also when it was finished.
                  UPDATE yardmaster.rollout r SET state = 'running'
                  WHERE r.state = 'finished' AND EXISTS (SELECT FROM yardmaster.execution e
                    WHERE e.rollout = r.name AND e.beginning = r.beginning
                      AND e.vehicle = ANY ($2::text[]) AND e.outcome = 'in-doubt')
                )
                DELETE FROM yardmaster.failure WHERE vehicle = ANY ($1::text[])
                RETURNING vehicle
                """,
                [names, Self.array(cleared.answered.map(\.text))]
            ).count
            if !cleared.isEmpty { try note("clear", on: vehicles, by: author) }
            return cleared
        }
    }

    private func clearable(
        _ vehicles: [VehicleID],
        named: Set<VehicleID>,
        _ operation: String
    ) throws(FleetError) -> Cleared {
        let names = [Self.array(vehicles.map(\.text))]
        func rows(_ text: String) throws(FleetError) -> [DatabaseRow] {
            try self.rows(operation, text, names)
        }
        let debts = try rows("\(Debt.shared) WHERE vehicle = ANY ($1::text[])")
            .compactMap { Debt($0) }
        let owed = try rows("\(OwedStep.shared) WHERE vehicle = ANY ($1::text[])")
            .compactMap { OwedStep($0) }
        let owing = Set(debts.map(\.vehicle) + owed.map(\.vehicle))
        let cases = try rows(
            """
            SELECT v.vehicle, yardmaster.is_doubtful(v.vehicle), m.gateway
            FROM unnest($1::text[]) AS v(vehicle) LEFT JOIN (\(Self.atWork)) m USING (vehicle)
            """
        ).compactMap { row -> (vehicle: VehicleID, found: VehicleCase)? in
            guard let vehicle = row.vehicle(0) else { return nil }
            let found = VehicleCase(
                isDoubtful: row.isTrue(1),
                isAtWork: row.text(2) != nil,
                gateway: row.text(2),
                owes: owing.contains(vehicle)
            )
            return (vehicle, found)
        }
        return Cleared(cases, named: named, debts, owed)
    }

    /// The rights that are in force, by vehicle, with the names of the gateways.
    private static let atWork = """
        SELECT m.vehicle, coalesce(min(g.name), min(m.holder::text)) AS gateway
        FROM yardmaster.module m LEFT JOIN yardmaster.gateway g ON g.instance = m.holder
        WHERE m.holder IS NOT NULL AND m.expires > yardmaster.clock() GROUP BY m.vehicle
        """

    /// Locks the rollout of this name, or with nil those that have one of the vehicles; their numbers stay as they are
    /// until the transaction ends.
    private func lock(
        _ rollout: String?,
        with vehicles: [VehicleID]? = nil,
        _ operation: String
    ) throws(FleetError) -> [FleetRollout] {
        try rows(
            operation,
            """
            SELECT \(FleetRollout.columns) FROM yardmaster.rollout r
            WHERE r.name = $1 OR $1::text IS NULL AND EXISTS (
              SELECT FROM yardmaster.execution e WHERE e.rollout = r.name
                AND e.beginning = r.beginning AND e.vehicle = ANY ($2::text[]))
            ORDER BY r.name FOR UPDATE
            """,
            [rollout, vehicles.map { Self.array($0.map(\.text)) }]
        ).compactMap { FleetRollout($0) }
    }

    /// What stands about vehicles in the present beginnings of rollouts; those that are named stand there also without a
    /// rollout.
    private func cases(
        of rollouts: [String],
        _ chosen: [VehicleID]?,
        _ named: Set<VehicleID>,
        _ operation: String
    ) throws(FleetError) -> [(rollout: String, vehicle: VehicleID, found: VehicleCase)] {
        try rows(
            operation,
            """
            SELECT f.rollout, f.vehicle, f.outcome, f.is_quarantined,
              yardmaster.is_doubtful(f.vehicle), yardmaster.is_inhibited(f.vehicle),
              m.vehicle IS NOT NULL
            FROM (
              SELECT e.rollout, e.vehicle, CASE WHEN e.state <> 'claimed' THEN
                -- A gateway has left it to the others, with a reason.
                coalesce(e.outcome, (SELECT 'deferred' FROM yardmaster.missed m
                  WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                    AND m.vehicle = e.vehicle AND m.outcome IS NOT NULL LIMIT 1)) END AS outcome,
                EXISTS (SELECT FROM yardmaster.plan p JOIN yardmaster.failure q
                  ON q.count >= p.quarantine_after AND q.vehicle = e.vehicle
                  WHERE p.digest = r.plan) AS is_quarantined
              FROM yardmaster.rollout r JOIN yardmaster.execution e
                ON e.rollout = r.name AND e.beginning = r.beginning
              WHERE r.name = ANY ($1::text[])
                AND ($2::text[] IS NULL OR e.vehicle = ANY ($2::text[]))
              UNION ALL SELECT '', v, NULL, false FROM unnest($3::text[]) AS v
            ) f LEFT JOIN (\(Self.atWork)) m ON m.vehicle = f.vehicle
            ORDER BY f.vehicle, f.rollout
            """,
            [
                Self.array(rollouts), chosen.map { Self.array($0.map(\.text)) },
                Self.array(named.map(\.text)),
            ]
        ).compactMap { row in
            guard let rollout = row.text(0), let vehicle = row.vehicle(1) else { return nil }
            let found = VehicleCase(
                outcome: row.text(2).flatMap { Outcome(rawValue: $0) },
                isDoubtful: row.isTrue(4),
                isInhibited: row.isTrue(5),
                isQuarantined: row.isTrue(3),
                isAtWork: row.isTrue(6)
            )
            return (rollout, vehicle, found)
        }
    }

    private func answerDoubts(
        of vehicles: [VehicleID],
        as outcome: String,
        by author: String
    ) throws(FleetError) {
        guard !vehicles.isEmpty else { return }
        _ = try rows(
            "answer for vehicles in doubt",
            """
            UPDATE yardmaster.step SET outcome = $2, settled = yardmaster.clock(), author = $3
            WHERE vehicle = ANY ($1::text[]) AND (outcome IS NULL OR outcome = 'in-doubt')
            """,
            [Self.array(vehicles.map(\.text)), outcome, author]
        )
    }

    /// Takes verdicts away, so that every gateway may try the vehicles again.
    private func takeVerdicts(
        _ ended: [(rollout: String, vehicle: VehicleID)],
        _ operation: String
    ) throws(FleetError) {
        guard !ended.isEmpty else { return }
        _ = try rows(
            operation,
            """
            WITH again AS (
              UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1,
                outcome = NULL, failure = NULL, sentence = NULL, version = NULL
              FROM unnest($1::text[], $2::text[]) AS a(rollout, vehicle)
              JOIN yardmaster.rollout r ON r.name = a.rollout
              WHERE e.rollout = r.name AND e.beginning = r.beginning AND e.vehicle = a.vehicle
              RETURNING e.rollout, e.beginning, e.vehicle
            ), heard AS (
              DELETE FROM yardmaster.missed m USING again WHERE m.rollout = again.rollout
                AND m.beginning = again.beginning AND m.vehicle = again.vehicle
            )
            UPDATE yardmaster.rollout r SET changes = r.changes + 1, state = 'running',
              updated = yardmaster.clock()
            WHERE r.name IN (SELECT rollout FROM again)
            """,
            [Self.array(ended.map(\.rollout)), Self.array(ended.map(\.vehicle.text))]
        )
        // A statement of its own sees that they are queued.
        _ = try rows(
            operation,
            "UPDATE yardmaster.rollout n SET wave_ended = \(FleetSchema.soak) WHERE n.name = ANY ($1)",
            [Self.array(ended.map(\.rollout))]
        )
    }

    /// The inhibits that are in force now.
    package func inhibits() throws(FleetError) -> [Inhibit] {
        try rows(
            "read the inhibits",
            """
            SELECT vehicle, reason, author, (extract(epoch FROM expires) * 1000)::bigint,
              (extract(epoch FROM made) * 1000)::bigint
            FROM yardmaster.inhibit
            WHERE expires IS NULL OR expires > yardmaster.clock() ORDER BY vehicle
            """
        ).map { Inhibit($0, from: 0) }
    }

    /// Which of these vehicles have failed at least `limit` times on their release.
    package func quarantined(
        _ releases: [VehicleID: SHA256Digest],
        after limit: Int
    ) throws(FleetError) -> [FleetQuarantine] {
        let vehicles = releases.keys.sorted { $0.text < $1.text }
        return try rows(
            "read which vehicles are in quarantine",
            """
            SELECT f.vehicle, f.count, f.message FROM yardmaster.failure f
            JOIN unnest($1::text[], $2::text[]) AS v(vehicle, release) USING (vehicle, release)
            WHERE f.count >= $3::integer ORDER BY f.vehicle
            """,
            [
                Self.array(vehicles.map(\.text)),
                Self.array(vehicles.map { releases[$0]?.description ?? "" }), "\(limit)",
            ]
        ).compactMap { row in
            row.vehicle(0).map {
                FleetQuarantine(
                    vehicle: $0,
                    count: Int(row.integer(1) ?? 0),
                    message: row.text(2) ?? ""
                )
            }
        }
    }

    /// Every vehicle of the rollouts as they are, and those of which something is kept.
    package func vehicles() throws(FleetError) -> Set<VehicleID> {
        try vehicles(
            "read the vehicles",
            """
            SELECT e.vehicle FROM yardmaster.rollout r JOIN yardmaster.execution e
              ON e.rollout = r.name AND e.beginning = r.beginning
            UNION SELECT vehicle FROM yardmaster.step WHERE outcome IS NULL OR outcome = 'in-doubt'
            UNION SELECT vehicle FROM yardmaster.debt UNION SELECT vehicle FROM yardmaster.owed
            UNION SELECT vehicle FROM yardmaster.inhibit WHERE vehicle <> ''
            UNION SELECT vehicle FROM yardmaster.failure
            """,
            []
        )
    }

    /// Which of these vehicles `vehicles` has, by key: the cost does not grow with the fleet or
    /// with time.
    package func known(_ vehicles: [VehicleID]) throws(FleetError) -> Set<VehicleID> {
        try self.vehicles(
            "look for the vehicles",
            Self.knownVehicles,
            [Self.array(vehicles.map(\.text))]
        )
    }

    package static let knownVehicles = """
        SELECT v.vehicle FROM unnest($1::text[]) AS v(vehicle), LATERAL (
          (SELECT 1 FROM yardmaster.rollout r JOIN yardmaster.execution e ON e.rollout = r.name
            AND e.beginning = r.beginning AND e.vehicle = v.vehicle LIMIT 1)
          UNION ALL (SELECT 1 FROM yardmaster.step s WHERE s.vehicle = v.vehicle
            AND (s.outcome IS NULL OR s.outcome = 'in-doubt') LIMIT 1)
          UNION ALL (SELECT 1 FROM yardmaster.debt d WHERE d.vehicle = v.vehicle LIMIT 1)
          UNION ALL (SELECT 1 FROM yardmaster.owed o WHERE o.vehicle = v.vehicle LIMIT 1)
          UNION ALL (SELECT 1 FROM yardmaster.inhibit i WHERE i.vehicle = v.vehicle)
          UNION ALL (SELECT 1 FROM yardmaster.failure f WHERE f.vehicle = v.vehicle LIMIT 1)
          LIMIT 1) k
        """

    private func vehicles(
        _ operation: String,
        _ text: String,
        _ values: [String?]
    ) throws(FleetError) -> Set<VehicleID> {
        let found = try rows(operation, text, values)
        return Set(found.compactMap { $0.vehicle(0) })
    }
}
