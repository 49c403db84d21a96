import Domain
package import Rollout
package import Store

/// Sends the reports in this gateway's journal to the fleet's database, in their order.
///
/// It may send them again as often as necessary: a report that arrives twice changes nothing the
/// second time.
package struct FleetPost: Sendable {
    let journal: Journal
    let fleet: FleetDatabase
    /// The process in whose name open work is reported again; nil when there is no open work.
    let holder: FleetHolder?
    private let gateway: String

    package init(_ journal: Journal, _ fleet: FleetDatabase, as holder: FleetHolder) {
        self.init(journal, fleet, gateway: holder.gateway, last: holder.instance)
    }

    /// For a gateway without a process of its own yet: `last` is the previous one.
    package init(
        _ journal: Journal,
        _ fleet: FleetDatabase,
        gateway: String,
        last instance: String?
    ) {
        (self.journal, self.fleet) = (journal, fleet)
        self.gateway = gateway
        holder = instance.map { FleetHolder(instance: $0, gateway: gateway) }
    }

    /// Sends all reports; returns why something is not reported yet, nil when all is.
    ///
    /// A database with another history may have lost reports: all of them are sent again, and the
    /// open work here too, before anything is requested.
    package func deliver() async throws(JournalError) -> FleetError? {
        let place: FleetPlaceInHistory
        do throws(FleetError) { place = try await fleet.place(of: gateway) } catch { return error }
        if try await journal.fleetHistory() != place.mark {
            if let error = try await reportOpen() { return error }
            try await journal.tellAgain(in: place.mark)
        }
        // First the beginning of each run, then what it did, then its end.
        if let error = try await deliverRuns(areOver: false) { return error }
        if let error = try await deliverWords() { return error }
        if let error = try await deliverRuns(areOver: true) { return error }
        guard place.isAwaited else { return nil }
        do throws(FleetError) {
            try await fleet.hasRetold(gateway, in: place)
        } catch { return error }
        return nil
    }

    /// Reports open work that was begun here to a database that may not know of it.
    private func reportOpen() async throws(JournalError) -> FleetError? {
        guard let holder, try await journal.fleetHistory() != nil else { return nil }
        let open = try await journal.fleetOpen()
        for (intent, serial) in open.doubts {
            let epoch = try await journal.fleetEpoch(of: serial)?.epoch ?? 1
            let act = FleetAct(
                FleetLease(serial: serial, epoch: epoch),
                vehicle: intent.vehicle,
                rollout: intent.rollout,
                beginning: try await journal.fleetMark(of: intent.rollout)?.beginning,
                digest: intent.step.digest?.description ?? "",
                ordinal: intent.step.ordinal,
                effect: intent.effect.rawValue,
                action: intent.description,
                isPaying: false
            )
            do throws(FleetError) {
                try await fleet.report(doubt: act, of: holder)
            } catch { return error }
        }
        for debt in open.debts {
            let epoch = try await journal.fleetEpoch(of: debt.serial)?.epoch ?? 1
            do throws(FleetError) {
                try await fleet.report(
                    debt: FleetAct.Debt(
                        image: debt.image.description,
                        name: debt.name,
                        version: debt.version?.description,
                        target: debt.target,
                        total: debt.total
                    ),
                    of: FleetLease(serial: debt.serial, epoch: epoch),
                    vehicle: debt.vehicle,
                    rollout: debt.rollout,
                    gateway: gateway
                )
            } catch { return error }
        }
        for step in open.owed {
            guard let record = try await journal.execution(step.execution) else { continue }
            let epoch = try await journal.fleetEpoch(of: record.serial)?.epoch ?? 1
            do throws(FleetError) {
                try await fleet.report(
                    owed: FleetAct.Owed(
                        digest: step.step.digest?.description ?? "",
                        ordinal: step.step.ordinal,
                        action: step.action
                    ),
                    epoch: epoch,
                    vehicle: step.vehicle,
                    rollout: step.rollout,
                    gateway: gateway
                )
            } catch { return error }
        }
        return nil
    }

    private func deliverRuns(areOver: Bool) async throws(JournalError) -> FleetError? {
        while true {
            let runs = try await journal.untoldRuns().filter { areOver || !$0.isBegunTold }
            if runs.isEmpty { return nil }
            for untold in runs {
                let run = FleetRun(untold)
                do throws(FleetError) {
                    if untold.isBegunTold {
                        try await fleet.end(run)
                    } else {
                        try await fleet.begin(run)
                    }
                } catch { return error }
                try await journal.told(run: untold.run.number, isOver: untold.isBegunTold)
            }
        }
    }

    private func deliverWords() async throws(JournalError) -> FleetError? {
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

    /// Applies here the hold that people have set in the fleet, and there the hold that a gate has
    /// set here; returns why that was not possible.
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
            let holder = FleetHolder(instance: word.instance, gateway: word.gateway)
            try await fleet.settleStep(act, word.outcome, of: holder)
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
    /// The same in the journal's types; leaves out what a newer program wrote in another form.
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

extension FleetRun {
    fileprivate init(_ untold: UntoldRun) {
        let run = untold.run
        self.init(
            instance: untold.start.instance,
            gateway: untold.start.gateway,
            number: run.number,
            rollout: run.rollout,
            beginning: untold.start.beginning,
            plan: run.plan.description,
            isOrder: run.isOrder,
            seed: run.seed.map { "\($0)" },
            began: run.started,
            end: run.end.map { end in
                End(
                    at: end.time,
                    exitCode: end.exitCode,
                    reason: end.reason,
                    counts: untold.counts
                )
            }
        )
    }
}

extension FleetRollout {
    var mark: FleetMark { FleetMark(beginning: beginning, resumed: resumed) }

    /// What decides on the plan of a run.
    package var shared: RolloutStart.Shared {
        let kind: Hold.Kind? = hold.map { $0.kind == .paused ? .paused : .aborted }
        return RolloutStart.Shared(plan: plan, begun: begun, hold: kind, isFinished: isFinished)
    }
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
