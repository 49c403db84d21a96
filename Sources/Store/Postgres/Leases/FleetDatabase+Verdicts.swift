import Base

extension FleetDatabase {
    /// Records how work ended and gives its right back, in one statement; safe to repeat.
    ///
    /// A verdict that arrives after another gateway has had the right is kept as an observation and
    /// changes nothing else.
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
}
