import Base

extension FleetDatabase {
    /// Brings a report of an act to the fleet's tables; one that comes twice changes nothing the second time.
    package func accept(_ word: FleetWord) throws(FleetError) {
        switch word.kind {
        case .step: try settleStep(word)
        case .debt:
            let lease = FleetLease(serial: word.serial, epoch: word.epoch)
            try payDebt(
                of: lease,
                image: word.digest,
                proving: word.outcome == Payment.proof ? word.rollout : nil
            )
        case .owed: try payOwed(word)
        case .verdict: try settle(word)
        }
    }

    /// Records how work ended and gives its right back, and decides on the gate.
    ///
    /// A verdict that arrives after another gateway has had the right is kept as an observation and
    /// changes nothing else.
    private func settle(_ word: FleetWord) throws(FleetError) {
        let operation = "settle module \(word.serial)"
        let statement = FleetStatement(
            operation,
            """
            SELECT \(FleetRollout.columns), o_attempted, o_failed, \(Self.unsynced)
            FROM yardmaster.settle($1, $2::bigint, $3::uuid, $4, $5, $6, $7::bigint, $8, $9, $10, $11,
              $12, $13::bigint, $14::integer, $15::integer) s, \(FleetRollout.answered)
            """,
            [
                word.serial.text, "\(word.epoch)", word.instance, word.gateway, word.rollout,
                word.vehicle.text, "\(word.run)", word.outcome, word.failure, word.sentence,
                word.version, word.release, "\(word.beginning)", "\(word.attempted)",
                "\(word.failed)",
            ]
        )
        try transaction(operation) { () throws(FleetError) in
            _ = try judge(try rows(statement).first)
        }
        try sync()
    }
}
