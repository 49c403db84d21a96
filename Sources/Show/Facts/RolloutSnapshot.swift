package import Base
package import Commands
package import Store

/// The state of a rollout at one moment, from the journal of one machine or the database of a
/// fleet: the source of `status`, selections and the morning's page.
package struct RolloutSnapshot: Sendable {
    package let run: RunRecord?
    package private(set) var executions: [ExecutionRecord]
    /// Vehicles among these that are not in the list of its last run and owe something.
    private(set) var left: Set<VehicleID> = []
    /// Vehicles that an order has left without a verdict, and on which something was done since.
    private(set) var replaced: Set<VehicleID> = []
    /// The same with the verdicts that they had before their vehicles were checked once more.
    private var settled: [ExecutionRecord] = []
    package var rollout: RolloutRecord?
    private(set) var requests: [OpenRequest] = []
    package var inhibits: [Inhibit] = []
    /// Images that are recalled, with the vehicles that have them.
    var recalls: [RecallUse] = []
    var failures: [FailureCount] = []
    var debts: [Debt] = []
    var doubts: [IntentRecord] = []
    var owed: [OwedStep] = []
    /// How well vehicles were heard in its last run, where that decides what helps.
    private var signals: [VehicleID: Cause.Signal] = [:]
    /// People's commands since its last run began, about it or about vehicles; the oldest first.
    var sayings: [Saying] = []
    /// Whether its last run, or a run of any gateway, is active, and was not killed.
    package let isAtWork: Bool
    /// The part that concerns several gateways; nil for a snapshot from a journal.
    package private(set) var shared: SharedStanding?

    /// The rollout of this name; nil for the one that ran last and is no order.
    ///
    /// `holder` is the process that holds the lock of the state directory. When there is none, a
    /// run without an end was killed.
    package init(
        of rollout: String?,
        in view: JournalView,
        holder: LockHolder?,
        at now: WallTime
    ) throws(JournalError) {
        let run =
            rollout == nil ? try view.lastRollout() : try view.lastRun(rollout: rollout)
        self.run = run
        isAtWork = holder != nil && run.map { $0.end == nil } ?? false
        guard let run else {
            executions = []
            return
        }
        executions = try view.executions(rollout: run.rollout)
        settled = try view.standing(executions)
        if run.isOrder, !isAtWork { replaced = try view.replaced(ofOrder: run.rollout) }
        self.rollout = try view.rollout(run.rollout)
        requests = try view.openRequests(for: run.rollout)
        inhibits = try view.inhibits(at: now)
        recalls = try view.recallUses()
        failures = try view.failures(atLeast: 1)
        debts = try view.debts()
        doubts = try view.doubts(of: nil)
        owed = try view.owed(by: nil)
        sayings = try view.sayings(
            of: run.rollout,
            sinceRun: run.number,
            limit: Self.mostSayings
        )
        if !debts.isEmpty || settled.contains(where: \.isAboutSignal) {
            for heard in try view.signals(ofRun: run.number) {
                signals[heard.vehicle] = Cause.Signal(heard.signal)
            }
        }
        guard try view.lastRollout()?.number == run.number else { return }
        // Like the report of the last run, it has what vehicles outside its list owe, also where an
        // earlier plan has begun them.
        let atWork = holder == nil ? [] : try view.vehiclesAtWork()
        let ended = settled.lazy.filter { $0.end != nil && $0.run == run.number }
        let told = atWork.union(ended.map(\.vehicle))
        let left = try view.accountsLeft(by: run.number)
            .filter { !told.contains($0.vehicle) }
            .map { $0.record(asking: run.number, at: now) }
        let names = Set(left.map(\.vehicle))
        executions = executions.filter { !names.contains($0.vehicle) } + left
        settled = settled.filter { !names.contains($0.vehicle) } + left
        self.left = names
    }

    static let mostSayings = 20

    /// Makes a snapshot from a fleet's database; `settled` also has the verdicts of vehicles that
    /// are checked once more.
    init(
        of run: RunRecord,
        _ rollout: RolloutRecord,
        _ executions: [ExecutionRecord],
        settled: [ExecutionRecord],
        shared: SharedStanding
    ) {
        self.run = run
        self.rollout = rollout
        self.executions = executions
        self.settled = settled
        self.shared = shared
        isAtWork = shared.isAtWork
    }

    /// The vehicles of a fleet's rollout that are done and are not among the executions.
    var done: [FleetView.Done] { shared?.done ?? [] }

    /// All vehicles: those with these standings, and those that are done.
    func counts(_ standings: [Standing]) -> VehicleCounts {
        var counts = VehicleCounts(standings.map { $0.verdict?.outcome })
        for group in done { counts.add(group.outcome, times: group.count) }
        return counts
    }

    func signal(of vehicle: VehicleID) -> Cause.Signal { signals[vehicle] ?? .unknown }

    /// Vehicles that the active run has begun and not ended.
    package var underWay: [ExecutionRecord] { executions.filter(isUnderWay) }

    func isUnderWay(_ record: ExecutionRecord) -> Bool {
        if let shared { return shared.holders[record.vehicle] != nil }
        guard let run, isAtWork else { return false }
        return record.run == run.number && record.end == nil && record.state != .queued
    }

    /// Vehicles that the run was working on when it was killed.
    package var cutOff: [ExecutionRecord] {
        guard shared == nil, let run, run.end == nil, !isAtWork else { return [] }
        return executions.filter {
            $0.run == run.number && $0.end == nil && $0.state != .queued
        }
    }

    /// What the run under way is about to settle is no doubt yet.
    var openDoubts: [IntentRecord] {
        guard shared == nil else { return doubts }
        return doubts.filter { $0.isOpenDoubt(in: isAtWork ? run : nil) }
    }

    /// The same standings as in a report of the last run, by vehicle in the order of `chosen`.
    package func standings(of chosen: [ExecutionRecord]) -> [Standing] {
        let accounts = OpenAccounts(debts: debts, doubts: openDoubts, owed: owed)
        // The account of a module that was taken out has the number of the execution that began it.
        let wanted = Dictionary(chosen.map { ($0.vehicle, $0.number) }) { _, last in last }
        return settled.compactMap { record in
            guard wanted[record.vehicle] == record.number else { return nil }
            var standing = accounts.standing(
                of: record,
                asking: run?.number ?? record.run,
                // An order may only read: its own verdict shows whether a doubt concerned it.
                onlyReads: run?.isOrder == true && record.end != nil
            )
            standing.waits = shared?.waits[record.vehicle]
            return standing
        }
    }

    /// The first deadline, if nothing happens before.
    package var nextDeadline: (vehicle: VehicleID, deadline: ExecutionRecord.Deadline)? {
        guard let run, isAtWork, shared == nil else { return nil }
        let deadlines = executions.filter { $0.run == run.number }.compactMap { record in
            record.nextDeadline.map { (vehicle: record.vehicle, deadline: $0) }
        }
        return deadlines.min { ($0.deadline.time, $0.vehicle) < ($1.deadline.time, $1.vehicle) }
    }

    /// The vehicles of each group; nil when nothing has run.
    package var groups: [VehicleSelection.Group: Set<VehicleID>]? {
        guard run != nil else { return nil }
        var groups: [VehicleSelection.Group: Set<VehicleID>] = [:]
        for (record, standing) in zip(executions, standings(of: executions)) {
            switch standing.verdict?.outcome.tally {
            case .failed: groups[.failed, default: []].insert(record.vehicle)
            case .unreachable: groups[.unreachable, default: []].insert(record.vehicle)
            case .deferred: groups[.deferred, default: []].insert(record.vehicle)
            case .ok, .current, .skipped, .aborted, nil: break
            }
        }
        groups[.doubt] = Set(openDoubts.map(\.intent.vehicle))
        return groups
    }
}

extension ExecutionRecord {
    /// Whether its distance may be the reason why it ended as it did.
    fileprivate var isAboutSignal: Bool {
        end?.failure == .transient || end?.outcome == .timedOut
    }
}

extension IntentRecord {
    /// What the run under way is about to settle is no doubt yet.
    fileprivate func isOpenDoubt(in run: RunRecord?) -> Bool {
        guard let run, intent.run == run.number else { return true }
        return settlement != nil
    }
}
