package import Base

/// A run of a gateway, as the fleet's database has it.
package struct FleetRun: Sendable, Equatable {
    /// The run, with times by its gateway's clock.
    package let run: RunRecord
    package let start: FleetStart
    /// The number of vehicles by outcome, as JSON; nil for a run without an end, or that was cut off.
    package let counts: String?
    /// By the server's clock: when its beginning was reported, and its end.
    package internal(set) var noted: WallTime?
    package internal(set) var closed: WallTime?
    /// How long its gateway has been silent; nil after it signed off or was forgotten.
    package internal(set) var silence: Duration?

    package var gateway: String { start.gateway }

    package init(_ run: RunRecord, _ start: FleetStart, counts: String?) {
        (self.run, self.start, self.counts) = (run, start, counts)
    }

    /// The run with times by the server's clock, as far as they are known.
    package var byServer: RunRecord {
        RunRecord(
            run.name,
            of: run.rollout,
            plan: run.plan,
            started: noted ?? run.started,
            seed: run.seed,
            isOrder: run.isOrder,
            end: run.end.map { end in
                RunRecord.End(
                    at: closed ?? end.time,
                    exitCode: end.exitCode,
                    reason: end.reason
                )
            }
        )
    }

    static let columns = """
        r.instance::text, r.gateway, r.number, r.rollout, r.beginning, r.plan, r.is_order, r.seed,
        (extract(epoch FROM r.began) * 1000)::bigint, (extract(epoch FROM r.ended) * 1000)::bigint,
        r.exit_code, r.reason, r.counts, (extract(epoch FROM r.noted) * 1000)::bigint,
        (extract(epoch FROM r.closed) * 1000)::bigint,
        CASE WHEN g.gone IS NULL
          THEN (extract(epoch FROM yardmaster.clock() - g.heard) * 1000000)::bigint END
        """

    /// The tables of `columns`.
    static let source =
        "yardmaster.run r LEFT JOIN yardmaster.gateway g ON g.instance = r.instance"

    init?(_ row: DatabaseRow) {
        guard let instance = row.text(0), let gateway = row.text(1), let number = row.integer(2),
            let rollout = row.text(3), let plan = row.text(5), let began = row.time(8)
        else { return nil }
        let run = RunRecord(
            RunName(Int(number), of: gateway),
            of: rollout,
            plan: SHA256Digest(shown: plan),
            started: began,
            seed: row.text(7).flatMap { UInt64($0) },
            isOrder: row.isTrue(6),
            end: row.time(9).map { time in
                RunRecord.End(
                    at: time,
                    exitCode: row.integer(10).map { Int($0) },
                    reason: row.text(11) ?? ""
                )
            }
        )
        let start = FleetStart(
            instance: instance,
            gateway: gateway,
            beginning: Int(row.integer(4) ?? 0)
        )
        self.init(run, start, counts: row.text(12))
        noted = row.time(13)
        closed = row.time(14)
        silence = row.integer(15).map { max(.zero, .microseconds($0)) }
    }
}

/// The progress of a gateway's work on one module.
package struct FleetProgress: Sendable, Equatable {
    package let lease: FleetLease
    /// The run that reports it.
    package let run: Int
    /// A word of `ExecutionState`; nil when the module is not worked on now.
    package var doing: String?
    package var acknowledged: Int?
    package var total: Int?
    /// The image of the debt; nil without a debt.
    package var image: String?
    package var isInBootloader = false

    package init(_ lease: FleetLease, run: Int) {
        self.lease = lease
        self.run = run
    }
}

// Reports of gateways for `status`, `history` and the like; they may be repeated.

extension FleetDatabase {
    /// Reports that a run has begun.
    package func begin(_ fleetRun: FleetRun) throws(FleetError) {
        let (run, start) = (fleetRun.run, fleetRun.start)
        _ = try rows(
            "report run \(run.number)",
            """
            INSERT INTO yardmaster.run
              (instance, gateway, number, rollout, beginning, plan, is_order, seed, began)
            VALUES ($1::uuid, $2, $3::bigint, $4, $5::bigint, $6, $7::boolean, $8,
              to_timestamp($9::double precision / 1000))
            ON CONFLICT (instance) DO NOTHING
            """,
            [
                start.instance, start.gateway, "\(run.number)", run.rollout,
                "\(start.beginning)", run.plan.description, "\(run.isOrder)",
                run.seed.map { "\($0)" }, "\(run.started.milliseconds)",
            ]
        )
    }

    /// Reports that a run has ended; an end that was reported before stays.
    package func end(_ run: FleetRun) throws(FleetError) {
        guard let end = run.run.end else { return }
        _ = try rows(
            "report the end of run \(run.run.number)",
            """
            UPDATE yardmaster.run SET ended = to_timestamp($2::double precision / 1000),
              exit_code = $3::integer, reason = $4, counts = $5, closed = yardmaster.clock()
            WHERE instance = $1::uuid AND ended IS NULL
            """,
            [
                run.start.instance, "\(end.time.milliseconds)",
                end.exitCode.map { "\($0)" }, end.reason, run.counts,
            ]
        )
    }

    /// The mark of the stored view of a plan; nil when there is none.
    package func markOfPlan(_ digest: String) throws(FleetError) -> String? {
        try rows(
            "look for the plan",
            "SELECT mark FROM yardmaster.plan WHERE digest = $1",
            [digest]
        ).first?.text(0)
    }

    /// Stores the view of a plan; the last one stored counts.
    package func bring(
        plan digest: String,
        of rollout: String,
        view: String,
        mark: String,
        zone: String? = nil,
        quarantineAfter: Int?
    ) throws(FleetError) {
        _ = try rows(
            "bring the plan",
            """
            INSERT INTO yardmaster.plan AS p (digest, rollout, quarantine_after, view, mark, zone)
            VALUES ($1, $2, $3::integer, $4, $5, $6)
            ON CONFLICT (digest) DO UPDATE SET view = excluded.view, mark = excluded.mark,
              quarantine_after = excluded.quarantine_after, zone = excluded.zone,
              brought = excluded.brought
            """,
            [digest, rollout, quarantineAfter.map { "\($0)" }, view, mark, zone]
        )
    }

    /// Reports progress, without waiting for the disk: the next sign of life repeats it.
    package func report(
        _ progress: [FleetProgress],
        of holder: FleetHolder
    ) throws(FleetError) {
        guard !progress.isEmpty else { return }
        func texts(_ value: (FleetProgress) -> String?) -> String {
            Self.array(progress.map { value($0) ?? "" })
        }
        _ = try rows(
            "report how far work is",
            """
            WITH p AS MATERIALIZED (
              SELECT serial, epoch, nullif(doing, '') AS doing, nullif(done, '')::bigint AS done,
                nullif(total, '')::bigint AS total, image, in_bootloader, run
              FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::boolean[], $9::bigint[])
                AS u(serial, epoch, doing, done, total, image, in_bootloader, run)
            ), held AS (
              UPDATE yardmaster.module m SET doing = p.doing, acknowledged = p.done,
                total = p.total
              FROM p WHERE m.serial = p.serial AND m.epoch = p.epoch AND m.holder = $1::uuid
                AND p.doing IS NOT NULL
            ), owed AS (
              UPDATE yardmaster.debt d SET acknowledged = coalesce(p.done, d.acknowledged),
                in_bootloader = p.in_bootloader, seen_gateway = $10, seen_run = p.run,
                seen_epoch = p.epoch
              FROM p WHERE d.serial = p.serial AND d.image = p.image
                AND p.epoch >= greatest(d.seen_epoch, d.epoch)
            )
            SELECT \(Self.unsynced)
            """,
            [
                holder.instance, Self.array(progress.map(\.lease.serial.text)),
                Self.array(progress.map { "\($0.lease.epoch)" }), texts { $0.doing },
                texts { $0.acknowledged.map { "\($0)" } },
                texts { $0.total.map { "\($0)" } }, texts { $0.image },
                Self.array(progress.map { "\($0.isInBootloader)" }),
                Self.array(progress.map { "\($0.run)" }), holder.gateway,
            ]
        )
    }
}
