import Base
import Radio
import Store

/// One update of an execution: stores its memory in the journal, reports it as events, and gives it
/// the execution's link.
final class UpdateRun {
    /// What happens to a module that runs the image and is at rest.
    enum Keeping: Equatable {
        /// It is kept when the update's own conditions hold.
        case asking
        /// The module goes back, for this reason.
        case refusing(String)
        /// Nobody here can ask the conditions: the module stays as it is, and the vehicle fails
        /// with this sentence.
        case leaving(String)
    }

    private let update: UpdateJob
    private let keeping: Keeping
    private let terms: UpdateTerms?
    /// The sentence with which the module was left as it is.
    private var isLeft: String?
    private let step: Int
    private let execution: Execution
    private let sighting: ModuleSighting?
    private let begun: UpdateSession
    private var saved: UpdateMemory
    private var meter: TransferMeter?
    private var hasIntended = false
    /// Whether nothing is to be done on the vehicle after this update.
    private let isLast: Bool
    private var told: UpdateState?

    init(
        _ update: UpdateJob,
        step: Int,
        isWaypoint: Bool,
        isLast: Bool = false,
        under terms: UpdateTerms? = nil,
        _ keeping: Keeping = .asking,
        of execution: Execution,
        from sighting: ModuleSighting?
    ) {
        (self.terms, self.keeping) = (terms, keeping)
        self.update = update
        self.step = step
        self.isLast = isLast
        self.execution = execution
        self.sighting = sighting
        let memory = UpdateMemory(
            execution.debt,
            of: update.digest,
            interruptions: execution.record.interruptions
        )
        saved = memory
        let usual = execution.depot.rules.limits
        var limits = execution.job.times.applied(to: usual) ?? usual
        limits.health = update.healthyWithin
        begun = UpdateSession(
            update.goal(
                by: execution.driver,
                isWaypoint: isWaypoint,
                hasHealthCheck: !update.healthy.isEmpty || !update.judge.isEmpty
                    || keeping != .asking
            ),
            limits: limits,
            memory: memory,
            // It did not return to its application between two runs, either.
            hasWaitedOut: execution.stoodInBootloader.map {
                $0.advanced(by: limits.bootloaderPatience) <= execution.time.wallTime
            } ?? false,
            now: execution.time.now,
            wallTime: execution.time.wallTime
        )
    }

    private var depot: Depot { execution.depot }

    func ending() async throws(Halt) -> UpdateEnding {
        try await UpdateEngine(update.order(for: execution.job.serial), begun, at: self)
            .ending(from: sighting)
    }
}

extension UpdateRun: UpdateEnvironment {
    var time: any Timekeeper { execution.time }

    var isStopped: @Sendable () -> Bool {
        let stop = depot.stop
        return { stop.isRequested }
    }

    // MARK: Links

    var link: VehicleLink { execution.link }

    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        try await execution.seek(before: deadline)
    }

    func connect(to sighting: ModuleSighting) async throws(RadioError) {
        try await execution.connect(to: sighting)
    }

    func openApplication() async throws(ModuleError) { try await execution.openApplication() }

    func openBootloader() async throws(ModuleError) {
        try await link.openBootloader(by: execution.driver)
    }

    func rest(
        until moment: Moment,
        _ session: UpdateSession,
        for purpose: String
    ) async throws(Halt) {
        let need: AirtimeNeed =
            if session.memory.inBootloader {
                .bootloader
            } else if session.memory.settleDeadline == nil { .next } else { .settling }
        try await execution.rest(until: moment, need, for: purpose)
    }

    // MARK: Faults

    func halt(after fault: RadioError) -> Halt { .host(fault) }

    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault {
        guard case .failure(let failure, let message) = execution.halt(after: error, "")
        else { throw execution.halt(after: error, "while authenticating") }
        return UpdateFault(failure, message)
    }

    // MARK: Observations

    /// Checks the vehicle's preconditions before anything is recorded of a step that cannot be
    /// undone.
    func checkAgain() async throws(Halt) {
        // A module in its bootloader cannot report about its vehicle: this was checked before.
        guard link.application != nil else { return }
        if let terms {
            try await execution.checkAgain(terms)
        } else {
            try await execution.checkAgain(before: step)
        }
    }

    func inspected(_ found: Inspection) { _ = execution.noted(found, of: update.target) }

    func observed(_ seen: Observation) {
        if let version = seen.version { execution.record.versionAfter = version }
    }

    func begins(_ part: Int) {
        let before = update.parts.prefix(part).reduce(0) { $0 + $1.size }
        meter = TransferMeter(total: update.size, before: before)
    }

    func sent(_ count: Int) { execution.bytesSent += count }

    func health(
        on application: any ModuleApplication,
        before deadline: Moment?
    ) async throws(ModuleError) -> UpdateSession.Health {
        switch keeping {
        case .asking: break
        case .refusing(let sentence): return .failure(sentence)
        case .leaving(let sentence):
            isLeft = sentence
            return .notYet(sentence)
        }
        let health = try await reported(by: application)
        guard health == .well, !update.judge.isEmpty else { return health }
        let left = deadline.map { time.now.duration(to: $0) }
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

    // MARK: Notes

    func keep(_ session: UpdateSession) async throws(Halt) {
        var act: Act?
        if session.memory.stage != .none, !hasIntended {
            hasIntended = true
            act = try await execution.intent(update, step: step, session.memory)
        }
        do throws(JournalError) {
            try await write(session, intending: act)
        } catch { throw .journal(error) }
        if let isLeft { throw .verdict(.failed, .device, isLeft) }
        try mustNotSend(session.state)
    }

    /// Ends the attempt before anything is sent of an image that may not be sent.
    private func mustNotSend(_ state: UpdateState) throws(Halt) {
        let sentence: String
        switch keeping {
        case .asking: return
        case .refusing(let why), .leaving(let why): sentence = why
        }
        switch state {
        case .preparing, .probing, .transferring, .activating:
            throw .verdict(.failed, .device, "is not at rest, and \(sentence)")
        case .idle, .seeking, .connecting, .inspecting, .leaving, .pausing, .settling, .checking,
            .confirming, .rollingBack, .ended:
            return
        }
    }

    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt) {
        guard let progress = meter?.progress(heard, at: time.now) else { return }
        execution.record.acknowledged = progress.acknowledged
        depot.events.emit(.progress(execution.vehicle, progress))
        if meter?.isDueInJournal(at: time.now) == true { try await keep(session) }
    }

    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt) {
        do throws(JournalError) { try await settle(ending) } catch { throw .journal(error) }
    }

    /// Records what must outlive the process, before it is acted upon.
    private func write(
        _ session: UpdateSession,
        intending act: Act?
    ) async throws(JournalError) {
        let memory = session.memory
        let mustLast =
            memory.stage != saved.stage || memory.settleDeadline != saved.settleDeadline
            || memory.inBootloader != saved.inBootloader || memory.part != saved.part
            || memory.targetSeen != saved.targetSeen
        let interrupted = memory.interruptions > saved.interruptions
        let hasMoved = memory != saved
        saved = memory
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
        if session.state != told, let state = session.state.executionState {
            told = session.state
            try await execution.note(
                state,
                durably: mustLast,
                intending: act,
                detail: session.state.detail,
                deadline: dueNext(in: session)
            )
        } else if hasMoved || act != nil {
            execution.record.updated = time.wallTime
            try await execution.save(durably: mustLast, intending: act)
        }
    }

    private func dueNext(in session: UpdateSession) -> (label: String, in: Duration)? {
        if case .settling = session.state, let deadline = session.memory.settleDeadline {
            let left = deadline.milliseconds - time.wallTime.milliseconds
            return ("settle", .milliseconds(max(0, left)))
        }
        return session.nextDeadline.map {
            (session.deadlineLabel, max(.zero, time.now.duration(to: $0)))
        }
    }

    /// Pays the update's debt when the module was seen settled.
    private func settle(_ ending: UpdateEnding) async throws(JournalError) {
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
        try await execution.pay(debt, as: words, isLast: isLast)
    }
}

extension UpdateState {
    /// The state of the execution for this state of the update; nil when there is nothing to
    /// report.
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
        case .seeking(.receive), .connecting(.bootloader): "its bootloader"
        case .idle, .seeking, .connecting, .inspecting, .preparing, .probing, .transferring,
            .leaving, .pausing, .activating, .settling, .checking, .confirming, .rollingBack,
            .ended:
            nil
        }
    }
}
