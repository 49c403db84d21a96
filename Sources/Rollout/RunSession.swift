import Base
import Manifest
import Radio
import Store

/// An active run: performs the scheduler's decisions, each vehicle in a task of its own.
struct RunSession {
    let run: RolloutRun
    let depot: Depot
    let progress: RolloutProgress
    let shell: SchedulerShell
    /// Requested when all vehicles under way are to stop.
    let halt: StopSignal
    private let modules: RollCall
    /// Nil when no other machine works on the rollout.
    let shared: SharedPart?

    private static let tick = Duration.seconds(1)
    /// The pause between two reads of the host's list of adapters.
    private static let rosterPause = Duration.seconds(10)

    /// `learned` has the numbers of links that paid in earlier runs, by adapter.
    init(_ run: RolloutRun, _ progress: RolloutProgress, learned: [String: Int]) {
        self.run = run
        self.progress = progress
        depot = run.depot
        shared = run.depot.coordinator.wave.map { _ in SharedPart(run.jobs) }
        halt = StopSignal(under: run.depot.stop)
        let schedule = run.schedule
        let vehicles = run.jobs.indices.map { index in
            var vehicle = Dispatch.Vehicle()
            let record = progress.executions[index]
            vehicle.isOpen = progress.indebted.contains(index)
            vehicle.precedence = progress.precedence(of: index)
            vehicle.isAudible = run.jobs[index].isHeard
            vehicle.attempts = record.end == nil ? record.attempt : 0
            return vehicle
        }
        let dispatch = Dispatch(
            vehicles,
            adapters: run.adapters.map(\.adapter),
            linksPerAdapter: schedule.linksPerAdapter,
            learned: learned,
            overlaps: schedule.overlaps
        )
        // When nothing may be begun, there are no waves.
        let isHeld = progress.refusal != nil
        let rules = WaveBoard.Rules(schedule, isHeld: isHeld, shared: depot.coordinator.wave)
        var board = WaveBoard(
            isHeld ? [Array(run.jobs.indices)] : schedule.waves,
            strata: schedule.models,
            rules: rules,
            beginning: depot.coordinator.wave
                ?? (progress.isContinued ? progress.rollout?.wave ?? 0 : 0),
            soakedSince: progress.isContinued ? progress.rollout?.waveEnded : nil
        )
        for (index, record) in progress.executions.enumerated() {
            if record.forgiven { board.forgive(index) }
            guard let end = record.end else { continue }
            if !record.forgiven {
                board.remember(index, end.outcome, end.failure, touched: record.acted)
            }
            // Machines that go through the waves together all wait for the same vehicles.
            if !isHeld, !rules.isShared, progress.precedence(of: index) != .now {
                board.wasDone(index, end.outcome)
            }
        }
        shell = SchedulerShell(
            Scheduler(dispatch, board, schedule.limits),
            run.adapters,
            time: run.depot.time
        )
        modules = RollCall(run.jobs.map { ($0.driver.recogniser, $0.serial) })
    }

    func run() async throws(JournalError) -> RunResult {
        let began = depot.time.now
        try await leaveAlone()
        if progress.refusal == nil { try await lookAround() }
        repeat {
            await work()
            if let failure = shell.with({ $0.failure }) { throw failure }
            // A request may have been made since the last look: then the run goes on.
            if progress.refusal == nil { await askJournal() }
        } while !isOver
        if progress.refusal == nil { try await lookBack() }
        try await closeLeft()
        let ending = try await ending()
        if case .aborted(let why) = ending { try await abortRest(why) }
        try await depot.events.save(in: depot.journal)
        try await progress.end(ending)
        var result = RunResult()
        result.ending = ending
        result.isHeld = progress.isHeld
        try await depot.journal.giveVerdictsBack()
        let standings = try await progress.standings(of: run.jobs)
        result.vehicles = VehicleCounts(standings.map { $0.standing.verdict?.outcome })
        for (vehicle, standing) in standings where standing.isNews {
            depot.events.emit(.vehicleStands(vehicle, standing))
        }
        result.adapters = shell.with { state in
            state.scheduler.dispatch.adapters.map { adapter in
                var use = AdapterUse(name: adapter.name, busy: adapter.busy)
                use.spans = adapter.spans.map {
                    AdapterUse.Span(
                        from: began.duration(to: $0.from),
                        to: began.duration(to: $0.to)
                    )
                }
                return use
            }
        }
        return result
    }

    private var isOver: Bool { shell.with { $0.scheduler.isOver && $0.actions.isEmpty } }

    /// Carries out the scheduler's decisions until nothing is left to do.
    private func work() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepTime() }
            if let upkeep = depot.coordinator.upkeep { group.addTask { await upkeep() } }
            shell.advance()
            look()
            while !isOver {
                for action in shell.takeActions() { await perform(action, &group) }
                await reportMissed()
                for (adapter, error) in shell.takeLosses() {
                    notice(.adapterLost, "\(adapter): \(error)")
                }
                shell.advance()
                if isOver { break }
                await shell.bell.wait()
            }
            group.cancelAll()
        }
    }

    private func ending() async throws(JournalError) -> RunEnding {
        let own = shell.with { $0.scheduler.ending } ?? .complete
        return own.under(
            progress.refusal,
            try await depot.journal.hold(on: depot.rollout),
            isWhole: run.jobs.indices.allSatisfy { progress.outcome(of: $0) != nil }
        )
    }

    // MARK: Actions

    private func perform(
        _ action: Scheduler.Action,
        _ group: inout DiscardingTaskGroup
    ) async {
        do throws(JournalError) {
            switch action {
            case .begin(let vehicle, _): begin(vehicle, &group)
            case .goOn:
                break
            case .listen(let adapter):
                group.addTask { await self.listen(on: adapter) }
            case .giveUp(let vehicle):
                try await giveUp(vehicle)
            case .putOff(let vehicle):
                try await putOff(vehicle)
            case .timeOut(let vehicle):
                shell.with { $0.stops[vehicle] }?.request()
            case .waveBegan(let wave, let count):
                try await progress.waveBegan(wave)
                announce(wave, of: count)
            case .waveEnded(let wave):
                try await progress.waveEnded(wave)
                if run.schedule.waves.count > 1 {
                    notice(.waveEnded, wave: wave, "wave \(wave + 1) has ended")
                }
            case .replaced(let vehicle, let other, let wave):
                notice(
                    .replaced,
                    wave: wave,
                    vehicle: run.jobs[vehicle].vehicle,
                    vehicles: [run.jobs[other].vehicle],
                    "is not heard; \(run.jobs[other].vehicle) takes its place in wave \(wave + 1)"
                )
            case .check(let wave):
                group.addTask { await self.check(after: wave) }
            case .waiting(let until):
                await depot.coordinator.stepAside(forGood: false)
                notice(.waiting, "waits for the window, which opens at \(until)")
            case .windowOpened(let until):
                await depot.coordinator.comeBack()
                notice(.windowOpened, "the window is open until \(until)")
            case .drain(let ending):
                if case .aborted = ending { depot.rules.retryBudget.close() }
                await depot.coordinator.stepAside(forGood: true)
                try await progress.drains(ending)
                if let why = ending.sentence { notice(.draining, why) }
            case .stopAll:
                halt.request()
            case .cutAll:
                halt.request()
                group.cancelAll()
            case .own(let times, let isOpen): halt(times, isOpen: isOpen)
            case .learned(let adapter, let links): try await learn(links, on: adapter)
            }
        } catch { fail(error) }
    }

    /// Keeps for the next run how many links of the adapter pay for the modules that it updates.
    private func learn(_ links: Int, on adapter: Int) async throws(JournalError) {
        let (name, vehicles) = shell.with { state in
            let dispatch = state.scheduler.dispatch
            return (
                dispatch.adapters[adapter].name,
                dispatch.active.filter { dispatch.adapter(of: $0) == adapter }
            )
        }
        let families = vehicles.map { run.jobs[$0] }.updatedFamilies
        try await depot.journal.learn(links, on: name, for: families)
    }

    /// Vehicles with times of their own that have not reached their safe point yet keep the request.
    private func halt(_ times: Int, isOpen: Bool) {
        shell.with { state in
            if isOpen {
                state.halts[times] = StopSignal(under: halt)
            } else {
                state.halts[times]?.request()
            }
        }
    }

    private func begin(_ vehicle: Int, _ group: inout DiscardingTaskGroup) {
        let fence = depot.coordinator.fence(of: run.jobs[vehicle].serial)
        let times = run.schedule.limits.window?.times(of: vehicle)
        let stop = shell.with { state in
            let own = times.flatMap { state.halts[$0] }
            let stop = StopSignal(under: own ?? halt, fence: fence)
            state.stops[vehicle] = stop
            return stop
        }
        group.addTask {
            guard let fence else { return await self.work(on: vehicle, stop) }
            await fence.guarding { await self.work(on: vehicle, stop) }
        }
    }

    private func announce(_ wave: Int, of count: Int) {
        let total = run.schedule.waves.count
        // A run that may begin nothing has no waves.
        guard total > 1, progress.refusal == nil else { return }
        let left = count == 0 ? "no vehicle is left" : counted(count, "vehicle")
        let members = shell.with { state in
            run.jobs.indices.filter { state.scheduler.board.wave(of: $0) == wave }
        }
        notice(
            .waveBegan,
            wave: wave,
            vehicles: members.map { run.jobs[$0].vehicle },
            "wave \(wave + 1) of \(total): \(left)"
        )
    }

    func notice(
        _ kind: Notice.Kind,
        wave: Int? = nil,
        vehicle: VehicleID? = nil,
        vehicles: [VehicleID] = [],
        _ message: String
    ) {
        depot.events.emit(
            .notice(
                Notice(
                    kind,
                    wave: wave.map { $0 + 1 },
                    of: wave.map { _ in run.schedule.waves.count },
                    vehicle: vehicle,
                    vehicles: vehicles,
                    message
                )
            )
        )
    }

    /// The journal cannot be written: no further act is allowed.
    func fail(_ error: JournalError) {
        shell.with { state in
            if state.failure == nil { state.failure = error }
            state.actions += state.scheduler.drain(.stopped)
        }
        halt.request()
        shell.bell.ring()
    }

    // MARK: Vehicles

    private func work(on vehicle: Int, _ stop: StopSignal) async {
        do throws(JournalError) {
            let execution = Execution(
                run.jobs[vehicle],
                in: depot.with(
                    air: VehicleAirtime(vehicle: vehicle, shell: shell),
                    stop: stop,
                    airtime: run.schedule.limits.airtime.vehicle,
                    gate: { hold(vehicle, $0, $1, touched: $2) },
                    measure: { measure(vehicle, $0) }
                ),
                position: { progress.position(of: vehicle) },
                record: try await progress.execution(of: vehicle),
                bytesSent: progress.bytesSent(to: vehicle),
                aim: aim(of: vehicle)
            )
            let verdict = try await execution.run()
            progress.note(vehicle, bytesSent: execution.bytesSent)
            try await depot.events.save(in: depot.journal)
            if let end = execution.settled {
                ended(vehicle, nil, nil, touched: false)
                try await adopt(vehicle, end)
            } else if let closing = execution.left {
                let verdict = try await close(vehicle, closing)
                try await depot.events.save(in: depot.journal)
                ended(
                    vehicle,
                    verdict?.outcome,
                    verdict?.failure,
                    touched: execution.record.acted
                )
            } else if let why = execution.waits, progress.refusal == nil {
                try await park(vehicle, why)
            } else if let verdict {
                // While the right lasted no other machine has ended the vehicle.
                if !stop.isFenced { shared?.forgetEnd(of: vehicle) }
                try await settle(vehicle, verdict, touched: execution.record.acted)
            } else if stop.isRequested, !stop.isRequestedAlone, !stop.isFenced, !halt.isRequested {
                // Its own times have closed: it goes on when they open again in this run.
                ended(vehicle, nil, nil, touched: false)
                try await takeUp(vehicle)
            } else if progress.refusal != nil, !halt.isRequested {
                // Owed work is done, and it has no verdict yet: under a hold, that is all.
                skip(vehicle, .skipped)
                shell.advance()
                shell.bell.ring()
            } else {
                ended(vehicle, nil, nil, touched: false)
            }
        } catch {
            fail(error)
            ended(vehicle, nil, nil, touched: false)
        }
    }

    /// The hold that is written with a verdict that trips the gate.
    private func hold(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool
    ) -> GateHold? {
        let ending = shell.with {
            $0.scheduler.counts(vehicle, outcome, failure, touched: touched)
        }
        return ending.flatMap { progress.hold($0) }
    }

    /// How long an update took the place of others, for estimates of the next ones.
    private func measure(_ vehicle: Int, _ verdict: Verdict) -> Measure? {
        guard verdict.outcome == .succeeded, verdict.bytesSent > .zero else { return nil }
        return Measure(
            vehicle: run.jobs[vehicle].vehicle,
            model: run.schedule.models[vehicle],
            bytes: verdict.bytesSent,
            airtime: shell.with {
                $0.scheduler.dispatch.linkTime(of: vehicle, at: depot.time.now)
            },
            at: depot.time.wallTime
        )
    }

    /// Records the consequences of a verdict.
    private func settle(
        _ vehicle: Int,
        _ verdict: Verdict,
        touched: Bool
    ) async throws(JournalError) {
        let job = run.jobs[vehicle]
        // A vehicle that was left alone has not failed again.
        if run.schedule.quarantineAfter != nil, touched, verdict.outcome.tally == .failed,
            verdict.failure != .unreachable, let release = job.release
        {
            _ = try await depot.journal.countFailure(
                job.vehicle,
                release: release,
                message: verdict.message,
                at: depot.time.wallTime
            )
        }
        ended(vehicle, verdict.outcome, verdict.failure, touched: touched)
    }

    func ended(
        _ vehicle: Int,
        _ outcome: Outcome?,
        _ failure: FailureClass?,
        touched: Bool
    ) {
        if let outcome {
            progress.note(vehicle, outcome)
            shared?.hasEnded(at: depot.time.now)
        }
        shell.with { state in
            state.stops[vehicle] = nil
            // A vehicle that was put off without an adapter does not show that the adapter works.
            let hasWorked = outcome != nil && !(outcome == .deferred && failure == .transient)
            if hasWorked, let adapter = state.scheduler.dispatch.adapter(of: vehicle) {
                state.works(adapter)
            }
            state.actions += state.scheduler.ended(
                vehicle,
                outcome,
                failure,
                touched: touched,
                at: depot.time.now
            )
        }
        shell.advance()
        shell.bell.ring()
    }

    /// Under a hold and in quarantine only owed work is done.
    private func aim(of vehicle: Int) -> Execution.Aim {
        switch progress.refusal {
        case .paused: .none
        case .aborted(let why): .verdict(Closing(.aborted, nil, why))
        case .complete, .stopped, .replaced, .workLeft, nil:
            (run.jobs[vehicle].exchanged ?? progress.quarantine(of: vehicle))
                .map { .verdict($0) } ?? .steps
        }
    }

    private func giveUp(_ vehicle: Int) async throws(JournalError) {
        // The previous verdict may have tripped the gate.
        guard shell.with({ $0.scheduler.ending }) == nil else { return }
        guard !miss(vehicle) else { return }
        let limit = run.schedule.limits.patience
        try await end(
            vehicle,
            .unreachable,
            .unreachable,
            "not heard within \(limit.brief); is it in the depot, charged, and not connected "
                + "to a phone?"
        )
    }

    /// The host cannot reach the vehicle: a later run may.
    private func putOff(_ vehicle: Int) async throws(JournalError) {
        let error = shell.with { state in
            // The vehicle may have been begun, or an adapter may have returned, since this was
            // decided.
            state.scheduler.dispatch.vehicles[vehicle].phase == .queued
                ? state.fault(after: depot.rules.hostPatience) : nil
        }
        guard let error, !miss(vehicle) else { return }
        try await end(vehicle, .deferred, .transient, "\(error); the next run tries again")
    }

    /// Gives a verdict without an attempt, and records its consequences.
    private func end(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) {
        let verdict = try await conclude(vehicle, outcome, failure, message)
        try await depot.events.save(in: depot.journal)
        let touched = try await progress.execution(of: vehicle).acted
        ended(vehicle, verdict.outcome, verdict.failure, touched: touched)
    }

    /// Gives a verdict without an attempt, in the journal and as an event.
    func conclude(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String,
        _ problems: [Problem] = [],
        version: FirmwareVersion? = nil
    ) async throws(JournalError) -> Verdict {
        let job = run.jobs[vehicle]
        let now = depot.time.wallTime
        var record = try await progress.execution(of: vehicle)
        let debt = try await depot.journal.debt(of: job.serial)
        let closing = try await closing(of: vehicle, Closing(outcome, failure, message))
        record.belongs(to: depot.run)
        record.state = .ended
        record.updated = now
        record.nextDeadline = nil
        record.versionAfter = debt != nil ? nil : version ?? record.versionAfter
        record.end = ExecutionRecord.End(
            closing.outcome,
            failure: closing.failure,
            message: closing.message,
            at: now
        )
        let verdict = Verdict(
            outcome: closing.outcome,
            failure: closing.failure,
            message: closing.message,
            versionBefore: record.versionBefore,
            versionAfter: record.versionAfter,
            attempts: record.attempt,
            interruptions: record.interruptions,
            bytesSent: ByteCount(bytes: progress.bytesSent(to: vehicle)) ?? .zero,
            took: .zero,
            problems: problems
        )
        let (journal, ended) = (depot.journal, record)
        let hold = hold(vehicle, verdict.outcome, verdict.failure, touched: record.acted)
        try await depot.events.emit(.vehicleEnded(job.vehicle, verdict)) {
            (events) async throws(JournalError) in
            try await journal.record(
                ended,
                durably: true,
                with: VerdictBaggage(holding: hold, events: events)
            )
        }
        progress.note(vehicle, verdict.outcome)
        return verdict
    }

    /// The closing of the vehicle with its doubts, debt and owed steps taken into account.
    func closing(of vehicle: Int, _ closing: Closing) async throws(JournalError) -> Closing {
        let job = run.jobs[vehicle]
        let debt = try await depot.journal.debt(of: job.serial)
        let other = try await depot.journal.debt(in: job.vehicle, besides: job.serial)
        let owed = try await depot.journal.owed(by: job.vehicle)
        var closing = closing
        if let doubt = try await depot.journal.doubts(of: job.vehicle).first, !job.onlyReads {
            closing = job.closing(inDoubt: doubt)
        }
        return closing.owing(debt ?? other).owing(owed)
    }

    func skip(
        _ index: Int,
        _ outcome: Outcome,
        _ failure: FailureClass? = nil,
        touched: Bool = false
    ) {
        shell.with { state in
            state.actions += state.scheduler.ended(
                index,
                outcome,
                failure,
                touched: touched,
                at: depot.time.now
            )
        }
    }

    /// Ends the vehicles that have no verdict, or only that of a doubt that a person has answered.
    private func abortRest(_ why: String) async throws(JournalError) {
        let answered = try await progress.answeredDoubts()
        var aborted: [VehicleID] = []
        for index in run.jobs.indices where progress.executions[index].number > 0 {
            guard progress.outcome(of: index) == nil || answered.contains(index) else { continue }
            _ = try await conclude(index, .aborted, nil, why)
            aborted.append(run.jobs[index].vehicle)
        }
        if !aborted.isEmpty { await depot.coordinator.abort(aborted, why) }
    }

    // MARK: Beside the vehicles

    private func check(after wave: Int) async {
        let failure = await run.schedule.check(wave)
        // A program that was ended with the run gave no result for the wave.
        guard !Task.isCancelled, !depot.stop.isRequested else {
            shell.with { $0.actions += $0.scheduler.drain(.stopped) }
            shell.bell.ring()
            return
        }
        shell.with { state in
            state.actions += state.scheduler.checked(wave, failure: failure)
        }
        shell.advance()
        shell.bell.ring()
    }

    /// Checks the window, budgets, signals, requests and adapters at regular intervals.
    private func keepTime() async {
        var nextAsk = depot.time.now
        var nextRoster = depot.time.now.advanced(by: Self.rosterPause)
        while !Task.isCancelled {
            await depot.time.sleep(for: Self.tick, "the scheduler's next look around")
            let isStopped = depot.stop.isRequested
            if isStopped { shell.with { $0.actions += $0.scheduler.drain(.stopped) } }
            let now = depot.time.now
            for adapter in shell.with({ $0.recover(at: now) }) {
                let name = shell.with { $0.centrals[adapter].adapter }
                notice(.adapterFound, "\(name) is tried again")
            }
            // Executions that wait for an adapter try it before the host reports that it is
            // missing.
            shell.advance()
            if now >= nextAsk {
                nextAsk = now.advanced(by: depot.askPause)
                await askJournal()
            }
            if now >= nextRoster {
                nextRoster = now.advanced(by: Self.rosterPause)
                await askHost()
            }
            let patience = depot.rules.hostPatience
            shell.with { state in
                guard state.fault(after: patience) != nil else { return }
                state.actions += state.scheduler.withoutAdapters()
            }
            shell.advance()
            look()
            shell.bell.ring()
        }
    }

    /// Reports the run's outlook to people who watch.
    private func look() {
        let (now, wall) = (depot.time.now, depot.time.wallTime)
        let patience = depot.rules.hostPatience
        depot.events.look(shell.with { $0.outlook(at: now, wall: wall, patience) })
    }

    private func askHost() async {
        guard let present = await run.roster.present() else { return }
        let names = Set(present.map(\.adapter))
        let news: [(Notice.Kind, String)] = shell.with { state in
            var news: [(Notice.Kind, String)] = []
            for (index, adapter) in state.scheduler.dispatch.adapters.enumerated() {
                if adapter.isUsable, !names.contains(adapter.name) {
                    state.fallsIll(index, .adapterMissing, at: depot.time.now)
                    news.append((.adapterLost, "\(adapter.name) is gone"))
                } else if !adapter.isUsable, names.contains(adapter.name) {
                    state.scheduler.found(index)
                    news.append((.adapterFound, "\(adapter.name) is back"))
                }
            }
            let known = Set(state.scheduler.dispatch.adapters.map(\.name))
            for central in present where !known.contains(central.adapter) {
                _ = state.scheduler.plugged(central.adapter)
                state.centrals.append(central)
                news.append((.adapterFound, "\(central.adapter) was plugged in"))
            }
            return news
        }
        for (kind, text) in news { notice(kind, text) }
    }

    /// Listens for vehicles that were not heard yet, until there is work for the adapter.
    private func listen(on adapter: Int) async {
        let time = depot.time
        let began = time.now
        let central = shell.with { $0.centrals[adapter] }
        let limit = began.advanced(by: depot.rules.seekTimeout)
        let listener = AdapterListener(adapter, modules, run.jobs, shell)
        do throws(RadioError) {
            try await central.withScan(listener.filter) { (scan) throws(RadioError) in
                try await listener.listen(to: scan, until: limit, time)
            }
        } catch {
            if error.isHostFault {
                shell.with { $0.fallsIll(adapter, error, at: time.now) }
                notice(.adapterLost, "\(central.adapter): \(error)")
            } else {
                // Whatever the failure was, an immediate retry could go on forever.
                await time.sleep(for: .seconds(1), "the adapter to listen again")
            }
        }
        for (vehicle, pair) in listener.doubles { warn(of: vehicle, pair) }
        if shared != nil { await depot.coordinator.hears(signals(listener.heard)) }
        shell.with { state in
            let listened = began.duration(to: time.now)
            state.scheduler.listened(adapter, for: listened)
            let isWell = state.scheduler.dispatch.adapters[adapter].isUsable
            if isWell, listened >= .seconds(1) { state.works(adapter) }
        }
        shell.advance()
        shell.bell.ring()
    }

    /// Reports once that two modules in reach have the serial of one vehicle.
    private func warn(of vehicle: Int, _ pair: [Peer]) {
        guard shell.with({ $0.doubles.insert(vehicle).inserted }) else { return }
        let job = run.jobs[vehicle]
        let places = pair.map(\.description).joined(separator: " and ")
        depot.events.emit(
            .warning(
                "\(job.vehicle): two modules in reach have the serial \(job.serial), at \(places), "
                    + "and only one of them is worked on; take the one that is not the vehicle's "
                    + "away, or give it a serial of its own, and look at what both run"
            )
        )
    }
}
