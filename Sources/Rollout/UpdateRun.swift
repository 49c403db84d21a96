import Base
import Radio
import Store

/// What the journal and the reports get of one update of an execution, and its conditions.
///
/// The execution owns the link, the module's debt and the record; an update run decides what they
/// are given of the session, and when that must be on disk.
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
    private let step: Int
    /// Whether nothing is to be done on the vehicle after this update.
    private let isLast: Bool
    private let terms: UpdateTerms?
    private let keeping: Keeping
    private let execution: Execution
    /// What was last given to the execution.
    private var saved: UpdateMemory
    private var reported: UpdateState?
    private var meter: TransferMeter?
    private var hasIntended = false
    /// The sentence with which the module was left as it is.
    private var isLeft: String?

    init(
        _ update: UpdateJob,
        step: Int,
        isLast: Bool,
        under terms: UpdateTerms?,
        _ keeping: Keeping,
        from memory: UpdateMemory,
        of execution: Execution
    ) {
        self.update = update
        self.step = step
        self.isLast = isLast
        (self.terms, self.keeping) = (terms, keeping)
        self.execution = execution
        saved = memory
    }
}

extension UpdateRun: UpdateNotes {
    func keep(_ session: UpdateSession) async throws(Halt) {
        var act: Act?
        let before = execution.debtAndActs
        if session.memory.stage != .none, !hasIntended {
            hasIntended = true
            act = try await execution.intent(update, step: step, session.memory)
        }
        do throws(JournalError) {
            try await write(session, intending: act)
        } catch {
            guard error.kind == .recalled || error.kind == .withdrawn else {
                throw .journal(error)
            }
            // Nothing was written, and nothing is sent.
            execution.debtAndActs = before
            if error.kind == .withdrawn { throw .verdict(.skipped, nil, error.words) }
            throw .verdict(.rejected, .rejected, error.words)
        }
        if let isLeft { throw .verdict(.failed, .device, isLeft) }
        try mustNotSend(session.state)
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
        execution.keep(memory, of: update)
        if interrupted, let cause = session.lastCause {
            try await execution.interrupted(by: cause, count: memory.interruptions)
        }
        if session.state != reported, let state = session.state.executionState {
            reported = session.state
            try await execution.note(
                state,
                durably: mustLast,
                intending: act,
                detail: session.state.detail,
                deadline: session.dueNext(at: execution.time)
            )
        } else if hasMoved || act != nil {
            try await execution.touch(durably: mustLast, intending: act)
        }
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

    /// Checks the vehicle's preconditions before anything is recorded of a step that cannot be
    /// undone.
    func checkAgain() async throws(Halt) {
        // A module in its bootloader cannot report about its vehicle: this was checked before.
        guard execution.link.application != nil else { return }
        if let terms {
            try await execution.checkAgain(terms)
        } else {
            try await execution.checkAgain(before: step)
        }
    }

    func begins(_ part: Int) {
        let before = update.parts.prefix(part).reduce(0) { $0 + $1.size }
        meter = TransferMeter(total: update.size, before: before)
    }

    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt) {
        let now = execution.time.now
        guard let progress = meter?.progress(heard, at: now) else { return }
        execution.progressed(progress)
        if meter?.isDueInJournal(at: now) == true { try await keep(session) }
    }

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
        return await execution.judged(update, before: deadline)
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

    /// Pays the update's debt when the module was seen settled.
    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt) {
        let words: String
        var isProof = false
        switch ending {
        case .stopped, .failed, .alreadyCurrent, .passed, .rejected: return
        case .settled(.noReturn), .settled(.stillOngoing): return
        case .settled(.confirmed(let version)): (words, isProof) = ("confirmed \(version)", true)
        case .settled(let verdict): words = verdict.description
        case .unhealthy(let sentence, _, _): words = "not well: \(sentence)"
        }
        do throws(JournalError) {
            try await execution.settled(update, as: words, isProof: isProof, isLast: isLast)
        } catch { throw .journal(error) }
    }
}

extension UpdateSession {
    /// What happens next without a sign of the module, and in which time.
    fileprivate func dueNext(at time: any Timekeeper) -> (label: String, in: Duration)? {
        if case .settling = state, let deadline = memory.settleDeadline {
            let left = deadline.milliseconds - time.wallTime.milliseconds
            return ("settle", .milliseconds(max(0, left)))
        }
        return nextDeadline.map { (deadlineLabel, max(.zero, time.now.duration(to: $0))) }
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
