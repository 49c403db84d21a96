package import Base
import Manifest
package import Store

/// The content of `status`: one rollout with its vehicles, and a summary of the other rollouts.
///
/// The command, the page of `serve` and its interface all use it, so that they cannot differ.
package struct RolloutStatus: Sendable {
    /// A summary of a rollout in the state directory.
    package struct Brief: Sendable {
        package let run: RunRecord
        package let state: String
        package let counts: VehicleCounts
        /// Whether it is only in this machine's journal, not in the machine's fleet.
        package var isOwn = false
        /// Whether a run works on it; nil where only a fleet's database knows it.
        var isAtWork: Bool?
        /// How many vehicles have to be helped in which way; nil like `isAtWork`.
        var tasks: [NextStep.Work: Int]?
        /// When the oldest of its updates that are not proven yet was begun.
        var oldestDebt: WallTime?
    }

    package let snapshot: RolloutSnapshot
    /// All rollouts that ran here and are no orders, the newest first.
    package let briefs: [Brief]
    /// The plan that the rollout was begun with; nil when it is not kept.
    package let plan: PlanView?
    private let manifest: String?
    /// Whether a process works in the state directory.
    let isRunning: Bool
    /// Makes commands for people.
    let flags: PlaceFlags
    /// The selected vehicles, and their standings in the same order.
    package let chosen: [ExecutionRecord]
    package let standings: [Standing]
    /// The source of this answer; nil on a machine that belongs to no fleet.
    package var source: StandingSource?
    /// Who has approved its plan; empty where no policy asks for that.
    package var approvers: [String]
    /// When its window opens next, of a rollout that is not over.
    package var openings: [OpenTimes.Span] = []
    /// Whether its window is open now; nil where that is not known.
    package var window: OpenTimes.State?

    /// When the active run may begin a vehicle, as long as it only waits for its window.
    package var waitsUntil: WallTime? {
        guard case .closed = window, snapshot.isAtWork, snapshot.rollout?.hold == nil,
            snapshot.underWay.isEmpty
        else { return nil }
        return openings.first?.opens
    }

    /// When the window closes in which the active run works.
    var closes: WallTime? {
        guard case .open(let until) = window, snapshot.isAtWork else { return nil }
        return until
    }

    /// When the active run has ended the rest, if that takes as long for each vehicle as it took so far.
    var expectedEnd: WallTime? {
        guard snapshot.isAtWork, snapshot.rollout?.hold == nil, let run = snapshot.run else {
            return nil
        }
        let groups = snapshot.done.compactMap(\.recent)
        let times = snapshot.executions.compactMap { $0.end?.time }.filter { $0 >= run.started }
        let ends = times + groups.flatMap { [$0.first, $0.last] }
        let count = groups.reduce(times.count) { $0 + $1.count }
        // The first one only shows when the work began.
        let left = counts.unfinished
        guard count > 2, let first = ends.min(), let last = ends.max(), first < last, left > 0
        else { return nil }
        return last.advanced(by: first.duration(to: last) / (count - 1) * left)
    }

    /// `takes` selects vehicles; nil selects all.
    package init(
        _ snapshot: RolloutSnapshot,
        briefs: [Brief],
        plan: PlanView?,
        manifest: String?,
        isRunning: Bool,
        flags: PlaceFlags,
        takes: ((VehicleID) -> Bool)? = nil
    ) {
        self.snapshot = snapshot
        self.briefs = briefs
        self.plan = plan
        approvers = plan?.approval?.names ?? []
        self.manifest = manifest
        self.isRunning = isRunning
        self.flags = flags
        // The same list without a copy when all are selected.
        chosen =
            takes.map { takes in snapshot.executions.filter { takes($0.vehicle) } }
            ?? snapshot.executions
        standings = snapshot.standings(of: chosen)
    }

    package var counts: VehicleCounts { snapshot.counts(standings) }

    /// The most vehicles of which each has a line in its text; of more, only those that are neither done nor wait for a
    /// run.
    package static let mostListed = 200

    /// All rollouts except this one.
    package var others: [Brief] { briefs.filter { $0.run.rollout != snapshot.run?.rollout } }

    /// When the time between two waves is over.
    package var soaksUntil: WallTime? {
        guard let rollout = snapshot.rollout, rollout.hold == nil, rollout.state == .running,
            let ended = rollout.waveEnded,
            let soak = plan?.soak, soak > .zero
        else { return nil }
        return ended.advanced(by: soak)
    }

    /// What people have to do next about the selected vehicles.
    package var nextSteps: [(vehicle: VehicleID, step: NextStep)] {
        let names = Set(chosen.map(\.vehicle))
        let isWhole = chosen.count == snapshot.executions.count
        return snapshot.nextSteps(manifest: manifest, plan, flags: flags, isWhole ? standings : nil)
            .filter { names.contains($0.record.vehicle) }.map { ($0.record.vehicle, $0.step) }
    }

    /// What helps which of the selected vehicles; a paused rollout is resumed where its state stands.
    package var groups: [HelpGroup] {
        let steps = nextSteps
        let helped = Set(steps.map(\.vehicle))
        let cards = plan?.vehicles.filter { helped.contains($0.id) } ?? []
        let planned = Dictionary(cards.map { ($0.id, $0) }) { first, _ in first }
        let name = snapshot.run?.rollout ?? ""
        let tasks = steps.map { vehicle, step in
            MorningPage.Task(MorningPage.Card(vehicle, nil, planned[vehicle]), name, step)
        }
        return HelpGroup.groups(of: tasks, told: [resume, NextStepGuide.resume(name, flags)])
    }

    /// How many of the selected vehicles need a person.
    func headline(_ groups: [HelpGroup]) -> Headline {
        var headline = Headline()
        headline.add(snapshot, chosen, standings, isOnly: true)
        for task in groups.flatMap(\.tasks) { headline.add(task.card.vehicle, task.step) }
        return headline
    }

    /// The shell commands that resume a paused rollout, and that begin one again.
    var resume: String {
        // In a fleet a verb without a name means the rollout of the machine that it is given on.
        let isLast =
            snapshot.shared == nil && briefs.first?.run.rollout == snapshot.run?.rollout
        return isLast
            ? flags.line("resume") : NextStepGuide.resume(snapshot.run?.rollout ?? "", flags)
    }
    var again: String { runFlags.again(manifest) }
    /// The command that goes on with a recall.
    var back: String {
        runFlags.line("rollback", NextStep.quoted(snapshot.run?.rollout ?? ""))
    }
    private var runFlags: PlaceFlags { snapshot.shared == nil ? flags : flags.onGateway }

    /// The waves of the kept plan, each with its selected vehicles.
    var waves: [WaveStatus] {
        guard let members = snapshot.shared?.waves ?? plan?.waves, let rollout = snapshot.rollout
        else { return [] }
        var outcomes: [VehicleID: Outcome?] = [:]
        for (record, standing) in zip(chosen, standings) {
            outcomes.updateValue(standing.verdict?.outcome, forKey: record.vehicle)
        }
        return members.enumerated().map { index, members in
            var counts = VehicleCounts(members.compactMap { outcomes[$0] })
            for group in snapshot.done where group.wave == index {
                counts.add(group.outcome, times: group.count)
            }
            let isOver =
                rollout.state == .finished || index < rollout.wave
                || (index == rollout.wave && rollout.waveEnded != nil)
            return WaveStatus(
                number: index + 1,
                state: isOver ? .over : index == rollout.wave ? .current : .open,
                counts: counts
            )
        }
    }

    /// When it pauses, and what must hold between waves.
    var gates: [String] { plan?.gates ?? [] }

    /// The rollouts that ran here and are no orders, the newest first.
    ///
    /// `known` was read in the same view, and is not read again. Those in `shared` are left out.
    package static func briefs(
        in view: JournalView,
        holder: LockHolder?,
        at now: WallTime,
        known: RolloutSnapshot? = nil,
        except shared: Set<String>? = nil
    ) throws(JournalError) -> [Brief] {
        var briefs: [Brief] = []
        for run in try view.runs(rollout: nil, limit: 1_000) where !run.isOrder {
            guard shared?.contains(run.rollout) != true else { continue }
            guard !briefs.contains(where: { $0.run.rollout == run.rollout }) else { continue }
            let snapshot =
                if let known, known.run?.rollout == run.rollout { known } else {
                    try RolloutSnapshot(of: run.rollout, in: view, holder: holder, at: now)
                }
            briefs.append(Brief(snapshot, run, isOwn: shared != nil))
        }
        return briefs
    }
}

extension RolloutStatus.Brief {
    init(_ snapshot: RolloutSnapshot, _ run: RunRecord, isOwn: Bool) {
        let standings = snapshot.standings(of: snapshot.executions)
        let steps = snapshot.nextSteps(manifest: nil, nil, flags: PlaceFlags(), standings)
        self.init(
            run: run,
            state: snapshot.rollout?.word ?? RolloutRecord.State.finished.rawValue,
            counts: VehicleCounts(standings.map { $0.verdict?.outcome }),
            isOwn: isOwn,
            isAtWork: snapshot.isAtWork,
            tasks: steps.reduce(into: [:]) { $0[$1.step.work, default: 0] += 1 },
            oldestDebt: snapshot.debts.map(\.begun).min()
        )
    }
}

extension FrozenPlan {
    /// When its rollout pauses, and what must hold before each next wave.
    package func gates(among total: Int) -> [String] {
        var lines: [String] = []
        if let rule = rollout.pause { lines.append(rule.words(among: total)) }
        guard waveSizes.count > 1 else { return lines }
        if let rule = rollout.advance {
            if let covered = rule.covered {
                lines.append("goes on to the next wave when \(covered) of a wave were reached")
            }
            if let least = rule.succeeded {
                lines.append("goes on to the next wave when \(least) of those attempted succeeded")
            }
        }
        let between = rollout.between
        if between.soak > .zero {
            lines.append("lets \(between.soak.brief) pass between two waves")
        }
        if let program = between.check.first { lines.append("asks \(program) between two waves") }
        if between.asks { lines.append("waits for a person between two waves") }
        return lines
    }
}
