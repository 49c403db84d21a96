import Base

// The gate of a rollout, decided in the transaction that has its row.

extension FleetDatabase {
    /// Decides on the gate after its numbers have changed; returns whether it trips.
    ///
    /// The function that changed them answers with the row of the rollout and the numbers from before.
    @discardableResult
    func judge(_ answer: DatabaseRow?) throws(FleetError) -> Bool {
        let first = FleetRollout.columnCount
        guard let answer, let rollout = FleetRollout(answer), let attempted = answer.integer(first),
            let failed = answer.integer(first + 1)
        else { return false }
        let before = GateCount(attempted: Int(attempted), failed: Int(failed))
        let hold = rollout.rule.flatMap {
            rollout.count.hold(
                of: rollout.name,
                $0,
                after: before,
                under: rollout.hold,
                at: rollout.updated
            )
        }
        try save(rollout.headroom, hold, in: rollout)
        return hold != nil
    }

    /// Writes what has been decided, if it differs from the row.
    func save(
        _ room: Int?,
        _ hold: Hold? = nil,
        in rollout: FleetRollout
    ) throws(FleetError) {
        guard room != rollout.room || hold != nil else { return }
        _ = try rows(
            "decide on the gate",
            """
            UPDATE yardmaster.rollout SET room = $2::integer, hold = coalesce($3, hold),
              hold_reason = coalesce($4, hold_reason), hold_author = coalesce($5, hold_author),
              hold_made = coalesce(to_timestamp($6::bigint / 1000.0), hold_made)
            WHERE name = $1
            """,
            [
                rollout.name, room.map { "\($0)" }, hold?.kind.rawValue, hold?.reason,
                hold?.author, hold.map { "\($0.made.milliseconds)" },
            ]
        )
    }

    /// Ends those of these vehicles that all gateways at work have left; returns whether the gate trips with that.
    func endLeft(
        _ vehicles: [VehicleID],
        of rollout: FleetRollout,
        counting classes: [FailureClass]
    ) throws(FleetError) -> Bool {
        let operation = "end the vehicles that all gateways have left"
        guard !vehicles.isEmpty else { return false }
        let ends = try leftByAll(vehicles, of: rollout, operation)
        guard !ends.isEmpty else { return false }
        let shares = ends.map { end in
            var share = GateCount()
            if !end.isForgiven {
                share.count(
                    end.end.outcome,
                    end.end.failure,
                    touched: end.isTouched,
                    counting: classes
                )
            }
            return share
        }
        let found = try rows(
            operation,
            """
            SELECT \(FleetRollout.columns), o_attempted, o_failed FROM yardmaster.end_left($1,
              $2::bigint, $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
              $8::boolean[], $9::integer[], $10::integer[]) e, \(FleetRollout.answered)
            """,
            [
                rollout.name, "\(rollout.beginning)", Self.array(ends.map(\.end.vehicle.text)),
                Self.array(ends.map(\.end.outcome.rawValue)),
                Self.array(ends.map { $0.end.failure?.rawValue ?? "" }),
                Self.array(ends.map(\.end.sentence)), Self.array(ends.map(\.end.gateway)),
                Self.array(ends.map { "\($0.isTouched)" }),
                Self.array(shares.map { "\($0.attempted)" }),
                Self.array(shares.map { "\($0.failed)" }),
            ]
        )
        return try judge(found.first)
    }

    /// How a vehicle ends, and its share in the gate.
    private struct End {
        let isForgiven: Bool
        /// Whether this beginning has begun something on it.
        let isTouched: Bool
        let end: FleetEnd
    }

    private func leftByAll(
        _ vehicles: [VehicleID],
        of rollout: FleetRollout,
        _ operation: String
    ) throws(FleetError) -> [End] {
        let found = try rows(
            operation,
            """
            SELECT e.vehicle, e.forgiven, yardmaster.is_doubtful(e.vehicle),
              EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = e.serial),
              EXISTS (SELECT FROM yardmaster.owed o WHERE o.rollout = e.rollout
                AND o.vehicle = e.vehicle),
              e.touched OR EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = e.vehicle
                  AND s.rollout = e.rollout AND s.beginning = e.beginning)
                OR EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = e.serial
                  AND d.rollout = e.rollout AND d.begun >= r.begun)
                OR EXISTS (SELECT FROM yardmaster.owed o WHERE o.rollout = e.rollout
                  AND o.vehicle = e.vehicle AND o.epoch = e.epoch),
              m.outcome, m.failure, m.sentence, NULL, m.gateway
            FROM yardmaster.rollout r,
              LATERAL yardmaster.left_by_all(r.name, r.beginning, r.wave, $3::text[]) l
              JOIN yardmaster.execution e ON e.rollout = $1 AND e.beginning = $2::bigint
                AND e.vehicle = l
              LEFT JOIN (yardmaster.missed m JOIN yardmaster.workers($1, $2::bigint) w
                ON w = m.instance) ON m.rollout = e.rollout AND m.beginning = e.beginning
                AND m.vehicle = e.vehicle AND m.outcome IS NOT NULL
            WHERE r.name = $1 ORDER BY e.vehicle
            """,
            [
                rollout.name, "\(rollout.beginning)", Self.array(vehicles.map(\.text)),
            ]
        )
        var ends: [End] = []
        var rest = found[...]
        while let first = rest.first {
            let own = rest.prefix { $0.text(0) == first.text(0) }
            rest = rest.dropFirst(own.count)
            guard let vehicle = first.vehicle(0) else { continue }
            let known = LeftCase(
                vehicle: vehicle,
                isDoubtful: first.isTrue(2),
                isIndebted: first.isTrue(3),
                owesStep: first.isTrue(4),
                verdicts: own.compactMap { FleetEnd($0, from: 6, of: vehicle) }
            )
            ends.append(
                End(isForgiven: first.isTrue(1), isTouched: first.isTrue(5), end: known.end)
            )
        }
        return ends
    }
}
