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
                SELECT yardmaster.settle($1, $2::bigint, $3::uuid, $4, $5, $6, $7::bigint, $8, $9,
                  $10, $11, $12, $13::bigint, $14::boolean, $15::integer, $16::integer),
                  \(Self.unsynced)
                """,
                [
                    lease.serial.text, "\(lease.epoch)", holder.instance, holder.gateway,
                    verdict.rollout, verdict.vehicle.text, "\(verdict.run)",
                    verdict.outcome.rawValue, verdict.failure?.rawValue, verdict.sentence,
                    verdict.version, verdict.failedOn, "\(verdict.beginning)",
                    "\(verdict.isTouched)", "\(verdict.attempted)", "\(verdict.failed)",
                ]
            )
        )
        try sync()
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
                ), listed AS (
                  SELECT e.vehicle, e.serial, e.outcome, e.failure, e.sentence, e.version, e.gateway,
                    (extract(epoch FROM r.updated) * 1000)::bigint AS at
                  FROM yardmaster.execution e JOIN yardmaster.rollout r
                    ON r.name = e.rollout AND r.beginning = e.beginning
                  WHERE e.rollout = $1
                )
                SELECT coalesce(listed.vehicle, told.vehicle, held.vehicle),
                  coalesce(listed.serial, told.serial, held.serial), held.holder,
                  coalesce(told.outcome, listed.outcome), coalesce(told.failure, listed.failure),
                  coalesce(told.sentence, listed.sentence), coalesce(told.version, listed.version),
                  coalesce(told.gateway, listed.gateway),
                  coalesce(told.at, listed.at),
                  coalesce(told.counts, true)
                FROM listed FULL JOIN told ON told.vehicle = listed.vehicle
                FULL JOIN held ON held.vehicle = coalesce(listed.vehicle, told.vehicle)
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
