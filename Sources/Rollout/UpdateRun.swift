import Domain
import Journal
import Modules
import Radio
import Reports
import Sessions
import Synchronization

/// Drives one update session: performs its actions, writes its memory down first, tells of it.
final class UpdateRun {
    private let update: UpdateJob
    private let step: Int
    private let execution: Execution
    private let order: UpdateOrder
    private var session: UpdateSession
    private var saved: UpdateMemory
    private var sighting: ModuleSighting?
    private var hasIntended = false
    private var told: UpdateSession.State?

    init(
        _ update: UpdateJob,
        step: Int,
        isWaypoint: Bool,
        of execution: Execution,
        from sighting: ModuleSighting?
    ) {
        self.update = update
        self.step = step
        self.execution = execution
        self.sighting = sighting
        order = update.order(for: execution.job.serial)
        let memory = UpdateMemory(
            execution.debt,
            of: update.digest,
            interruptions: execution.record.interruptions
        )
        saved = memory
        let usual = execution.depot.rules.limits
        var limits = execution.job.times.applied(to: usual) ?? usual
        limits.health = update.healthyWithin
        session = UpdateSession(
            update.goal(by: execution.job.driver, isWaypoint: isWaypoint),
            limits: limits,
            memory: memory,
            now: execution.time.now,
            wallTime: execution.time.wallTime
        )
    }

    private var time: any Timekeeper { execution.time }
    private var depot: Depot { execution.depot }

    func ending() async throws(Halt) -> UpdateEnding {
        var action: UpdateSession.Action
        if let sighting {
            action = session.begin(at: time.now)
            action = session.sighted(sighting.role, at: time.now)
        } else {
            action = session.begin(linkedTo: .application, at: time.now)
        }
        while true {
            if depot.stop.isRequested, !session.isSending { action = session.stopRequested() }
            if action.isBeyondReturn { try await checkAgain() }
            do throws(JournalError) { try await keep() } catch { throw .journal(error) }
            if case .ended(let ending) = action {
                do throws(JournalError) { try await close(ending) } catch { throw .journal(error) }
                return ending
            }
            action = try await perform(action)
        }
    }

    /// Holds the vehicle against its preconditions before anything is noted of a step that cannot
    /// be undone.
    private func checkAgain() async throws(Halt) {
        // A module in its bootloader knows nothing of its vehicle: it was asked before.
        guard execution.application != nil else { return }
        try await execution.checkAgain(before: step)
    }

    private func perform(
        _ action: UpdateSession.Action
    ) async throws(Halt) -> UpdateSession.Action {
        switch action {
        case .seek(let moment):
            return try await seek(from: moment)
        case .connect:
            return try await connect()
        case .pause(let moment):
            if execution.hasLink {
                await wait(until: moment, for: session.deadlineLabel)
            } else {
                try await execution.rest(until: moment, need, for: session.deadlineLabel)
            }
            return session.tick(at: time.now)
        case .disconnect:
            await execution.hangUp()
            return session.disconnected(at: time.now)
        case .transfer(let part, let pace):
            return try await transfer(part, pace: pace)
        case .inspect, .prepare, .probe, .activate, .observe, .check, .confirm, .rollBack:
            do throws(ModuleError) {
                return try await ask(action)
            } catch { return try weigh(error) }
        case .ended:
            return action
        }
    }

    /// Looks for the module again and again, each time briefly: while it restarts, its adapter
    /// works for others.
    private func seek(from moment: Moment) async throws(Halt) -> UpdateSession.Action {
        let deadline = session.nextDeadline ?? time.now
        var pause = ReturnPause()
        if moment > time.now {
            let first = min(deadline, moment.advanced(by: pause.next()))
            try await execution.rest(until: first, need, for: "the module to come back")
        }
        while true {
            // However long others had the adapter, it is looked for once more.
            let look = time.now.advanced(by: ReturnPause.look)
            sighting = try await execution.seek(before: look)
            if let sighting { return session.sighted(sighting.role, at: time.now) }
            if time.now >= deadline { return session.missed(at: time.now) }
            let next = min(deadline, time.now.advanced(by: pause.next()))
            try await execution.rest(until: next, need, for: "the module to come back")
        }
    }

    private var need: AirtimeNeed {
        if session.memory.inBootloader { return .bootloader }
        return session.memory.settleDeadline == nil ? .next : .settling
    }

    private func connect() async throws(Halt) -> UpdateSession.Action {
        guard let sighting else { return session.missed(at: time.now) }
        let link: any Link
        do throws(RadioError) {
            link = try await execution.connect(to: sighting)
        } catch { return try weigh(.radio(error)) }
        do throws(ModuleError) {
            switch sighting.role {
            case .application: try await execution.openApplication(on: link)
            case .bootloader: try await execution.openReceiver(on: link)
            }
        } catch {
            if error.isAboutAuthentication {
                guard case .failure(let failure, let message) = execution.halt(after: error, "")
                else { throw execution.halt(after: error, "while authenticating") }
                return session.failed(UpdateFault(failure, message), at: time.now)
            }
            return try weigh(error)
        }
        return session.linked(at: time.now)
    }

    /// One question to whoever is at the other end of the link.
    private func ask(
        _ action: UpdateSession.Action
    ) async throws(ModuleError) -> UpdateSession.Action {
        if case .probe = action {
            guard let receiver = execution.anyReceiver else { throw .radio(.linkLost) }
            return session.probed(try await receiver.probe(order), at: time.now)
        }
        if case .activate = action {
            guard let receiver = execution.anyReceiver else { throw .radio(.linkLost) }
            try await receiver.activate(order)
            return session.activated(at: time.now)
        }
        guard let application = execution.application else { throw .radio(.linkLost) }
        switch action {
        case .inspect:
            let found = execution.noted(try await application.inspect(order), of: order.target)
            return session.inspected(found, at: time.now)
        case .prepare:
            try await application.prepare(order)
            return session.prepared(at: time.now)
        case .observe(let moment):
            let stop = depot.stop
            let seen = try await application.observe(
                order,
                at: moment,
                unless: { stop.isRequested }
            )
            if let version = seen.version { execution.record.versionAfter = version }
            return session.observed(seen, at: time.now)
        case .check:
            return session.checked(try await health(on: application), at: time.now)
        case .confirm:
            try await application.confirm(order)
            return session.confirmed(at: time.now)
        case .rollBack:
            try await application.rollBack(order)
            return session.rolledBack(at: time.now)
        case .seek, .connect, .probe, .transfer, .activate, .disconnect, .pause, .ended:
            return action
        }
    }

    private func health(
        on application: any ModuleApplication
    ) async throws(ModuleError) -> UpdateSession.Health {
        let health = try await reported(by: application)
        guard health == .well, !update.judge.isEmpty else { return health }
        let left = session.nextDeadline.map { time.now.duration(to: $0) }
        return await depot.judge(
            Judgement(
                program: update.judge,
                vehicle: execution.vehicle,
                serial: execution.job.serial,
                image: update.name,
                version: update.version,
                adapter: depot.central.adapter,
                limit: max(.seconds(1), left ?? update.healthyWithin)
            )
        ).health
    }

    private func reported(
        by application: any ModuleApplication
    ) async throws(ModuleError) -> UpdateSession.Health {
        guard !update.healthy.isEmpty else { return .well }
        guard let holder = try await application.properties() else {
            return .notYet("it has no properties that could say so")
        }
        for test in update.healthy {
            do throws(PropertyReadError) {
                if let problem = try await Execution.problem(with: test, on: holder) {
                    return .notYet(problem.sentence)
                }
            } catch {
                guard case .module(let error) = error else {
                    return .notYet(error.description)
                }
                throw error
            }
        }
        return .well
    }

    /// The host's faults are not the module's; the session weighs all others.
    private func weigh(_ error: ModuleError) throws(Halt) -> UpdateSession.Action {
        if case .radio(let radio) = error, radio.isHostFault { throw .host(radio) }
        if error.isLinkLoss { execution.forgetLink() }
        return session.failed(error.fault(while: session.doing), at: time.now)
    }

    // MARK: Transfer

    private func transfer(
        _ part: Int,
        pace: Int
    ) async throws(Halt) -> UpdateSession.Action {
        guard let receiver = execution.anyReceiver else { return try weigh(.radio(.linkLost)) }
        let (stop, time) = (depot.stop, time)
        let before = update.parts.prefix(part).reduce(0) { $0 + $1.size }
        var meter = TransferMeter(total: update.size, before: before, began: time.now)
        var fault: JournalError?
        let overdue = Overdue(session.nextDeadline)
        let sentBefore = receiver.bytesSent
        let result: Result<TransferEnd, ModuleError>
        do throws(ModuleError) {
            result = .success(
                try await receiver.transfer(
                    part,
                    of: order,
                    pace: pace,
                    from: session.transferStart,
                    unless: { stop.isRequested || overdue.isDue(at: time.now) }
                ) { (heard: UploadProgress) async in
                    session.progressed(
                        to: heard.acknowledged,
                        resumedFrom: heard.resumedFrom,
                        at: time.now
                    )
                    overdue.moment = session.nextDeadline
                    guard let progress = meter.progress(heard, at: time.now) else { return }
                    execution.record.acknowledged = progress.acknowledged
                    depot.events.emit(.progress(execution.vehicle, progress))
                    do throws(JournalError) { try await keep() } catch { fault = error }
                }
            )
        } catch { result = .failure(error) }
        execution.bytesSent += receiver.bytesSent - sentBefore
        if let fault { throw .journal(fault) }
        switch result {
        case .success(.finished(let linkHolds)):
            return session.transferred(linkHolds: linkHolds, at: time.now)
        case .success(.stopped):
            return stop.isRequested ? session.stopRequested() : session.tick(at: time.now)
        case .failure(let error):
            return try weigh(error)
        }
    }

    // MARK: Notes

    /// Writes down what must outlive the process, before it is acted upon.
    private func keep() async throws(JournalError) {
        let memory = session.memory
        let mustLast =
            memory.stage != saved.stage || memory.settleDeadline != saved.settleDeadline
            || memory.inBootloader != saved.inBootloader || memory.part != saved.part
            || memory.targetSeen != saved.targetSeen
        let interrupted = memory.interruptions > saved.interruptions
        let hasMoved = memory != saved
        saved = memory
        if memory.stage != .none, !hasIntended {
            hasIntended = true
            try await execution.intend(update, step: step, memory)
        }
        if execution.debt?.image == update.digest { execution.debt?.keep(memory) }
        if memory.stage != .none {
            execution.record.image = update.digest
            execution.record.totalBytes = ByteCount(bytes: update.size)
        }
        if memory.stage != .none || execution.record.image == update.digest {
            execution.record.keep(memory)
        } else {
            execution.record.inBootloader = memory.inBootloader
        }
        if interrupted, let cause = session.lastCause {
            depot.events.emit(
                .interrupted(
                    execution.vehicle,
                    cause: cause.description,
                    count: memory.interruptions
                )
            )
            try await execution.note(.interrupted, durably: false)
        }
        if session.state.isNews(after: told), let state = session.state.executionState {
            told = session.state
            try await execution.note(
                state,
                durably: mustLast,
                detail: session.state.detail,
                deadline: dueNext
            )
        } else if hasMoved {
            execution.record.updated = time.wallTime
            try await depot.journal.record(
                execution.record,
                durably: mustLast,
                debt: execution.debt
            )
        }
    }

    private var dueNext: (label: String, in: Duration)? {
        if case .settling = session.state, let deadline = session.memory.settleDeadline {
            let left = deadline.milliseconds - time.wallTime.milliseconds
            return ("settle", .milliseconds(max(0, left)))
        }
        return session.nextDeadline.map {
            (session.deadlineLabel, max(.zero, time.now.duration(to: $0)))
        }
    }

    /// Where the module was seen at rest, nothing of the update is owed any more.
    private func close(_ ending: UpdateEnding) async throws(JournalError) {
        let words: String
        switch ending {
        case .stopped, .failed, .alreadyCurrent, .passed, .rejected: return
        case .settled(.noReturn), .settled(.stillOngoing): return
        case .settled(.confirmed(let version)): words = "confirmed \(version)"
        case .settled(let verdict): words = verdict.description
        case .unhealthy(let sentence, _, _): words = "not well: \(sentence)"
        }
        execution.record.stage = UpdateMemory.Stage.none.rawValue
        execution.record.settleDeadline = nil
        execution.record.targetSeen = false
        execution.record.part = 0
        execution.record.inBootloader = false
        guard let debt = execution.debt, debt.image == update.digest else { return }
        try await execution.pay(debt, as: words)
    }

    /// Waits in short pieces, so that a stop is seen.
    private func wait(until moment: Moment, for purpose: String) async {
        while time.now < moment, !depot.stop.isRequested {
            let next = min(moment, time.now.advanced(by: .seconds(1)))
            await time.sleep(until: next, for: purpose)
        }
    }
}

/// When a transfer is to be broken off: moved by its progress, asked at every turn.
private final class Overdue: Sendable {
    private let limit: Mutex<Moment?>

    init(_ moment: Moment?) { limit = Mutex(moment) }

    var moment: Moment? {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }

    func isDue(at now: Moment) -> Bool { moment.map { $0 <= now } ?? false }
}

extension UpdateSession.Action {
    /// Whether the module restarts into something else by it.
    fileprivate var isBeyondReturn: Bool {
        switch self {
        case .prepare, .activate: true
        case .seek, .connect, .inspect, .probe, .transfer, .observe, .check, .confirm, .rollBack,
            .disconnect, .pause, .ended:
            false
        }
    }
}

extension UpdateSession {
    /// A transfer ends at a safe point of its own.
    fileprivate var isSending: Bool {
        if case .transferring = state { return true }
        return false
    }

    /// What an error happened in, for people.
    fileprivate var doing: String {
        switch state {
        case .connecting: "while connecting"
        case .inspecting: "while reading its versions"
        case .preparing: "while starting its bootloader"
        case .probing, .transferring: "while sending"
        case .activating: "while activating the image"
        case .confirming: "while confirming the image"
        case .rollingBack: "while going back"
        case .checking: "while looking whether it is well"
        case .idle, .seeking, .leaving, .pausing, .settling, .ended: ""
        }
    }
}

extension UpdateSession.State {
    /// The same in the words of an execution; nil where there is nothing to tell.
    fileprivate var executionState: ExecutionState? {
        switch self {
        case .seeking: .seeking
        case .connecting: .connecting
        case .inspecting: .inspecting
        case .preparing: .starting
        case .transferring: .transferring
        case .settling, .rollingBack, .activating: .settling
        case .checking, .confirming: .confirming
        case .idle, .probing, .leaving, .pausing, .ended: nil
        }
    }

    fileprivate var detail: String? {
        switch self {
        case .seeking(.receive), .connecting(_, .bootloader): "its bootloader"
        case .idle, .seeking, .connecting, .inspecting, .preparing, .probing, .transferring,
            .leaving, .pausing, .activating, .settling, .checking, .confirming, .rollingBack,
            .ended:
            nil
        }
    }

    /// A settling that goes on is no news.
    fileprivate func isNews(after told: Self?) -> Bool {
        guard let told else { return true }
        if case .settling = self, case .settling = told { return false }
        return self != told
    }
}
