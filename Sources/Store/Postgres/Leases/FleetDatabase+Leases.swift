package import Base

extension FleetDatabase {
    /// Asks for the right to a module, in one transaction that is over before any radio work.
    ///
    /// The holder gets the same answer when it asks again for the same execution, because the first
    /// answer may have been lost. A statement that waits for a lock reads the clock after it has
    /// the lock.
    package func claim(
        _ wish: LeaseWish,
        by holder: FleetHolder,
        terms: LeaseTerms
    ) throws(FleetError) -> FleetClaim {
        let operation = "claim module \(wish.serial)"
        let entry = wish.entry
        let found = try rows(
            operation,
            """
            SELECT word, o_epoch, o_generation, a, b, c, d, e, \(Self.unsynced)
            FROM yardmaster.claim(
              $1, $2::uuid, $3, $4, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint,
              $10::boolean, $11, $12::integer, $13::boolean, $14, $15::integer, $16::boolean)
            """,
            [
                wish.serial.text, holder.instance, wish.rollout, wish.vehicle.text,
                terms.length.microseconds, terms.takeoverWait.microseconds,
                "\(wish.known?.epoch ?? 0)", "\(wish.known?.generation ?? 0)",
                "\(entry?.beginning ?? 0)", "\(entry?.isPaying ?? false)",
                entry?.release?.description, "\(entry?.quarantineAfter ?? 0)",
                "\(entry?.isPartial ?? false)", holder.gateway,
                entry?.hearing.map { "\($0.signal)" },
                "\(entry?.hearing?.hasOthers ?? false)",
            ]
        )
        guard let row = found.first, let word = row.text(0) else {
            throw FleetError(.refused, operation, "the function answers nothing")
        }
        // The caller acts on this answer and reports it: the grant or the verdict must not be lost
        // after that.
        if ["granted", "ended", "stopped"].contains(word) { try sync() }
        switch word {
        case "granted":
            guard let epoch = row.integer(1), let generation = row.integer(2) else { break }
            let lease = FleetLease(serial: wish.serial, epoch: Int(epoch))
            return .granted(lease, generation: Int(generation))
        case "replaced": return .replaced
        case "unlisted": return .unlisted
        case "inhibited": return .inhibited(Inhibit(row, from: 3))
        case "stopped": if let hold = Hold(row, from: 3, of: wish.rollout) { return .stopped(hold) }
        case "ended": if let end = FleetEnd(row, from: 3, of: wish.vehicle) { return .ended(end) }
        case "early": return .early
        case "nearer":
            return .nearer(row.text(3) ?? "", .microseconds(max(0, row.integer(4) ?? 0)))
        case "full": return .full(underWay: Int(row.integer(3) ?? 0))
        case "owing": return .owing(row.text(3) ?? "")
        case "quarantined":
            return .quarantined(Int(row.integer(3) ?? 0), row.text(4) ?? "")
        default: break
        }
        return try refusal(of: wish, terms)
    }

    /// The reason why the right was not granted, for people and for the time of the next try.
    private func refusal(
        of wish: LeaseWish,
        _ terms: LeaseTerms
    ) throws(FleetError) -> FleetClaim {
        let history = try history()
        let guarded = EpochGuard(history, known: wish.known?.generation)
        guard case .open = guarded else { return .closed(guarded) }
        let found = try rows(
            "read the right to module \(wish.serial)",
            """
            SELECT m.epoch, coalesce(g.name, m.holder::text), m.rollout, m.vehicle,
              (extract(epoch FROM m.expires - yardmaster.clock()) * 1000000)::bigint
            FROM yardmaster.module m LEFT JOIN yardmaster.gateway g ON g.instance = m.holder
            WHERE m.serial = $1
            """,
            [wish.serial.text]
        )
        let epoch = found.first?.integer(0).map { Int($0) } ?? 0
        if let known = wish.known, known.generation >= history.generation, epoch < known.epoch {
            return .behind(known: known.epoch, found: epoch)
        }
        guard let row = found.first, let holder = row.text(1), let left = row.integer(4) else {
            // It was given back between the two statements.
            return .resting(.zero)
        }
        guard left > 0 else {
            return .resting(max(.zero, terms.takeoverWait + .microseconds(left)))
        }
        return .held(by: Self.holder(holder, of: row.text(3), row.text(2)))
    }

    /// Renews rights in one statement; a right that is not in the answer is over.
    ///
    /// The statement does not wait for the disk: a server that crashes may lose the last renewals.
    /// Then a right ends earlier there than here, by less than a second, and the wait before a
    /// take-over is far longer.
    package func renew(
        _ leases: [FleetLease],
        of holder: FleetHolder,
        terms: LeaseTerms
    ) throws(FleetError) -> Set<FleetLease> {
        let found = try rows(
            "renew the rights",
            """
            WITH kept AS MATERIALIZED (
              SELECT m.serial, m.expires FROM yardmaster.module m
              JOIN unnest($1::text[], $2::bigint[]) AS h(serial, epoch) USING (serial)
              WHERE m.epoch = h.epoch AND m.holder = $3::uuid
              ORDER BY m.serial FOR UPDATE OF m
            )
            UPDATE yardmaster.module m
            SET expires = yardmaster.clock() + $4::bigint * interval '1 microsecond'
            FROM kept
            WHERE m.serial = kept.serial AND kept.expires > yardmaster.clock()
            RETURNING m.serial, m.epoch, \(Self.unsynced)
            """,
            [
                Self.array(leases.map(\.serial.text)), Self.array(leases.map { "\($0.epoch)" }),
                holder.instance, terms.length.microseconds,
            ]
        )
        return Set(
            found.compactMap { row in
                guard let serial = row.text(0).flatMap({ Serial($0) }), let epoch = row.integer(1)
                else { return nil }
                return FleetLease(serial: serial, epoch: Int(epoch))
            }
        )
    }

    /// Gives a right back, so that the module is free immediately; false when it was no longer
    /// held.
    package func release(
        _ lease: FleetLease,
        of holder: FleetHolder
    ) throws(FleetError) -> Bool {
        let found = try rows(
            "give back module \(lease.serial)",
            """
            WITH freed AS (
              UPDATE yardmaster.module
              SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
              WHERE serial = $1 AND epoch = $2::bigint AND holder = $3::uuid
              RETURNING serial
            ), left_alone AS (
              UPDATE yardmaster.execution SET state = 'queued'
              WHERE instance = $3::uuid AND serial = $1 AND epoch = $2::bigint
                AND state = 'claimed'
            )
            SELECT serial FROM freed
            """,
            [lease.serial.text, "\(lease.epoch)", holder.instance]
        )
        return !found.isEmpty
    }

    /// Gives back all rights of an earlier process of this gateway; returns the serials.
    ///
    /// Only for a caller that knows that this process has ended, by the lock of its state
    /// directory.
    package func releaseAll(of instance: String) throws(FleetError) -> [Serial] {
        let found = try rows(
            "give back what was held before",
            """
            WITH held AS MATERIALIZED (
              SELECT serial FROM yardmaster.module WHERE holder = $1::uuid
              ORDER BY serial FOR UPDATE
            ), freed AS (
              UPDATE yardmaster.module m
              SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
              FROM held WHERE m.serial = held.serial RETURNING m.serial
            ), left_alone AS (
              UPDATE yardmaster.execution SET state = 'queued'
              WHERE instance = $1::uuid AND state = 'claimed'
            ), gone AS (
              UPDATE yardmaster.gateway SET gone = yardmaster.clock()
              WHERE instance = $1::uuid AND gone IS NULL
            )
            SELECT serial FROM freed ORDER BY serial
            """,
            [instance]
        )
        return found.compactMap { $0.text(0).flatMap { Serial($0) } }
    }

    /// The holder of each right that is in force, with the vehicle, for people.
    package func holders() throws(FleetError) -> [Serial: String] {
        let found = try rows(
            "read the rights",
            """
            SELECT m.serial, coalesce(g.name, m.holder::text), m.rollout, m.vehicle
            FROM yardmaster.module m LEFT JOIN yardmaster.gateway g ON g.instance = m.holder
            WHERE m.holder IS NOT NULL AND m.expires > yardmaster.clock()
            """
        )
        var holders: [Serial: String] = [:]
        for row in found {
            guard let serial = row.text(0).flatMap({ Serial($0) }) else { continue }
            holders[serial] = Self.holder(row.text(1), of: row.text(3), row.text(2))
        }
        return holders
    }

    private static func holder(
        _ gateway: String?,
        of vehicle: String?,
        _ rollout: String?
    ) -> String {
        "\(gateway ?? "?"), for vehicle \(vehicle ?? "?") of \(rollout ?? "?")"
    }

    /// An array in PostgreSQL's text form.
    static func array(_ texts: [String]) -> String {
        let items = texts.map { text in
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        return "{" + items.joined(separator: ",") + "}"
    }
}
