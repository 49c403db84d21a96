import Domain
import Journal
import Synchronization

/// What the journal knew when the run began, and what this run has added.
final class Ledger: Sendable {
    private struct State {
        /// Nil for a run that keeps no record of the rollout.
        var rollout: RolloutRecord?
        /// Verdicts, of this run or of the one it goes on with.
        var outcomes: [Outcome?]
        var ended: Set<Int> = []
        /// What a person has looked at since it ended in doubt: these vehicles, or all.
        var looked: Set<VehicleID> = []
        var hasLookedAtAll = false
    }

    private let depot: Depot
    private let isPartial: Bool
    /// By index of the job.
    let earlier: [ExecutionRecord?]
    /// Whether this run goes on with a rollout that an earlier one began.
    let isContinued: Bool
    private let state: Mutex<State>

    private init(
        _ depot: Depot,
        _ schedule: Schedule,
        earlier: [ExecutionRecord?],
        rollout: RolloutRecord?
    ) {
        self.depot = depot
        isPartial = schedule.isPartial
        let plan = schedule.plan
        self.earlier = earlier
        var outcomes = [Outcome?](repeating: nil, count: earlier.count)
        guard let rollout, rollout.plan == plan, rollout.state != .finished else {
            isContinued = false
            // A part of the vehicles alone does not begin a rollout.
            let fresh = (isPartial ? nil : plan).map {
                RolloutRecord(
                    name: depot.rollout,
                    plan: $0,
                    run: depot.run,
                    at: depot.time.wallTime
                )
            }
            state = Mutex(State(rollout: fresh, outcomes: outcomes))
            return
        }
        isContinued = true
        for (index, record) in earlier.enumerated() {
            guard let record, let end = record.end, record.run >= rollout.began else { continue }
            if end.outcome == .succeeded || end.outcome == .alreadyCurrent {
                outcomes[index] = end.outcome
            }
        }
        state = Mutex(State(rollout: rollout, outcomes: outcomes))
    }

    var rollout: RolloutRecord? { state.withLock { $0.rollout } }

    func outcome(of index: Int) -> Outcome? { state.withLock { $0.outcomes[index] } }

    /// Why nothing may be begun at all.
    var refusal: RunEnding? {
        let rollout = self.rollout
        switch rollout?.state {
        case .paused: return .paused(rollout?.reason ?? "")
        case .aborted: return .aborted(rollout?.reason ?? "")
        case .running, .finished, nil: return nil
        }
    }

    static func open(
        _ jobs: [VehicleJob],
        in depot: Depot,
        _ schedule: Schedule
    ) async throws(JournalError) -> Ledger {
        var byVehicle: [VehicleID: ExecutionRecord] = [:]
        for record in try await depot.journal.executions(rollout: depot.rollout) {
            byVehicle[record.vehicle] = record
        }
        let ledger = Ledger(
            depot,
            schedule,
            earlier: jobs.map { job in
                byVehicle[job.vehicle].flatMap { $0.serial == job.serial ? $0 : nil }
            },
            rollout: schedule.plan == nil ? nil : try await depot.journal.rollout(depot.rollout)
        )
        try await ledger.takeUpRequests()
        return ledger
    }

    /// What was asked for while nobody ran.
    private func takeUpRequests() async throws(JournalError) {
        guard rollout != nil else { return }
        for open in try await depot.journal.openRequests(for: depot.rollout) {
            let answer = takeUp(open.request)
            try await depot.journal.answer(open, answer, at: depot.time.wallTime)
        }
        try await save()
    }

    private func takeUp(_ request: ControlRequest) -> String {
        guard let state = rollout?.state else { return "there is no rollout" }
        switch request.kind {
        case .pause:
            guard state == .running else { return "it is \(state.rawValue) already" }
            change(.paused, request.sentence("paused"))
            return "paused before anything was begun"
        case .abort:
            guard state != .aborted else { return "it is aborted already" }
            change(.aborted, request.sentence("aborted"))
            return "aborted before anything was begun"
        case .resume:
            guard state == .paused else { return "it is \(state.rawValue), not paused" }
            resume()
            return "goes on"
        case .retry:
            noteLook(at: request.vehicles)
            return "taken again by the run that began now"
        case .yield:
            return "there was nothing to end"
        }
    }

    private func noteLook(at vehicles: [VehicleID]) {
        state.withLock {
            $0.looked.formUnion(vehicles)
            if vehicles.isEmpty { $0.hasLookedAtAll = true }
        }
    }

    /// Whether an order that ended in doubt may be given again: a person has asked for it.
    func mayRepeat(_ vehicle: VehicleID) -> Bool {
        state.withLock { $0.hasLookedAtAll || $0.looked.contains(vehicle) }
    }

    private func change(_ state: RolloutRecord.State, _ reason: String) {
        self.state.withLock {
            $0.rollout?.state = state
            $0.rollout?.reason = reason
        }
    }

    /// A person has looked: what failed before counts no more, and a wave that has ended is over.
    private func resume() {
        change(.running, "")
        let run = depot.run
        state.withLock {
            $0.rollout?.gateSince = run
            guard $0.rollout?.waveEnded != nil else { return }
            $0.rollout?.wave += 1
            $0.rollout?.waveEnded = nil
        }
    }

    // MARK: What this run adds

    /// Whether an earlier run of this rollout was done with the vehicle.
    func isDone(_ index: Int) -> Bool {
        state.withLock { $0.outcomes[index] != nil && !$0.ended.contains(index) }
    }

    func note(_ index: Int, _ outcome: Outcome) {
        state.withLock {
            $0.outcomes[index] = outcome
            $0.ended.insert(index)
        }
    }

    func taken(again index: Int) {
        state.withLock {
            $0.outcomes[index] = nil
            $0.ended.remove(index)
        }
    }

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
        switch ending {
        case .complete: if !isPartial { change(.finished, "") }
        case .paused(let why): change(.paused, why)
        case .aborted(let why): change(.aborted, why)
        case .stopped, .replaced, .workLeft: break
        }
        try await save()
    }

    private func save() async throws(JournalError) {
        guard var rollout else { return }
        rollout.updated = depot.time.wallTime
        try await depot.journal.save(rollout)
    }

    func result(_ ending: RunEnding) -> RunResult {
        var result = RunResult()
        result.ending = ending
        for outcome in state.withLock({ $0.outcomes }) {
            if let outcome {
                result.counts[outcome, default: 0] += 1
            } else {
                result.unfinished += 1
            }
        }
        return result
    }
}

extension Inhibit {
    /// What a vehicle that is left alone is told to have.
    var sentence: String {
        let whom = vehicle == nil ? "the depot is inhibited" : "inhibited"
        let until = expires.map { " until \($0)" } ?? ""
        return "\(whom)\(until): \(reason)"
    }
}

extension ControlRequest {
    /// As "paused by request: brakes are being checked".
    func sentence(_ verb: String) -> String {
        reason.isEmpty ? "\(verb) by request" : "\(verb) by request: \(reason)"
    }
}
