import Base
package import Rollout
package import Store

/// Sends the reports in this gateway's journal to the fleet's database, in their order.
///
/// It may send them again as often as necessary: a report that arrives twice changes nothing the
/// second time.
struct FleetPost: Sendable {
    let journal: Journal
    let fleet: FleetDatabase
    /// The process in whose name open work is reported again; nil when there is no open work.
    let holder: FleetHolder?
    private let gateway: String

    init(_ journal: Journal, _ fleet: FleetDatabase, as holder: FleetHolder) {
        self.init(journal, fleet, gateway: holder.gateway, last: holder.instance)
    }

    /// For a gateway without a process of its own yet: `last` is the previous one.
    init(
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
    /// open work here too, before anything is requested. `known` is the place in its history that it has just answered.
    func deliver(
        in known: FleetPlaceInHistory? = nil
    ) async throws(JournalError) -> FleetError? {
        let place: FleetPlaceInHistory
        do throws(FleetError) {
            if let known { place = known } else { place = try await fleet.place(of: gateway) }
        } catch { return error }
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
            let beginning = try await journal.fleetMark(of: intent.rollout)?.beginning
            do throws(FleetError) {
                try await fleet.report(
                    doubt: intent,
                    under: FleetLease(serial: serial, epoch: epoch),
                    beginning: beginning,
                    of: holder
                )
            } catch { return error }
        }
        for debt in open.debts {
            let epoch = try await journal.fleetEpoch(of: debt.serial)?.epoch ?? 1
            do throws(FleetError) {
                try await fleet.report(debt: debt, epoch: epoch, gateway: gateway)
            } catch { return error }
        }
        for step in open.owed {
            guard let record = try await journal.execution(step.execution) else { continue }
            let epoch = try await journal.fleetEpoch(of: record.serial)?.epoch ?? 1
            do throws(FleetError) {
                try await fleet.report(owed: step, epoch: epoch, gateway: gateway)
            } catch { return error }
        }
        return nil
    }

    private func deliverRuns(areOver: Bool) async throws(JournalError) -> FleetError? {
        while true {
            let runs = try await journal.untoldRuns().filter { areOver || !$0.isBegunTold }
            if runs.isEmpty { return nil }
            for (run, isBegunTold) in runs {
                do throws(FleetError) {
                    if isBegunTold {
                        try await fleet.end(run)
                    } else {
                        try await fleet.begin(run)
                    }
                } catch { return error }
                try await journal.told(run: run.run.number, isOver: isBegunTold)
            }
        }
    }

    private func deliverWords() async throws(JournalError) -> FleetError? {
        while true {
            let words = try await journal.untold()
            if words.isEmpty { return nil }
            for (id, word) in words {
                do throws(FleetError) {
                    try await fleet.accept(word)
                } catch { return error }
                try await journal.told(id)
            }
        }
    }

    /// Applies here the recalls and the hold that people have set in the fleet, and there the hold that a gate has
    /// set here; returns why that was not possible.
    func follow(_ rollout: String) async throws(JournalError) -> FleetError? {
        let (known, recalls): (FleetRollout?, [Recall])
        do throws(FleetError) {
            recalls = try await fleet.recalls()
            known = try await fleet.rollout(rollout)
        } catch { return error }
        return try await follow(rollout, known, recalls)
    }

    /// The same with what the database has just answered; recalls that are nil have not changed.
    func follow(
        _ rollout: String,
        _ known: FleetRollout?,
        _ recalls: [Recall]?
    ) async throws(JournalError) -> FleetError? {
        let own = try await journal.hold(on: rollout)
        let before = try await journal.fleetMark(of: rollout)
        var known = known
        do throws(FleetError) {
            if let found = known, let own, found.hold == nil, own.isByGate, before == found.mark {
                _ = try await fleet.hold(rollout, own.kind, reason: own.reason, by: own.author)
                known = try await fleet.rollout(rollout)
            }
        } catch { return error }
        if let recalls { try await journal.follow(recalls) }
        guard let known else { return nil }
        try await journal.follow(rollout, known.mark, known.hold)
        return nil
    }
}

extension FleetRollout {
    var mark: FleetMark { FleetMark(beginning: beginning, resumed: resumed) }

    /// What decides on the plan of a run.
    package var shared: RolloutStart.Shared {
        RolloutStart.Shared(
            plan: plan,
            begun: begun,
            asked: asked,
            hold: hold?.kind,
            isFinished: isFinished
        )
    }
}
