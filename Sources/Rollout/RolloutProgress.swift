import Base
import Store
import Synchronization

/// The state of a rollout: the journal's records when the run began, and what this run has added.
final class RolloutProgress: Sendable {
    private struct State {
        /// Nil for a run that keeps no record of the rollout.
        var rollout: RolloutRecord?
        /// Verdicts, of this run or of an earlier one of the same execution.
        var outcomes: [Outcome?]
        /// Vehicles that this run has given a verdict.
        var ended: Set<Int> = []
        /// The image bytes that this run has sent to each vehicle, repeats included.
        var sent: [Int: Int] = [:]
        /// The number of each vehicle that this run has begun, in that order from 1.
        var positions: [Int: Int] = [:]
        /// The hold of a person or of another gate that this run obeys.
        var obeyed: Hold?
        /// The hold that this run has set: a person may have lifted it since, so it is set once.
        var set: Hold.Kind?
        /// The closings of vehicles that are in quarantine and owe something, for the end of the
        /// run.
        var quarantined: [Int: Closing] = [:]
    }

    private let depot: Depot
    private let isPartial: Bool
    /// The executions, by index of the job; empty when nothing may be begun.
    let executions: [ExecutionRecord]
    /// Vehicles with an unsettled update or with owed steps, by index of the job.
    let indebted: Set<Int>
    /// Vehicles with a step in doubt, by index of the job.
    let doubtful: Set<Int>
    /// Whether this run continues what an earlier one began.
    let isContinued: Bool
    /// Why nothing may be begun; nil when vehicles may be begun.
    let refusal: RunEnding?
    private let state: Mutex<State>

    private init(
        _ depot: Depot,
        isPartial: Bool,
        executions: [ExecutionRecord],
        outcomes: [Outcome?],
        indebted: Set<Int>,
        doubtful: Set<Int>,
        rollout: RolloutRecord?,
        isContinued: Bool,
        refusal: RunEnding?
    ) {
        self.depot = depot
        self.isPartial = isPartial
        self.executions = executions
        self.indebted = indebted
        self.doubtful = doubtful
        self.isContinued = isContinued
        self.refusal = refusal
        state = Mutex(State(rollout: rollout, outcomes: outcomes))
    }

    var rollout: RolloutRecord? { state.withLock { $0.rollout } }

    func outcome(of index: Int) -> Outcome? { state.withLock { $0.outcomes[index] } }

    // MARK: Beginning

    /// What the journal has of the rollout when a run opens it.
    private struct Known {
        /// The executions by the schedule's plan, by index of the job.
        let earlier: [ExecutionRecord?]
        let rollout: RolloutRecord?
        let indebted: Set<Int>
        let doubtful: Set<Int>
        /// Whether this run begins the rollout.
        let begins: Bool
        let refusal: RunEnding?

        init(
            _ jobs: [VehicleJob],
            in depot: Depot,
            _ schedule: Schedule
        ) async throws(JournalError) {
            let journal = depot.journal
            var byVehicle: [VehicleID: ExecutionRecord] = [:]
            let known = try await journal.executions(rollout: depot.rollout, plan: schedule.plan)
            for record in known { byVehicle[record.vehicle] = record }
            earlier = jobs.map { job in
                byVehicle[job.vehicle].flatMap { $0.serial == job.serial ? $0 : nil }
            }
            let kept = schedule.plan == nil ? nil : try await journal.rollout(depot.rollout)
            let hold = schedule.plan == nil ? nil : try await journal.hold(on: depot.rollout)
            let debts = Set(try await journal.debts().map(\.serial))
            let doubts = Set(try await journal.doubts(of: nil).map(\.intent.vehicle))
            let owing = Set(try await journal.owed(by: nil).map(\.vehicle))
            indebted = Set(
                jobs.indices.filter {
                    debts.contains(jobs[$0].serial) || owing.contains(jobs[$0].vehicle)
                }
            )
            doubtful = Set(jobs.indices.filter { doubts.contains(jobs[$0].vehicle) })
            rollout = kept
            var begins = Self.begins(schedule, kept)
            // A rollout that was aborted before a run had begun it counts as begun with the plan of
            // each earlier run.
            if begins, !schedule.again, kept == nil, hold?.kind.isForGood == true {
                begins = try await !journal.runs(rollout: depot.rollout, limit: 100)
                    .contains { $0.number < depot.run && $0.plan == schedule.plan }
            }
            self.begins = begins
            refusal =
                switch hold?.kind {
                case .paused: .paused(hold?.reason ?? "")
                case .aborted where !begins && !schedule.again,
                    .recalled where !begins && !schedule.again:
                    .aborted(hold?.reason ?? "")
                case .aborted, .recalled, nil: nil
                }
        }

        /// Whether a run of this schedule begins the rollout, given its record in the journal.
        private static func begins(_ schedule: Schedule, _ kept: RolloutRecord?) -> Bool {
            // A run over only a part of the vehicles does not begin a rollout.
            guard let plan = schedule.plan, !schedule.isPartial else { return false }
            return schedule.again || kept?.plan != plan
        }

        /// The executions that are continued, by index; the other vehicles get new ones with new
        /// numbers.
        func continued(by schedule: Schedule) -> [ExecutionRecord?] {
            earlier.map { record in
                guard let record, record.plan == schedule.plan else { return nil }
                if schedule.plan == nil { return record.end == nil ? record : nil }
                if schedule.again { return nil }
                if begins { return record.apart ? record : nil }
                return record
            }
        }
    }

    /// Begins the rollout or continues it, according to the journal and the schedule.
    static func open(
        _ jobs: [VehicleJob],
        in depot: Depot,
        _ schedule: Schedule
    ) async throws(JournalError) -> RolloutProgress {
        let known = try await Known(jobs, in: depot, schedule)
        if let refusal = known.refusal { return refused(jobs, in: depot, known, refusal) }
        var rollout = known.rollout
        if known.begins, let plan = schedule.plan {
            rollout = RolloutRecord(
                name: depot.rollout,
                plan: plan,
                run: depot.run,
                at: depot.time.wallTime
            )
        }
        var executions = known.continued(by: schedule)
        let taken = known.begins ? executions.compactMap { $0?.number } : []
        let missing = jobs.indices.filter { executions[$0] == nil }
        let isApart =
            !known.begins && schedule.plan != nil && known.rollout?.plan != schedule.plan
        let fresh = missing.map { index in
            var record = ExecutionRecord(
                rollout: depot.rollout,
                vehicle: jobs[index].vehicle,
                serial: jobs[index].serial,
                plan: schedule.plan,
                beginning: known.begins || schedule.isPartial ? depot.run : rollout?.began,
                run: depot.run,
                started: depot.time.wallTime
            )
            record.apart = isApart
            return record
        }
        let numbered = try await depot.journal.begin(
            Beginning(
                known.begins ? rollout : nil,
                fresh: fresh,
                taken: taken,
                recalling: schedule.recalling
            )
        )
        for (index, record) in zip(missing, numbered) { executions[index] = record }
        let all = executions.compactMap(\.self)
        return RolloutProgress(
            depot,
            isPartial: schedule.isPartial,
            executions: all,
            outcomes: all.map { $0.end?.outcome },
            indebted: known.indebted,
            doubtful: known.doubtful,
            rollout: rollout,
            isContinued: !known.begins,
            refusal: nil
        )
    }

    /// Nothing is begun; vehicles that were begun before have their executions.
    private static func refused(
        _ jobs: [VehicleJob],
        in depot: Depot,
        _ known: Known,
        _ refusal: RunEnding
    ) -> RolloutProgress {
        let all = jobs.indices.map { index in
            known.earlier[index]
                ?? ExecutionRecord(
                    rollout: depot.rollout,
                    vehicle: jobs[index].vehicle,
                    serial: jobs[index].serial,
                    run: depot.run,
                    started: depot.time.wallTime
                )
        }
        return RolloutProgress(
            depot,
            isPartial: true,
            executions: all,
            outcomes: all.map { $0.end?.outcome },
            indebted: known.indebted.filter { all[$0].number > 0 },
            doubtful: known.doubtful,
            rollout: nil,
            isContinued: true,
            refusal: refusal
        )
    }

    /// When the vehicle gets its turn, compared with the others.
    func precedence(of index: Int) -> Dispatch.Precedence {
        guard !indebted.contains(index) else { return .now }
        switch executions[index].end?.outcome {
        case .succeeded, .alreadyCurrent: return .atTheEnd
        case .failed, .rolledBack, .rejected, .timedOut, .inDoubt: return .afterTheOthers
        case .unreachable, .deferred, .skipped, .aborted, nil: return .now
        }
    }

    /// The execution's current record in the journal.
    func execution(of index: Int) async throws(JournalError) -> ExecutionRecord {
        let known = executions[index]
        return try await depot.journal.execution(known.number) ?? known
    }

    // MARK: What this run adds

    func note(_ index: Int, _ outcome: Outcome) {
        state.withLock {
            $0.outcomes[index] = outcome
            $0.ended.insert(index)
        }
    }

    /// The image bytes that this run has sent to the vehicle so far.
    func bytesSent(to index: Int) -> Int { state.withLock { $0.sent[index] ?? 0 } }

    func note(_ index: Int, bytesSent: Int) { state.withLock { $0.sent[index] = bytesSent } }

    /// The vehicle's number among those that this run has begun; one that is begun once more keeps it.
    func position(of index: Int) -> Int {
        state.withLock { state in
            let position = state.positions[index] ?? state.positions.count + 1
            state.positions[index] = position
            return position
        }
    }

    func taken(again index: Int) {
        state.withLock {
            $0.outcomes[index] = nil
            $0.ended.remove(index)
            $0.quarantined[index] = nil
        }
    }

    func quarantines(_ index: Int, _ closing: Closing) {
        state.withLock { $0.quarantined[index] = closing }
    }

    func quarantine(of index: Int) -> Closing? { state.withLock { $0.quarantined[index] } }

    /// Whether this run has given the vehicle a verdict.
    func hasEnded(_ index: Int) -> Bool { state.withLock { $0.ended.contains(index) } }

    func waveBegan(_ wave: Int) async throws(JournalError) {
        guard !isPartial, rollout.map({ $0.wave < wave }) ?? false else { return }
        state.withLock {
            $0.rollout?.wave = wave
            $0.rollout?.waveEnded = nil
        }
        try await save()
    }

    func waveEnded(_ wave: Int) async throws(JournalError) {
        guard !isPartial, let record = rollout, record.wave == wave, record.waveEnded == nil else {
            return
        }
        let now = depot.time.wallTime
        state.withLock { $0.rollout?.waveEnded = now }
        try await save()
    }

    func end(_ ending: RunEnding) async throws(JournalError) {
        guard let record = rollout else { return }
        guard !isPartial else {
            // A partial run leaves a finished rollout finished when all vehicles have ended again.
            guard ending == .complete, record.state == .finished else { return }
            let all = try await depot.journal.executions(
                rollout: depot.rollout,
                plan: record.plan
            )
            if all.allSatisfy({ $0.end != nil }) { try await save() }
            return
        }
        let isFinished = state.withLock { !$0.outcomes.contains(nil) }
        guard ending == .complete, isFinished, try await answeredDoubts().isEmpty else { return }
        state.withLock { $0.rollout?.state = .finished }
        try await save()
    }

    /// Vehicles whose doubt a person has answered since it was reported: the verdict is taken away.
    func answeredDoubts() async throws(JournalError) -> Set<Int> {
        let outcomes = state.withLock { $0.outcomes }
        let inDoubt = executions.indices.filter { outcomes[$0] == .inDoubt }
        guard !inDoubt.isEmpty else { return [] }
        let open = Set(try await depot.journal.doubts(of: nil).map(\.intent.vehicle))
        return Set(inDoubt.filter { !open.contains(executions[$0].vehicle) })
    }

    /// The rollout is paused or aborted.
    func obeys(_ hold: Hold) { state.withLock { $0.obeyed = hold } }

    /// Whether this run has begun nothing, or nothing more, because the rollout is paused or aborted.
    var isHeld: Bool { refusal != nil || state.withLock { $0.obeyed != nil } }

    /// The hold that a gate or a wave sets when it ends the run in this way, whatever hold there is.
    ///
    /// Nil when this run has set it before, or when it only obeys: a hold that a person lifts while
    /// the run drains is not set again. `wave` is the one that has ended and stops the rollout.
    func hold(_ ending: RunEnding, after wave: Int? = nil) -> GateHold? {
        let found: (kind: Hold.Kind, why: String)? =
            switch ending {
            case .paused(let why): (.paused, why)
            case .aborted(let why): (.aborted, why)
            case .complete, .stopped, .replaced, .workLeft: nil
            }
        guard let found, !isPartial else { return nil }
        let hold = Hold(
            found.kind,
            depot.rollout,
            reason: found.why,
            author: Hold.gate,
            at: depot.time.wallTime,
            afterWave: wave
        )
        return state.withLock { state in
            guard state.rollout != nil, state.set != found.kind, state.set != .aborted else {
                return nil
            }
            if let obeyed = state.obeyed, obeyed.kind == found.kind, obeyed.reason == found.why {
                return nil
            }
            let isLater = state.set != nil || state.obeyed != nil
            state.set = found.kind
            return GateHold(hold, isAfterAnother: isLater)
        }
    }

    /// Writes the hold of a wave that stops the rollout: from here on nothing more is begun.
    func drains(_ ending: RunEnding) async throws(JournalError) {
        // A gate's hold is written with the verdict that trips it, so what stops here is a wave.
        let wave = rollout.flatMap { $0.waveEnded == nil ? nil : $0.wave }
        guard let hold = hold(ending, after: wave) else { return }
        try await depot.journal.trip(hold)
    }

    private func save() async throws(JournalError) {
        guard var rollout else { return }
        rollout.updated = depot.time.wallTime
        try await depot.journal.save(rollout)
    }

    /// The current standing of each vehicle, from the journal; then of those that are not in the
    /// list and owe something, or are in doubt.
    func standings(
        of jobs: [VehicleJob]
    ) async throws(JournalError) -> [(vehicle: VehicleID, standing: Standing)] {
        var records: [Int: ExecutionRecord] = [:]
        let known = try await depot.journal.executions(
            rollout: depot.rollout,
            plan: executions.first?.plan
        )
        for record in known { records[record.number] = record }
        let accounts = OpenAccounts(
            debts: try await depot.journal.debts(),
            doubts: try await depot.journal.doubts(of: nil),
            owed: try await depot.journal.owed(by: nil)
        )
        var standings: [(vehicle: VehicleID, standing: Standing)] = []
        for (index, (job, kept)) in zip(jobs, executions).enumerated() {
            var record = records[kept.number] ?? kept
            if kept.number > 0, records[kept.number] == nil {
                record = try await depot.journal.execution(kept.number) ?? kept
            }
            var standing = accounts.standing(
                of: record,
                asking: depot.run,
                // A read that was cut off does not show that the doubt is no concern of its order.
                onlyReads: job.onlyReads && record.end != nil
            ) { job.check(of: $0.intent) }
            standing.sent = ByteCount(bytes: bytesSent(to: index)) ?? .zero
            standings.append((job.vehicle, standing))
        }
        let now = depot.time.wallTime
        let own = Set(jobs.map(\.vehicle))
        for account in try await depot.journal.accountsLeft(by: depot.run)
        where !own.contains(account.vehicle) {
            standings.append((account.vehicle, account.standing(asking: depot.run, at: now)))
        }
        return standings
    }
}
