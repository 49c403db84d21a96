import Domain

extension FleetDatabase {
    /// Writes down how work ended and gives its right back, in one statement; safe to repeat.
    ///
    /// What comes when somebody else has had the right since is kept as an observation and changes
    /// nothing else.
    package func settle(
        _ lease: FleetLease,
        _ verdict: FleetVerdict,
        of holder: FleetHolder
    ) throws(FleetError) {
        _ = try rows(
            FleetStatement(
                "settle module \(lease.serial)",
                """
                WITH own AS MATERIALIZED (
                  SELECT serial FROM yardmaster.module
                  WHERE serial = $1 AND epoch = $2::bigint AND holder = $3::uuid FOR UPDATE
                ), freed AS (
                  UPDATE yardmaster.module m
                  SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
                  FROM own WHERE m.serial = own.serial RETURNING m.serial
                ), told AS (
                INSERT INTO yardmaster.verdict (serial, epoch, instance, gateway, rollout, vehicle,
                  run, outcome, failure, sentence, version, counts)
                SELECT $1, $2::bigint, $3::uuid, $4, $5, $6, $7::bigint, $8, $9, $10, $11,
                  EXISTS (SELECT FROM freed)
                ON CONFLICT (instance, serial, epoch) DO NOTHING RETURNING number
                )
                INSERT INTO yardmaster.failure AS f (vehicle, release, count, message, last)
                SELECT $6, $12, 1, $10, yardmaster.clock() FROM told WHERE $12::text IS NOT NULL
                ON CONFLICT (vehicle, release) DO UPDATE SET count = f.count + 1,
                  message = excluded.message, last = excluded.last
                """,
                [
                    lease.serial.text, "\(lease.epoch)", holder.instance, holder.gateway,
                    verdict.rollout, verdict.vehicle.text, "\(verdict.run)",
                    verdict.outcome.rawValue, verdict.failure?.rawValue, verdict.sentence,
                    verdict.version, verdict.failedOn,
                ]
            )
        )
    }

    /// The rollout that something was written of last, nil when nothing was.
    package func latestRollout() throws(FleetError) -> String? {
        try rows(
            FleetStatement(
                "look for the latest rollout",
                "SELECT rollout FROM yardmaster.verdict ORDER BY number DESC LIMIT 1"
            )
        ).first?.text(0)
    }

    /// Every vehicle of a rollout that has been worked on, or is now, by its name.
    package func standings(of rollout: String) throws(FleetError) -> [FleetStanding] {
        let found = try rows(
            FleetStatement(
                "read the verdicts",
                """
                WITH told AS (
                  SELECT DISTINCT ON (vehicle) vehicle, serial, outcome, failure, sentence, version,
                    gateway, (extract(epoch FROM at) * 1000)::bigint AS at, counts
                  FROM yardmaster.verdict WHERE rollout = $1
                  ORDER BY vehicle, counts DESC, number DESC
                ), held AS (
                  SELECT m.vehicle, m.serial, coalesce(g.name, m.holder::text) AS holder
                  FROM yardmaster.module m LEFT JOIN yardmaster.gateway g ON g.instance = m.holder
                  WHERE m.holder IS NOT NULL AND m.rollout = $1
                )
                SELECT coalesce(told.vehicle, held.vehicle), coalesce(told.serial, held.serial),
                  held.holder, told.outcome, told.failure, told.sentence, told.version,
                  told.gateway, told.at, told.counts
                FROM told FULL JOIN held ON held.vehicle = told.vehicle
                ORDER BY 1
                """,
                [rollout]
            )
        )
        return found.compactMap { row in
            guard let vehicle = row.text(0), let serial = row.text(1) else { return nil }
            var told: FleetStanding.Told?
            if let outcome = row.text(3), let sentence = row.text(5), let gateway = row.text(7),
                let at = row.integer(8)
            {
                told = FleetStanding.Told(
                    outcome: outcome,
                    failure: row.text(4),
                    sentence: sentence,
                    version: row.text(6),
                    gateway: gateway,
                    at: WallTime(milliseconds: at),
                    counts: row.isTrue(9)
                )
            }
            return FleetStanding(
                vehicle: vehicle,
                serial: serial,
                holder: row.text(2),
                verdict: told
            )
        }
    }
}
