package import Base
package import Store

/// A run with its events, as `history show` prints it.
package struct ShownRun: Sendable {
    package let run: RunRecord
    /// All events; for a run of another gateway only how it left its vehicles.
    package let records: [EventRecord]
    package var source: StandingSource?
    /// Where the other events are; nil when these are all.
    package let remark: String?
    /// The state of a run that has no end; nil when it is not known.
    package let open: String?
    /// Whether a run that has no end is known to be active.
    private let isAtWork: Bool

    /// `leaving` is how a run that was cut off left vehicles about which it has no last event.
    package init(
        _ run: RunRecord,
        _ records: [EventRecord],
        leaving vehicles: [(vehicle: VehicleID, standing: Standing)] = [],
        isAtWork: Bool = false
    ) {
        self.run = run
        self.isAtWork = isAtWork
        let last = records.last
        self.records =
            records
            + vehicles.enumerated().map { index, left in
                let event = Event(
                    number: (last?.number ?? 0) + index + 1,
                    time: last?.time ?? run.started,
                    body: .vehicleStands(left.vehicle, left.standing)
                )
                return EventRecord(event, of: run.number)
            }
        remark = nil
        open = nil
    }

    /// A run from a fleet: the verdicts that it gave, and the present state of the rollout's other vehicles.
    package init(_ look: FleetRunLook) {
        run = look.run.run
        open = look.run.run.end == nil ? look.run.words : nil
        isAtWork = look.run.isAtWork
        var events: [Event] = []
        func note(_ body: Event.Body, _ time: WallTime) {
            events.append(Event(number: events.count + 1, time: time, body: body))
        }
        let ended = Set(look.verdicts.map(\.vehicle))
        let snapshot = look.rollout.map {
            RolloutSnapshot($0.view, in: $0.ground, plan: nil, sayings: [])
        }
        let others = (snapshot?.executions ?? []).filter { !ended.contains($0.vehicle) }
        var start = RunStart(
            rollout: run.rollout,
            plan: run.plan,
            vehicles: ended.count + others.count,
            adapters: [],
            run: run.number,
            seed: run.seed
        )
        start.gateway = run.gateway
        start.approvers = look.rollout?.approvers(of: run.plan) ?? []
        note(.runStarted(start), run.started)
        for verdict in look.verdicts {
            note(.vehicleEnded(verdict.vehicle, Verdict(verdict)), verdict.at)
        }
        for (record, standing) in zip(others, snapshot?.standings(of: others) ?? []) {
            note(.vehicleStands(record.vehicle, standing), look.rollout?.ground.time ?? run.started)
        }
        if let end = RunEnd(look.run) { note(.runEnded(end), run.end?.time ?? run.started) }
        records = events.map { EventRecord($0, of: look.run.run.number) }
        let name = look.run.gateway.visible
        remark =
            "all events are in the journal of \(name): 'yardmaster history show "
            + "\(look.run.run.number)' there"
            + (look.rollout == nil
                ? "; the rollout was begun again since, so only vehicles that this run ended are listed"
                : "; vehicles that this run did not end are shown as they stand now")
    }
}

extension ShownRun {
    /// What its events say, for a report.
    package var story: RunStory {
        var story = RunStory(withDocument: false)
        for record in records {
            guard let body = RunList.body(of: record) else { continue }
            story.note(Event(number: record.number, time: record.time, body: body))
        }
        if run.end == nil, let last = records.last {
            story.stand(at: last.time, isAtWork: isAtWork)
        }
        return story
    }
}

extension Verdict {
    init(_ record: FleetVerdictRecord) {
        self.init(
            outcome: record.outcome,
            failure: record.failure,
            message: record.sentence,
            versionAfter: record.version,
            attempts: 0,
            bytesSent: .zero,
            took: .zero
        )
    }
}

extension RunEnd {
    /// The end that the run reported; nil for a run that was cut off or is active.
    init?(_ run: FleetRun) {
        guard let end = run.run.end, let code = end.exitCode else { return nil }
        let counts = run.counts.flatMap { VehicleCounts(text: $0) } ?? VehicleCounts()
        self.init(
            rollout: run.run.rollout,
            counts: counts.outcomes,
            unfinished: counts.unfinished,
            exitCode: code,
            reason: end.reason,
            took: max(.zero, run.run.started.duration(to: end.time))
        )
    }
}

extension EventRecord {
    fileprivate init(_ event: Event, of run: Int) {
        var line = EventLine()
        self.init(
            run: run,
            number: event.number,
            time: event.time,
            kind: event.body.kind,
            vehicle: event.body.vehicle,
            json: line.document(event)
        )
    }
}

extension JournalView {
    /// How a run that was cut off left the vehicles about which it has no last event.
    ///
    /// Empty when the rollout was begun again since, and for a run of a part of the vehicles: which
    /// ones it had is not kept.
    package func left(
        by run: RunRecord,
        _ events: [EventRecord]
    ) throws(JournalError) -> [(vehicle: VehicleID, standing: Standing)] {
        let records = try standing(try executions(rollout: run.rollout, plan: run.plan))
        guard case .runStarted(let start)? = events.first.flatMap(RunList.body),
            start.vehicles == records.count, records.allSatisfy({ $0.beginning <= run.number })
        else { return [] }
        let accounts = OpenAccounts(
            debts: try debts(),
            doubts: try doubts(of: nil),
            owed: try owed(by: nil)
        )
        let told = Set(
            events.filter { $0.kind == "vehicle-ended" || $0.kind == "vehicle-stands" }
                .compactMap(\.vehicle)
        )
        var left: [(vehicle: VehicleID, standing: Standing)] = []
        for record in records where !told.contains(record.vehicle) {
            guard record.run > run.number else {
                left.append((record.vehicle, accounts.standing(of: record, asking: run.number)))
                continue
            }
            // A later run has worked on it: what it was before is in the events of earlier runs.
            let word = try lastWord(
                of: record.vehicle,
                in: run.rollout,
                from: record.beginning,
                before: run.number
            )
            var standing = Standing(record.serial, .notBegun)
            if let word, case .vehicleEnded(_, let verdict)? = RunList.body(of: word) {
                standing = Standing(record.serial, .waiting, verdict: verdict, run: word.run)
            } else if let word, case .vehicleStands(_, let earlier)? = RunList.body(of: word) {
                standing = earlier
            }
            left.append((record.vehicle, standing))
        }
        return left
    }
}
