import Domain
package import Journal
package import Postgres

/// Tells the fleet's database what this gateway's journal has for it: in its order, and as often as it
/// takes, for whatever is reported twice changes nothing the second time.
package struct FleetPost: Sendable {
    private let journal: Journal
    private let fleet: FleetDatabase

    package init(_ journal: Journal, _ fleet: FleetDatabase) {
        (self.journal, self.fleet) = (journal, fleet)
    }

    /// Why something is not reported yet, nil when all is.
    package func deliver() async throws(JournalError) -> FleetError? {
        while true {
            let words = try await journal.untold()
            if words.isEmpty { return nil }
            for (id, word) in words {
                do throws(FleetError) {
                    try await tell(word)
                } catch { return error }
                try await journal.told(id)
            }
        }
    }

    /// Sets here what people have set for a rollout in the fleet, and there what a gate has set here;
    /// gives why that was not possible.
    package func follow(_ rollout: String) async throws(JournalError) -> FleetError? {
        let own = try await journal.hold(on: rollout)
        let before = try await journal.fleetMark(of: rollout)
        var known: FleetRollout?
        do throws(FleetError) {
            known = try await fleet.rollout(rollout)
            if let found = known, let own, found.hold == nil,
                before == nil || own.isByGate && before == found.mark
            {
                let kind: FleetHold.Kind = own.kind == .paused ? .paused : .aborted
                _ = try await fleet.hold(rollout, kind, reason: own.reason, by: own.author)
                known = try await fleet.rollout(rollout)
            }
        } catch { return error }
        guard let known else { return nil }
        try await journal.follow(rollout, known.mark, known.hold.map { Hold($0, of: rollout) })
        return nil
    }

    private func tell(_ word: FleetWord) async throws(FleetError) {
        let lease = FleetLease(serial: word.serial, epoch: word.epoch)
        switch word.kind {
        case .step:
            let act = FleetAct(
                lease,
                vehicle: word.vehicle,
                rollout: word.rollout,
                beginning: word.beginning,
                digest: word.digest,
                ordinal: word.ordinal,
                effect: "",
                action: word.sentence,
                isPaying: false
            )
            try await fleet.settleStep(act, word.outcome, instance: word.instance)
        case .debt:
            try await fleet.payDebt(of: lease, image: word.digest)
        case .owed:
            try await fleet.payOwed(
                lease,
                rollout: word.rollout,
                vehicle: word.vehicle,
                digest: word.digest,
                ordinal: word.ordinal
            )
        case .verdict:
            var verdict = FleetVerdict(
                rollout: word.rollout,
                vehicle: word.vehicle,
                run: word.run,
                outcome: Outcome(rawValue: word.outcome) ?? .failed,
                failure: word.failure.flatMap { FailureClass(rawValue: $0) },
                sentence: word.sentence,
                version: word.version,
                failedOn: word.release
            )
            verdict.beginning = word.beginning
            verdict.isTouched = word.attempted > 0
            verdict.attempted = word.attempted
            verdict.failed = word.failed
            let holder = FleetHolder(instance: word.instance, gateway: word.gateway)
            try await fleet.settle(lease, verdict, of: holder)
        }
    }
}

extension FleetAccounts {
    /// The same in the journal's words; what a newer program wrote in another form is left out.
    var knowledge: FleetKnowledge {
        var known = FleetKnowledge()
        known.steps = steps.map { step in
            FleetKnowledge.Step(
                rollout: step.rollout,
                step: StepKey(SHA256Digest(step.digest), ordinal: step.ordinal),
                action: step.action,
                gateway: step.gateway,
                outcome: step.outcome,
                author: step.author
            )
        }
        known.debt = debt.flatMap { debt in
            SHA256Digest(debt.facts.image).map { image in
                FleetKnowledge.Debt(
                    rollout: debt.rollout,
                    image: image,
                    name: debt.facts.name,
                    version: debt.facts.version.flatMap { FirmwareVersion($0) },
                    target: debt.facts.target,
                    total: debt.facts.total
                )
            }
        }
        known.owed = owed.map { owed in
            FleetKnowledge.Owed(
                rollout: owed.rollout,
                step: StepKey(SHA256Digest(owed.step.digest), ordinal: owed.step.ordinal),
                action: owed.step.action
            )
        }
        return known
    }
}

extension FleetRollout {
    var mark: FleetMark { FleetMark(beginning: beginning, resumed: resumed) }
}

extension Inhibit {
    init(_ inhibit: FleetInhibit, at now: WallTime) {
        self.init(
            inhibit.vehicle,
            reason: inhibit.reason,
            expires: inhibit.expires,
            author: inhibit.author,
            at: now
        )
    }
}

extension Hold {
    init(_ hold: FleetHold, of rollout: String) {
        self.init(
            hold.kind == .paused ? .paused : .aborted,
            rollout,
            reason: hold.reason,
            author: hold.author,
            at: hold.made
        )
    }
}
