package import Domain

/// The result of `clear` in the fleet.
package struct FleetCleared: Sendable, Equatable {
    package var debts: [String] = []
    package var answered: [String] = []
    package var owed: [String] = []
    /// Vehicles that `retry` has queued again.
    package var again: [String] = []
    package var failures = 0
    /// Vehicles that `retry` leaves as they are, with the reason: `inhibited` or `quarantined`.
    package var refused: [(vehicle: String, why: String)] = []
    /// A vehicle that a gateway is working on: nothing was changed.
    package var atWork: (vehicle: String, gateway: String)?

    package init() {}

    package static func == (left: FleetCleared, right: FleetCleared) -> Bool {
        left.debts == right.debts && left.answered == right.answered && left.owed == right.owed
            && left.failures == right.failures && left.atWork?.vehicle == right.atWork?.vehicle
    }
}

/// The result of `retry` of a whole rollout in the fleet.
package struct FleetRearmed: Sendable, Equatable {
    /// `done` even if there was no vehicle to try again; nil when the fleet does not know the rollout.
    package var answer: VerbAnswer? = .done
    package var isPaused = false
    package var vehicles: [String] = []
    /// Vehicles that were left out because they are in doubt.
    package var doubtful: [String] = []

    package init() {}
}

/// People's commands, in force for every gateway from the transaction that answers.
extension FleetDatabase {
    /// Pauses or aborts a rollout; returns nil when the fleet does not know it.
    package func hold(
        _ rollout: String,
        _ kind: Hold.Kind,
        reason: String,
        by author: String
    ) throws(FleetError) -> VerbAnswer? {
        let found = try rows(
            FleetStatement(
                "set what holds the rollout",
                """
                WITH r AS MATERIALIZED (
                  SELECT name, hold, state = 'finished' AND NOT EXISTS (
                    SELECT FROM yardmaster.gateway g WHERE g.rollout = $1 AND g.gone IS NULL
                      AND g.heard > yardmaster.clock() - interval '2 minutes') AS is_over
                  FROM yardmaster.rollout WHERE name = $1 FOR UPDATE
                ), done AS (
                  UPDATE yardmaster.rollout n SET hold = $2, hold_reason = $3, hold_author = $4,
                    hold_made = yardmaster.clock(), updated = yardmaster.clock()
                  FROM r WHERE n.name = r.name
                    AND (r.hold IS NULL AND NOT ($2 = 'aborted' AND r.is_over)
                      OR r.hold = 'paused' AND $2 = 'aborted')
                  RETURNING n.name
                ), said AS (
                  INSERT INTO yardmaster.said (verb, rollout, reason, author)
                  SELECT $2, name, $3, $4 FROM done WHERE $4 <> 'gate'
                )
                SELECT r.hold, EXISTS (SELECT FROM done) FROM r
                """,
                [rollout, kind.rawValue, reason, author]
            )
        )
        guard let row = found.first else { return nil }
        if row.isTrue(1) { return .done }
        switch (kind, row.text(0)) {
        case (.paused, "aborted"): return .refused("it is aborted")
        case (_, "paused"): return .noChange("it is paused already")
        case (_, "aborted"): return .noChange("it is aborted already")
        default: return .refused("it is finished")
        }
    }

    /// Lifts a pause; returns nil when the fleet does not know the rollout.
    package func resume(_ rollout: String, by author: String) throws(FleetError) -> VerbAnswer? {
        let found = try rows(
            FleetStatement(
                "resume the rollout",
                """
                WITH r AS MATERIALIZED (
                  -- A wave that has ended is answered only when it was that wave that paused the
                  -- rollout: other pauses take nothing from its soak time, check and question.
                  SELECT name, hold, coalesce(stopped_after = wave AND wave_ended IS NOT NULL
                    AND state = 'running' AND wave < waves - 1, false) AS is_answer
                  FROM yardmaster.rollout WHERE name = $1 FOR UPDATE
                ), done AS (
                  UPDATE yardmaster.rollout n SET hold = NULL, hold_reason = NULL,
                    hold_author = NULL, hold_made = NULL, resumed = n.resumed + 1,
                    attempted = 0, failed = 0, stopped_after = NULL,
                    wave = CASE WHEN r.is_answer THEN n.wave + 1 ELSE n.wave END,
                    updated = yardmaster.clock()
                  FROM r WHERE n.name = r.name AND r.hold = 'paused'
                  RETURNING n.name, n.beginning
                ), forgiven AS (
                  UPDATE yardmaster.execution e SET forgiven = true, attempted = 0, failed = 0
                  FROM done WHERE e.rollout = done.name AND e.beginning = done.beginning
                    AND e.counted
                ), said AS (
                  INSERT INTO yardmaster.said (verb, rollout, reason, author)
                  SELECT 'resume', name, '', $2 FROM done
                )
                SELECT r.hold FROM r
                """,
                [rollout, author]
            )
        )
        guard let row = found.first else { return nil }
        switch row.text(0) {
        case "paused": return .done
        case "aborted": return .refused("it is aborted, and that is for good")
        default: return .noChange("it is not paused")
        }
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
            FleetStatement(
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
            )
        ).first?.time(0)
    }

    /// Lifts inhibits; returns how many there were.
    package func uninhibit(
        _ vehicles: [VehicleID?],
        by author: String
    ) throws(FleetError) -> Int {
        try rows(
            FleetStatement(
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
            )
        ).count
    }

    /// Settles vehicles after a person has looked: nothing is owed to them, and nothing is in doubt
    /// on those named in full; `outcome` states whether their steps were carried out.
    package func answer(
        _ vehicles: [VehicleID],
        named: Set<VehicleID>,
        as outcome: String,
        verb: String,
        by author: String
    ) throws(FleetError) -> FleetCleared {
        let isClear = verb == "clear"
        let found = try rows(
            FleetStatement(
                "\(verb) vehicles",
                """
                WITH busy AS MATERIALIZED (
                  SELECT m.vehicle, coalesce(g.name, m.holder::text) AS gateway
                  FROM yardmaster.module m LEFT JOIN yardmaster.gateway g ON g.instance = m.holder
                  WHERE m.vehicle = ANY ($1::text[]) AND m.holder IS NOT NULL
                    AND m.expires > yardmaster.clock()
                ), refused AS MATERIALIZED (
                  SELECT v.vehicle, CASE WHEN yardmaster.is_inhibited(v.vehicle)
                    THEN 'inhibited' ELSE 'quarantined' END AS why
                  FROM unnest($1::text[]) AS v(vehicle) WHERE NOT $5::boolean
                    AND (yardmaster.is_inhibited(v.vehicle) OR EXISTS (
                      SELECT FROM yardmaster.rollout r JOIN yardmaster.execution e
                        ON e.rollout = r.name AND e.beginning = r.beginning
                          AND e.vehicle = v.vehicle
                      WHERE yardmaster.is_quarantined(v.vehicle, r.plan)))
                ), may AS MATERIALIZED (
                  -- If a vehicle that is named is refused, nothing is changed; others are left out.
                  SELECT v.vehicle FROM unnest($1::text[]) AS v(vehicle)
                  WHERE NOT EXISTS (SELECT FROM refused f WHERE f.vehicle = ANY ($2::text[]))
                    AND NOT EXISTS (SELECT FROM refused f WHERE f.vehicle = v.vehicle)
                ), steps AS (
                  UPDATE yardmaster.step s SET outcome = $3, settled = yardmaster.clock(), author = $4
                  WHERE s.vehicle = ANY ($2::text[]) AND s.vehicle IN (SELECT vehicle FROM may)
                    AND (s.outcome IS NULL OR s.outcome = 'in-doubt')
                    AND NOT EXISTS (SELECT FROM busy WHERE $5::boolean OR busy.vehicle = s.vehicle)
                  RETURNING s.vehicle
                ), debts AS (
                  DELETE FROM yardmaster.debt d WHERE $5::boolean AND d.vehicle = ANY ($1::text[])
                    AND NOT EXISTS (SELECT FROM busy) RETURNING d.vehicle
                ), owed AS (
                  DELETE FROM yardmaster.owed o WHERE $5::boolean AND o.vehicle = ANY ($1::text[])
                    AND NOT EXISTS (SELECT FROM busy) RETURNING o.vehicle
                ), failures AS (
                  DELETE FROM yardmaster.failure f WHERE $5::boolean
                    AND f.vehicle = ANY ($1::text[])
                    AND NOT EXISTS (SELECT FROM busy) RETURNING f.vehicle
                ), again AS (
                  UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1,
                    outcome = NULL, failure = NULL, sentence = NULL, version = NULL
                  FROM yardmaster.rollout r WHERE NOT $5::boolean
                    AND r.name = e.rollout AND r.beginning = e.beginning
                    AND e.vehicle IN (SELECT vehicle FROM may)
                    AND (e.vehicle = ANY ($2::text[]) OR NOT yardmaster.is_doubtful(e.vehicle))
                    AND NOT EXISTS (SELECT FROM busy WHERE busy.vehicle = e.vehicle)
                    AND (e.state IN ('ended', 'queued')
                        AND e.outcome NOT IN ('succeeded', 'already-current', 'skipped', 'aborted')
                      OR e.state = 'queued' AND EXISTS (SELECT FROM yardmaster.missed m
                        WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                          AND m.vehicle = e.vehicle AND m.outcome IS NOT NULL))
                  RETURNING e.rollout, e.beginning, e.vehicle
                ), heard AS (
                  DELETE FROM yardmaster.missed m USING again WHERE m.rollout = again.rollout
                    AND m.beginning = again.beginning AND m.vehicle = again.vehicle
                ), opened AS (
                  UPDATE yardmaster.rollout r SET changes = r.changes + 1, state = 'running'
                  WHERE r.name IN (SELECT rollout FROM again)
                ), said AS (
                  INSERT INTO yardmaster.said (verb, vehicle, reason, author)
                  SELECT $6, vehicle, '', $4 FROM may
                  WHERE NOT EXISTS (SELECT FROM busy WHERE $5::boolean)
                )
                SELECT 'busy', vehicle, gateway FROM busy
                UNION ALL SELECT DISTINCT 'step', vehicle, NULL FROM steps
                UNION ALL SELECT DISTINCT 'again', vehicle, NULL FROM again
                UNION ALL SELECT 'debt', vehicle, NULL FROM debts
                UNION ALL SELECT DISTINCT 'owed', vehicle, NULL FROM owed
                UNION ALL SELECT 'failure', vehicle, NULL FROM failures
                UNION ALL SELECT 'refused', vehicle, why FROM refused
                ORDER BY 1, 2
                """,
                [
                    Self.array(vehicles.map(\.text)), Self.array(named.map(\.text).sorted()),
                    outcome, author, "\(isClear)", verb,
                ]
            )
        )
        var cleared = FleetCleared()
        for row in found {
            guard let vehicle = row.text(1) else { continue }
            switch row.text(0) {
            case "busy": cleared.atWork = cleared.atWork ?? (vehicle, row.text(2) ?? "")
            case "step": cleared.answered.append(vehicle)
            case "debt": cleared.debts.append(vehicle)
            case "owed": cleared.owed.append(vehicle)
            case "again": cleared.again.append(vehicle)
            case "refused": cleared.refused.append((vehicle, row.text(2) ?? ""))
            default: cleared.failures += 1
            }
        }
        return cleared
    }

    /// The inhibits that are in force now.
    package func inhibits() throws(FleetError) -> [Inhibit] {
        try rows(
            FleetStatement(
                "read the inhibits",
                """
                SELECT vehicle, reason, author, (extract(epoch FROM expires) * 1000)::bigint,
                  (extract(epoch FROM made) * 1000)::bigint
                FROM yardmaster.inhibit
                WHERE expires IS NULL OR expires > yardmaster.clock() ORDER BY vehicle
                """
            )
        ).map { Inhibit($0, from: 0) }
    }

    /// Which of these vehicles have failed at least `limit` times on their release.
    package func quarantined(
        _ releases: [VehicleID: SHA256Digest],
        after limit: Int
    ) throws(FleetError) -> [FleetQuarantine] {
        let vehicles = releases.keys.sorted { $0.text < $1.text }
        return try rows(
            FleetStatement(
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
            )
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

    /// Removes the verdicts of all failed, unreachable and deferred vehicles of a rollout, for every
    /// gateway and in one transaction; never one in doubt.
    package func retry(
        all rollout: String,
        reason: String,
        by author: String
    ) throws(FleetError) -> FleetRearmed {
        var rearmed = FleetRearmed()
        for row in try rows(
            FleetStatement(
                "retry the rollout",
                "SELECT word, o_vehicle FROM yardmaster.retry($1, $2, $3)",
                [rollout, author, reason]
            )
        ) {
            switch row.text(0) {
            case "unknown": rearmed.answer = nil
            case "aborted": rearmed.answer = .refused("it is aborted, and that is for good")
            case "paused": rearmed.isPaused = true
            case "again": rearmed.vehicles += [row.text(1)].compactMap(\.self)
            default: rearmed.doubtful += [row.text(1)].compactMap(\.self)
            }
        }
        return rearmed
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
        let found = try rows(FleetStatement(operation, text, values))
        return Set(found.compactMap { $0.vehicle(0) })
    }
}
