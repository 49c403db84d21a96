package import Base

/// The verdict of the work under one right.
package struct FleetVerdict: Sendable, Equatable {
    package let rollout: String
    package let vehicle: VehicleID
    /// The run's number in its gateway's journal.
    package let run: Int
    package let outcome: Outcome
    package let failure: FailureClass?
    package let sentence: String
    /// The version that the module runs now, as far as it is known.
    package let version: String?
    /// The release that it failed on, when that counts towards its quarantine.
    package let failedOn: String?
    /// The beginning of the rollout that it belongs to; 0 for none.
    package var beginning = 0
    /// Whether something was done on the module; the next two are its contribution to the gate.
    package var isTouched = false
    package var attempted = 0
    package var failed = 0

    package init(
        rollout: String,
        vehicle: VehicleID,
        run: Int,
        outcome: Outcome,
        failure: FailureClass?,
        sentence: String,
        version: String?,
        failedOn: String? = nil
    ) {
        self.failedOn = failedOn
        self.rollout = rollout
        self.vehicle = vehicle
        self.run = run
        self.outcome = outcome
        self.failure = failure
        self.sentence = sentence
        self.version = version
    }
    /// A verdict that is kept until the database has accepted it.
    init(_ word: FleetWord) {
        self.init(
            rollout: word.rollout,
            vehicle: word.vehicle,
            run: word.run,
            outcome: Outcome(rawValue: word.outcome) ?? .failed,
            failure: word.failure.flatMap { FailureClass(rawValue: $0) },
            sentence: word.sentence,
            version: word.version,
            failedOn: word.release
        )
        beginning = word.beginning
        isTouched = word.attempted > 0
        (attempted, failed) = (word.attempted, word.failed)
    }
}

extension FleetDatabase {
    /// Brings a report of an act to the fleet's tables; one that comes twice changes nothing the second time.
    package func accept(_ word: FleetWord) throws(FleetError) {
        let lease = FleetLease(serial: word.serial, epoch: word.epoch)
        switch word.kind {
        case .step: try settleStep(word)
        case .debt: try payDebt(of: lease, image: word.digest)
        case .owed: try payOwed(word)
        case .verdict:
            let holder = FleetHolder(instance: word.instance, gateway: word.gateway)
            try settle(lease, FleetVerdict(word), of: holder)
        }
    }
}
