package import Base

/// The vehicles and rules of a rollout, which every gateway has from the same plan.
package struct FleetPlan: Sendable {
    package struct Vehicle: Sendable {
        package let vehicle: VehicleID
        package let serial: Serial
        package let wave: Int

        package init(_ vehicle: VehicleID, _ serial: Serial, wave: Int) {
            (self.vehicle, self.serial, self.wave) = (vehicle, serial, wave)
        }
    }

    package let vehicles: [Vehicle]
    package let waves: Int
    package var gate: PauseRule?
    /// The vehicles of a run that has only some of them, for which waves do not wait; nil for all.
    package var only: [VehicleID]?

    package init(_ vehicles: [Vehicle], waves: Int) {
        (self.vehicles, self.waves) = (vehicles, waves)
    }
}

/// A wave in which no vehicle is under way any more.
package struct FleetWave: Sendable, Equatable {
    package let number: Int
    package let waves: Int
    package internal(set) var tally = WaveTally()
    /// The time since its end.
    package internal(set) var soaked = Duration.zero

    package var isLast: Bool { number >= waves - 1 }
}

extension FleetDatabase {
    /// Enters the plan's vehicles and rules; returns the active wave and the number of the last
    /// change.
    ///
    /// Nil when the rollout was begun again in the meantime.
    package func enlist(
        _ plan: FleetPlan,
        in rollout: String,
        beginning: Int,
        as holder: FleetHolder
    ) throws(FleetError) -> (wave: Int, changes: Int)? {
        let operation = "bring the plan's vehicles"
        var mostFailed: Int?
        var mostShare: Int?
        switch plan.gate?.failed {
        case .count(let count): mostFailed = count
        case .percent(let share): mostShare = share.hundredths
        case nil: break
        }
        let statement = FleetStatement(
            operation,
            """
            SELECT \(FleetRollout.columns), o_changes FROM yardmaster.enlist($1, $2::bigint, $3::uuid,
              $4::text[], $5::text[], $6::integer[], $7::integer, $8::integer, $9::integer,
              $10::integer, $11, $12::text[]) e, \(FleetRollout.answered)
            """,
            [
                rollout, "\(beginning)", holder.instance,
                Self.array(plan.vehicles.map(\.vehicle.text)),
                Self.array(plan.vehicles.map(\.serial.text)),
                Self.array(plan.vehicles.map { "\($0.wave)" }), "\(plan.waves)",
                mostFailed.map { "\($0)" }, mostShare.map { "\($0)" },
                "\(plan.gate?.atLeast ?? 0)", (plan.gate?.action ?? .pause).rawValue,
                plan.only.map { Self.array($0.map(\.text)) },
            ]
        )
        return try transaction(operation) { () throws(FleetError) in
            guard let row = try rows(statement).first, let known = FleetRollout(row),
                let changes = row.integer(FleetRollout.columnCount)
            else { return nil }
            try save(known.headroom, in: known)
            return (known.wave, Int(changes))
        }
    }

    /// How often a gateway looks at its rollout.
    package static let lookPause = Duration.seconds(5)
    /// How often the wave is looked at, by whichever gateway: a little less than `lookPause`, so that
    /// a gateway alone does so each time it looks at its rollout.
    package static let lookShare = Duration.seconds(4)
    /// How many vehicles are left in one statement, behind which a claim may have to wait.
    package static let mostLeftAtOnce = 100

    /// Leaves vehicles to the other gateways: each ends once all gateways at work have left it.
    ///
    /// Safe to repeat; the last call for a vehicle counts.
    package func leave(
        _ left: [LeftVehicle],
        in rollout: String,
        beginning: Int,
        as holder: FleetHolder
    ) throws(FleetError) {
        _ = try rows(
            "leave vehicles to others",
            """
            INSERT INTO yardmaster.missed AS m (rollout, beginning, vehicle, instance, gateway,
              outcome, failure, sentence)
            SELECT $1, $2::bigint, l.vehicle, $3::uuid, $4, nullif(l.outcome, ''),
              nullif(l.failure, ''), nullif(l.sentence, '')
            FROM unnest($5::text[], $6::text[], $7::text[], $8::text[])
              AS l(vehicle, outcome, failure, sentence)
            ON CONFLICT (rollout, beginning, vehicle, instance) DO UPDATE SET
              gateway = excluded.gateway, outcome = excluded.outcome,
              failure = excluded.failure, sentence = excluded.sentence
            """,
            [
                rollout, "\(beginning)", holder.instance, holder.gateway,
                Self.array(left.map(\.vehicle.text)),
                Self.array(left.map { $0.outcome?.rawValue ?? "" }),
                Self.array(left.map { $0.failure?.rawValue ?? "" }),
                Self.array(left.map(\.sentence)),
            ]
        )
    }

    /// Ends the vehicles of an aborted rollout that no gateway works on.
    package func abort(
        _ vehicles: [VehicleID],
        of rollout: String,
        beginning: Int,
        because why: String
    ) throws(FleetError) {
        _ = try rows(
            "report the vehicles that were aborted",
            "SELECT yardmaster.end_aborted($1, $2::bigint, $3::text[], $4)",
            [rollout, "\(beginning)", Self.array(vehicles.map(\.text)), why]
        )
    }

    /// Whether this gateway is to look at the wave for all of them: one does so in each `pause`.
    package func takeLook(
        at rollout: String,
        beginning: Int,
        every pause: Duration
    ) throws(FleetError) -> Bool {
        try !rows(
            "look at the wave for all gateways",
            """
            UPDATE yardmaster.rollout SET looked = yardmaster.clock()
            WHERE name = $1 AND beginning = $2::bigint AND hold IS NULL AND state = 'running'
              AND looked <= yardmaster.clock() - $3::bigint * interval '1 microsecond'
            RETURNING \(Self.unsynced)
            """,
            [rollout, "\(beginning)", pause.microseconds],
            isFrequent: true
        ).isEmpty
    }

    /// The active wave, once none of its vehicles is under way or waiting; nil before.
    ///
    /// Also ends the vehicles that all gateways have left. `classes` are the failure classes that the gate
    /// counts; empty means all.
    package func endedWave(
        of rollout: String,
        beginning: Int,
        counting classes: [FailureClass] = []
    ) throws(FleetError) -> FleetWave? {
        let operation = "look whether the wave has ended"
        let values = [rollout, "\(beginning)"]
        // Most looks find a wave under way: they lock nothing, and read each open vehicle once. What they find is all
        // that is read again while the row is locked: claims and verdicts wait for as much as ends.
        let found = try rows(operation, Self.dueWave, values)
        let left = found.compactMap { $0.vehicle(1) }
        guard found.first?.isTrue(0) == true || !left.isEmpty else { return nil }
        return try transaction(operation) { () throws(FleetError) in
            let locked = FleetStatement(
                operation,
                """
                SELECT \(FleetRollout.columns) FROM yardmaster.rollout
                WHERE name = $1 AND beginning = $2::bigint AND hold IS NULL AND state = 'running'
                FOR UPDATE
                """,
                values
            )
            guard let known = try rows(locked).first.flatMap({ FleetRollout($0) }),
                try !endLeft(left, of: known, counting: classes)
            else { return nil }
            var wave = FleetWave(number: known.wave, waves: known.waves)
            let ended = try rows(
                operation,
                "SELECT * FROM yardmaster.end_wave($1, $2::bigint)",
                values
            )
            for row in ended {
                wave.soaked = .microseconds(row.integer(0) ?? 0)
                let count = Int(row.integer(3) ?? 0)
                wave.tally.members += count
                if let outcome = row.text(1).flatMap({ Outcome(rawValue: $0) }) {
                    wave.tally.count(outcome, touched: row.isTrue(2), count: count)
                }
            }
            return ended.isEmpty ? nil : wave
        }
    }

    /// Whether the wave has ended, with each vehicle that is to be ended; its vehicles may be lost, and a wave of none
    /// does not end.
    private static let dueWave = """
        SELECT NOT EXISTS (SELECT FROM yardmaster.execution e WHERE e.rollout = r.name
            AND e.beginning = r.beginning AND e.wave <= r.wave AND e.state <> 'ended')
          AND EXISTS (SELECT FROM yardmaster.execution e WHERE e.rollout = r.name
            AND e.beginning = r.beginning), l
        FROM yardmaster.rollout r
        LEFT JOIN LATERAL yardmaster.left_by_all(r.name, r.beginning, r.wave, NULL) l ON true
        WHERE r.name = $1 AND r.beginning = $2::bigint AND r.hold IS NULL AND r.state = 'running'
          AND EXISTS (SELECT FROM yardmaster.workers(r.name, r.beginning))
        """

    /// Lets in the next wave, or finishes the rollout after the last one; false when another
    /// gateway has done so.
    package func advance(
        _ rollout: String,
        beginning: Int,
        from wave: FleetWave
    ) throws(FleetError) -> Bool {
        let change = wave.isLast ? "state = 'finished'" : "wave = wave + 1"
        return try !rows(
            "begin the next wave",
            """
            UPDATE yardmaster.rollout
            SET \(change), checker = NULL, updated = yardmaster.clock()
            WHERE name = $1 AND beginning = $2::bigint AND wave = $3::integer
              AND hold IS NULL AND state = 'running' AND wave_ended IS NOT NULL
            RETURNING wave
            """,
            [rollout, "\(beginning)", "\(wave.number)"]
        ).isEmpty
    }

    /// Pauses the rollout because of a reason against the next wave, unless another gateway was
    /// first.
    package func stop(
        _ rollout: String,
        beginning: Int,
        after wave: Int,
        reason: String
    ) throws(FleetError) {
        _ = try rows(
            "pause after the wave",
            """
            UPDATE yardmaster.rollout SET hold = 'paused', hold_reason = $4,
              hold_author = 'gate', hold_made = yardmaster.clock(), stopped_after = wave
            WHERE name = $1 AND beginning = $2::bigint AND wave = $3::integer
              AND hold IS NULL AND wave_ended IS NOT NULL
            """,
            [rollout, "\(beginning)", "\(wave)", reason]
        )
    }

    /// Whether this gateway has to run the check after the wave: only one does, and another one if
    /// that has vanished.
    package func takeCheck(
        of rollout: String,
        beginning: Int,
        after wave: Int,
        as holder: FleetHolder
    ) throws(FleetError) -> Bool {
        try !rows(
            "take the check after the wave",
            """
            UPDATE yardmaster.rollout r SET checker = $4::uuid
            WHERE r.name = $1 AND r.beginning = $2::bigint AND r.wave = $3::integer
              AND r.hold IS NULL AND (r.checker IS NULL OR r.checker = $4::uuid OR NOT EXISTS (
                SELECT FROM yardmaster.gateway g WHERE g.instance = r.checker
                  AND g.gone IS NULL AND g.heard > yardmaster.clock() - interval '2 minutes'))
            RETURNING r.name
            """,
            [rollout, "\(beginning)", "\(wave)", holder.instance]
        ).isEmpty
    }

    /// Marks this gateway as draining: waves do not wait for it to hear a vehicle.
    package func stepAside(_ holder: FleetHolder) throws(FleetError) {
        _ = try rows(
            "step aside",
            """
            UPDATE yardmaster.gateway SET draining = yardmaster.clock()
            WHERE instance = $1::uuid AND draining IS NULL
            """,
            [holder.instance]
        )
    }

    /// Takes part again after it stepped aside, and queues the vehicles that were deferred or not heard in
    /// the meantime.
    package func comeBack(
        to rollout: String,
        beginning: Int,
        as holder: FleetHolder
    ) throws(FleetError) {
        _ = try rows(
            "come back to the rollout",
            "SELECT yardmaster.come_back($1, $2::bigint, $3::uuid)",
            [rollout, "\(beginning)", holder.instance]
        )
    }

    /// Asks the gateway of this name to take no more vehicles; false when it is not at work.
    package func drain(_ gateway: String) throws(FleetError) -> Bool {
        try !rows(
            "drain the gateway",
            """
            UPDATE yardmaster.gateway SET drain = true
            WHERE name = $1 AND gone IS NULL
              AND heard > yardmaster.clock() - interval '2 minutes'
            RETURNING instance
            """,
            [gateway]
        ).isEmpty
    }
}
