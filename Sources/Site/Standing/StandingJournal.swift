package import Base
package import Commands
import Manifest
package import Operations
import Rollout
package import Show
package import Store

/// Reads the journal of a state directory for commands that only look: `status`, `show`, `morning`,
/// `history`, and the pages of `serve`.
package struct StandingJournal: Sendable {
    package let state: String
    /// The flags of the command line.
    private let given: PlaceFlags
    /// A cache of plans, for a command that runs for a long time.
    var shelf: PlanShelf?

    package init(state: String, flags: PlaceFlags, shelf: PlanShelf? = nil) {
        self.state = state
        given = flags
        self.shelf = shelf
    }

    /// Makes commands for people.
    ///
    /// Readers of pages do not know this machine's folders.
    var flags: PlaceFlags { shelf == nil ? given.of(state) : given.elsewhere(state) }

    /// The process that works in the directory.
    package var holder: LockHolder? { StateDirectoryHolder.current(state) }

    /// The plans that are kept here, by rollout name.
    func plans(of snapshots: [RolloutSnapshot]) -> [String: MorningMaker.Plan] {
        ledger.plans(of: snapshots)
    }

    private var ledger: KnownVehicles { KnownVehicles(state: state, shelf: shelf) }

    package func read<R>(
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(CommandError) -> R {
        do throws(JournalError) {
            return try JournalReader(directory: state).read(body)
        } catch { throw CommandError(reading: error, in: state) }
    }

    /// The status of a rollout; nil means the one that ran last.
    package func status(
        of rollout: String?,
        _ options: CommonOptions? = nil
    ) throws(CommandError) -> RolloutStatus {
        let now = RealTime().wallTime
        if shelf != nil {
            // The memory for reading a plan is free again before the vehicles are read.
            let record = try read { view throws(JournalError) -> RolloutRecord? in
                let run =
                    rollout == nil ? try view.lastRollout() : try view.lastRun(rollout: rollout)
                guard let run else { return nil }
                return try view.rollout(run.rollout)
            }
            if let record { _ = plan(record.plan, of: record.name) }
        }
        let holder = holder
        let (snapshot, briefs, first) = try read { view throws(JournalError) in
            let now = try view.present(now)
            let snapshot = try RolloutSnapshot(of: rollout, in: view, holder: holder, at: now)
            let run = snapshot.run?.number
            return (
                snapshot,
                try RolloutStatus.briefs(in: view, holder: holder, at: now, known: snapshot),
                try run.flatMap { run throws(JournalError) in
                    try view.events(run: run, after: 0, limit: 1).first
                }
            )
        }
        if snapshot.run == nil, let rollout { throw CommandError.unknown(rollout: rollout) }
        let options = try options?.looking(in: ledger.ground(of: snapshot))
        var status = RolloutStatus(
            snapshot,
            briefs: briefs,
            plan: ledger.plan(of: snapshot),
            manifest: PlanArchive(state: state).manifest(of: snapshot.run?.rollout ?? ""),
            isRunning: holder != nil,
            flags: flags,
            takes: options.map { options in { options.takes($0) } }
        )
        if case .runStarted(let start)? = first.flatMap(RunList.body) {
            status.approvers = start.approvers
        }
        return status
    }

    /// Everything that is known about a vehicle, and the zone in which its times are shown.
    func story(
        of vehicle: VehicleID,
        _ context: Context
    ) throws(CommandError) -> (story: Show.VehicleStory, zone: Zone) {
        let now = RealTime().wallTime
        let holder = holder
        let view = try read { view throws(JournalError) in
            try VehicleView(of: vehicle, in: view, holder: holder, at: try view.present(now))
        }
        guard view.isKnown else {
            throw CommandError(
                .inputMissing,
                "no run here knows the vehicle \(vehicle.text.visible)",
                hint:
                    "'yardmaster status' lists those of the last rollout; ids are written as in the "
                    + "fleet list"
            )
        }
        let plans = ledger.plans(of: view.snapshots)
        let zone =
            view.snapshots.lazy.compactMap { snapshot -> Zone? in
                guard let plan = plans[snapshot.run?.rollout ?? ""]?.plan, plan.zone != nil
                else { return nil }
                return ZoneSource.shown(plan, context)
            }.first ?? .utc
        return (Show.VehicleStory(view, plans: plans, flags: flags), zone)
    }

    /// The page of what people have to do; `since` is a time as people write it, else the last
    /// noon.
    func morning(
        since: String?,
        days: Int,
        _ context: Context
    ) throws(CommandError) -> (page: MorningPage, zone: Zone) {
        let (runs, now) = try read { view throws(JournalError) in
            (
                try view.runs(rollout: nil, limit: 50), try view.present(RealTime().wallTime)
            )
        }
        let zone = zone(of: runs, context)
        let begin = try Self.begin(since, now, zone)
        let holder = holder
        let ground = try read { view throws(JournalError) in
            try MorningMaker.Ground(in: view, since: begin, holder: holder, at: now)
        }
        let maker = MorningMaker(
            ground,
            plans: ledger.plans(of: ground.snapshots),
            since: begin,
            at: now,
            staleDays: days,
            flags: flags
        )
        return (maker.page, zone)
    }

    /// The runs in the journal, the newest first.
    func history(
        of rollout: String?,
        count: Int,
        _ context: Context
    ) throws(CommandError) -> (history: RunList, zone: Zone) {
        let (rows, sayings) = try read { view throws(JournalError) in
            var rows: [RunList.Row] = []
            for run in try view.runs(rollout: rollout, limit: count) {
                rows.append(RunList.Row(run, lastEvent: try view.lastEvent(run: run.number)))
            }
            let sayings = try view.sayings(
                of: rollout,
                sinceRun: rows.last?.run.number ?? 0,
                limit: RunList.mostSayings
            )
            return (rows, Array(sayings.reversed()))
        }
        if rows.isEmpty, let rollout { throw CommandError.unknown(rollout: rollout) }
        let list = RunList(rows, sayings: sayings, holder: holder)
        return (list, zone(of: rows.map(\.run), context))
    }

    /// A run with its events; nil means the last one.
    func shown(_ number: Int?) throws(CommandError) -> ShownRun {
        let holder = holder
        let found = try read { view throws(JournalError) -> ShownRun? in
            guard let run = try view.run(orLast: number) else { return nil }
            let events = try view.events(run: run.number)
            let isCutOff = run.end.map { $0.exitCode == nil } ?? (holder == nil)
            return ShownRun(
                run,
                events,
                leaving: isCutOff ? try view.left(by: run, events) : [],
                isAtWork: run.end == nil && holder != nil
            )
        }
        guard let found else {
            throw HistoryJournal.unknown(run: number.map { RunName($0) }, in: state)
        }
        return found
    }

    /// A run with its story; of one that has ended, the events are read in pieces and not kept.
    func run(
        _ wish: RunWish,
        _ context: Context
    ) throws(CommandError) -> (shown: ShownRun, story: RunStory, zone: Zone) {
        if case .run(let name) = wish, name.gateway != nil {
            throw HistoryJournal.unknown(run: name, in: state)
        }
        let ended = try read { view throws(JournalError) in
            try view.run(orLast: wish.number).flatMap { $0.end?.exitCode == nil ? nil : $0 }
        }
        guard let ended else {
            let found = try shown(wish.number)
            return (found, found.story, zone(of: [found.run], context))
        }
        let story = try story(ofRun: ended.number)
        return (ShownRun(ended, []), story, zone(of: [ended], context))
    }

    /// A comparison of two runs, by their numbers.
    package func comparison(
        _ before: Int,
        _ after: Int,
        _ context: Context
    ) throws(CommandError) -> (comparison: RunComparison, list: RunList, zone: Zone) {
        func told(_ number: Int) throws(CommandError) -> (row: RunList.Row, words: [EventRecord]) {
            let found = try read {
                view throws(JournalError) -> (row: RunList.Row, words: [EventRecord])? in
                guard let run = try view.run(number) else { return nil }
                let row = RunList.Row(run, lastEvent: try view.lastEvent(run: number))
                return (row, try view.lastWords(ofRun: number))
            }
            guard let found else { throw HistoryJournal.unknown(run: RunName(number), in: state) }
            return found
        }
        let (one, other) = (try told(before), try told(after))
        let list = RunList([other.row, one.row], sayings: [], holder: holder)
        return (RunComparison(one, other), list, zone(of: list.rows.map(\.run), context))
    }

    /// The last run of a rollout that has an exit code, and when one last ended with exit code 0.
    func lastEnded(of rollout: String) throws(CommandError) -> (run: Int?, success: WallTime?) {
        let runs = try read { view throws(JournalError) in
            try view.runs(rollout: rollout, limit: 1_000)
        }
        return (
            runs.first { $0.end?.exitCode != nil }?.number,
            runs.first { $0.end?.exitCode == 0 }?.end?.time
        )
    }

    /// The story of a run that has ended, without its document.
    ///
    /// It is read in pieces: all events of a large run together would take more memory than
    /// everything else.
    func story(ofRun number: Int) throws(CommandError) -> RunStory {
        var story = RunStory(withDocument: false)
        try replay(number) { story.note($0) }
        return story
    }

    /// All events of a run, in order.
    func replay(_ number: Int, _ take: (Event) -> Void) throws(CommandError) {
        var last = 0
        while true {
            let records = try read { view throws(JournalError) in
                try view.events(run: number, after: last, limit: 500)
            }
            guard let end = records.last?.number else { return }
            last = end
            for record in records {
                guard let body = RunList.body(of: record) else { continue }
                take(Event(number: record.number, time: record.time, body: body))
            }
        }
    }

    private func plan(_ digest: SHA256Digest, of rollout: String) -> FrozenPlan? {
        let archive = PlanArchive(state: state)
        guard let shelf else { return archive.plan(digest, of: rollout) }
        return shelf.plan(digest) { archive.plan(digest, of: rollout) }
    }

    /// The zone of the window of the last rollout that has one.
    func zone(of runs: [RunRecord], _ context: Context) -> Zone {
        var seen: Set<String> = []
        for run in runs where seen.insert(run.rollout).inserted {
            guard let plan = plan(run.plan, of: run.rollout),
                plan.rollout.window != nil
            else { continue }
            if let zone = try? ZoneSource.zone(of: plan, context) { return zone }
        }
        return .utc
    }

    /// The zone of the last window and the present, for times that people write.
    ///
    /// Without a journal they are UTC and the clock of this machine.
    package func clock(_ context: Context) -> (zone: Zone, now: WallTime) {
        let now = RealTime().wallTime
        let found = try? JournalReader(directory: state).read { view throws(JournalError) in
            (try view.runs(rollout: nil, limit: 50), try view.present(now))
        }
        guard let found else { return (.utc, now) }
        return (zone(of: found.0, context), found.1)
    }

    /// Parses a length of time before now, or a time in the zone.
    static func begin(
        _ since: String?,
        _ now: WallTime,
        _ zone: Zone
    ) throws(CommandError) -> WallTime {
        guard let since else { return zone.lastNoon(before: now) }
        if let duration = Duration(text: since) { return now.advanced(by: .zero - duration) }
        if let time = zone.moment(since) { return time }
        throw CommandError(
            .usage,
            "'\(since.visible)' is no time",
            hint: "write how long ago, such as 18h or 3d, or a time such as '2026-11-21 18:00'"
        )
    }
}

extension JournalView {
    /// A run by its number; nil means the last one.
    fileprivate func run(orLast number: Int?) throws(JournalError) -> RunRecord? {
        if let number { return try run(number) }
        return try lastRun(rollout: nil)
    }
}
