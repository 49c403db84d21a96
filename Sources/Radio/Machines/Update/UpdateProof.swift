package import Base

/// The third of an update's machines: everything after the transfer.
///
/// The module comes to rest, shows that it is healthy, and keeps the image or goes back.
package struct UpdateProof: Equatable, Sendable {
    /// What a settling must show.
    package enum Aim: Equatable, Sendable {
        /// That the module runs the image.
        case image
        /// The same, while it is unknown whether the module received the request to run it.
        case activation
        /// The same, in the middle of the health check.
        case health(Check)
        /// That the module went back, and the reason for that.
        case wayBack(because: String)

        /// What must be shown of a module whose update was in this stage.
        static func rest(after stage: UpdateMemory.Stage) -> Aim {
            switch stage {
            case .rollingBack: .wayBack(because: "it did not meet its health conditions")
            case .none, .preparing, .transferring, .activating, .settling, .checking,
                .confirming:
                .image
            }
        }
    }

    /// The time for the module to show that it is healthy, and the condition that it last failed.
    package struct Check: Equatable, Sendable {
        let deadline: Moment
        var complaint: String?
    }

    /// Whether and how a settling module is heard.
    package enum Hearing: Equatable, Sendable {
        /// There is a link, or nothing will be heard before the settling's own deadline.
        case none
        /// The program listens for it; its bootloader may have been heard before.
        case seeking(until: Moment, bootloaderSince: Moment?)
        /// Its bootloader is heard; it waits for another part before it starts what it has.
        case bootloader(since: Moment)
        case connecting(until: Moment)

        var deadline: Moment? {
            switch self {
            case .none, .bootloader: nil
            case .seeking(let until, _), .connecting(let until): until
            }
        }

        var bootloaderSince: Moment? {
            switch self {
            case .none, .connecting: nil
            case .seeking(_, let since): since
            case .bootloader(let since): since
            }
        }
    }

    package enum State: Equatable, Sendable {
        /// Next: `checking`, `confirming`, `rollingBack`, `probing` when it is unknown whether the
        /// module received the request to run the image, `connecting` to a bootloader that is back,
        /// the end.
        case settling(SettleMachine, Aim, Hearing)
        /// At rest with the image, and must show that it is healthy; checked again at `next`.
        ///
        /// Next: `confirming`, `rollingBack`, `settling` when the link was lost, the end.
        case checking(Check, next: Moment)
        /// Next: `settling` when the link was lost, the end.
        case confirming(until: Moment)
        /// Next: `settling`, `leaving`.
        case rollingBack(because: String, until: Moment)
    }

    package internal(set) var state: State

    private init(_ state: State) { self.state = state }

    /// Waits for the module to come to rest; a deadline that already exists stays in force.
    package static func settle(
        _ aim: Aim,
        isLinked: Bool,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> (UpdateProof, UpdateTurn) {
        let machine = machine(aim, &course, at: now)
        var proof = UpdateProof(.settling(machine, aim, .none))
        let turn = proof.begin(machine, aim, isLinked: isLinked, &course, at: now)
        return (proof, turn)
    }

    /// Begins on a link with the request to go back.
    init(rollingBackBecause sentence: String, _ course: UpdateCourse, at now: Moment) {
        self.init(.rollingBack(because: sentence, until: course.exchange(at: now)))
    }

    package var nextDeadline: Moment? {
        switch state {
        case .settling(let machine, _, let hearing):
            // A search during settling is no longer than any other search, so that a stop request
            // is noticed.
            [machine.nextDeadline, hearing.deadline].compactMap(\.self).min()
        case .checking(_, let next): next
        case .confirming(let until), .rollingBack(_, let until): until
        }
    }

    var deadlineLabel: String {
        switch state {
        case .settling: "settle"
        case .checking: "health"
        case .confirming: "confirmation"
        case .rollingBack: "way back"
        }
    }

    // MARK: Settling

    private static func machine(
        _ aim: Aim,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> SettleMachine {
        let wallTime = course.wallTime(at: now)
        let deadline =
            course.memory.settleDeadline ?? course.limits.settle.deadline(from: wallTime)
        course.memory.settleDeadline = deadline
        switch course.memory.stage {
        case .activating where aim == .activation: break
        case .none, .preparing, .transferring, .activating, .settling:
            course.memory.stage = .settling
        case .checking, .confirming, .rollingBack: break
        }
        course.memory.inBootloader = false
        return SettleMachine(
            target: course.goal.image.version,
            rules: course.limits.settle,
            deadline: deadline,
            now: now,
            wallTime: wallTime,
            restarts: course.memory.restarts,
            targetSeen: course.memory.targetSeen
        )
    }

    mutating func settle(
        _ aim: Aim,
        isLinked: Bool,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        let machine = Self.machine(aim, &course, at: now)
        return begin(machine, aim, isLinked: isLinked, &course, at: now)
    }

    private mutating func begin(
        _ machine: SettleMachine,
        _ aim: Aim,
        isLinked: Bool,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        var machine = machine
        let action = isLinked ? machine.connected(at: now) : machine.begin(at: now)
        return settle(action, machine, aim, .none, &course, at: now)
    }

    /// Passes an event to the settle machine; nil when there is none.
    private mutating func step(
        _ course: inout UpdateCourse,
        at now: Moment,
        _ event: (inout SettleMachine) -> SettleMachine.Action
    ) -> UpdateTurn? {
        guard case .settling(var machine, let aim, let hearing) = state else { return nil }
        let action = event(&machine)
        return settle(action, machine, aim, hearing, &course, at: now)
    }

    private mutating func settle(
        _ action: SettleMachine.Action,
        _ machine: SettleMachine,
        _ aim: Aim,
        _ hearing: Hearing,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        state = .settling(machine, aim, hearing)
        course.memory.restarts = machine.restarts
        course.memory.targetSeen = machine.targetSeen
        switch action {
        case .seek(let from):
            let until = max(from, now).advanced(by: course.limits.seek)
            state = .settling(
                machine,
                aim,
                .seeking(until: until, bootloaderSince: hearing.bootloaderSince)
            )
            return .act(.seek(from: from))
        case .observe(let moment): return .act(.observe(at: moment))
        case .disconnectAndWait: return .act(.disconnect)
        case .wait: return .act(.pause(until: machine.nextDeadline ?? now))
        case .finished(let verdict): return settled(verdict, aim, &course, at: now)
        }
    }

    /// Ends the current search or connection attempt.
    private mutating func hear() {
        guard case .settling(let machine, let aim, let hearing) = state else { return }
        let since = hearing.bootloaderSince
        state = .settling(machine, aim, since.map { .bootloader(since: $0) } ?? .none)
    }

    package mutating func sighted(
        _ role: ModuleRole,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .settling(let machine, let aim, let hearing) = state else { return nil }
        switch role {
        case .application:
            course.memory.inBootloader = false
            let until = now.advanced(by: course.limits.connect)
            state = .settling(machine, aim, .connecting(until: until))
            return .act(.connect)
        case .bootloader:
            let since = hearing.bootloaderSince ?? now
            state = .settling(machine, aim, .bootloader(since: since))
            course.memory.inBootloader = true
            guard since.duration(to: now) >= course.limits.continuation else {
                return .act(.pause(until: now.advanced(by: .seconds(2))))
            }
            return course.backInBootloader()
        }
    }

    package mutating func missed(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        hear()
        return step(&course, at: now) { $0.tick(at: now) }
    }

    package mutating func linked(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        hear()
        // If the module was not asked to restart, waiting for its restart would be useless.
        if case .settling(_, .activation, _) = state { return .probe(.activationInDoubt) }
        return step(&course, at: now) { $0.connected(at: now) }
    }

    package mutating func disconnected(
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        step(&course, at: now) { $0.disconnected(at: now) }
    }

    package mutating func observed(
        _ observation: Observation,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        guard case .settling = state else { return nil }
        hear()
        if let confirmed = observation.isConfirmed { course.isOnTrial = !confirmed }
        return step(&course, at: now) { $0.observed(observation, at: now) }
    }

    private mutating func settled(
        _ verdict: SettleVerdict,
        _ aim: Aim,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        let check: Check?
        switch aim {
        case .wayBack(let sentence): return wentBack(verdict, sentence, &course, at: now)
        case .health(let begun): check = begun
        case .image, .activation: check = nil
        }
        if case .refused = verdict, course.effort.beginning == .resumed,
            !course.goal.usesBootloader
        {
            return refusedAfterResuming(&course)
        }
        guard case .confirmed(let version) = verdict else { return .end(.settled(verdict)) }
        if course.goal.hasHealthCheck { return beginCheck(check, &course, at: now) }
        if course.isOnTrial { return beginConfirming(&course, at: now) }
        return .end(
            course.hasActed || course.isKnown ? .settled(verdict) : .alreadyCurrent(version)
        )
    }

    /// Some devices resume after having erased the earlier bytes, and then lack the beginning.
    private func refusedAfterResuming(_ course: inout UpdateCourse) -> UpdateTurn {
        course.effort.beginning = .refused
        course.effort.best = -1
        course.memory.stage = .transferring
        course.memory.acknowledged = 0
        course.memory.interruptions += 1
        course.lastCause = UpdateFault(
            .transient,
            "the module refused what it had been sent in pieces, so it gets the whole image again"
        )
        return .probe(.toSend)
    }

    /// The deadline or the end of the search has passed.
    package mutating func tick(_ course: inout UpdateCourse, at now: Moment) -> UpdateTurn? {
        if case .settling(_, _, let hearing) = state {
            if let due = hearing.deadline, now >= due { hear() }
            return step(&course, at: now) { $0.tick(at: now) }
        }
        guard let due = nextDeadline, now >= due else { return nil }
        switch state {
        case .checking(let check, _):
            state = .checking(check, next: check.deadline)
            // The last check counts, even if the time ended before it.
            return .act(.check)
        case .confirming, .rollingBack:
            return failed(UpdateTurn.silence(deadlineLabel), &course, at: now)
        case .settling: return nil
        }
    }

    // MARK: Failures

    /// The requested action failed.
    package mutating func failed(
        _ fault: UpdateFault,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn? {
        switch state {
        case .settling:
            hear()
            guard fault.failure == .transient || fault.failure == .device else {
                return .end(.failed(fault))
            }
            return step(&course, at: now) { machine in
                guard machine.isLinked else { return machine.tick(at: now) }
                return fault.kind == .linkLost
                    ? machine.disconnected(at: now)
                    : machine.observed(Observation(ongoing: false, version: nil), at: now)
            }
        case .checking(let check, _):
            return proveAgain(.health(check), after: fault, &course, at: now)
        case .confirming:
            return proveAgain(.image, after: fault, &course, at: now)
        case .rollingBack(let sentence, _):
            // A module that restarts ends its link.
            guard fault.kind == .linkLost else {
                return course.again(.rollBack(because: sentence), after: fault)
            }
            return settle(.wayBack(because: sentence), isLinked: false, &course, at: now)
        }
    }

    /// Starts the proof again: the fault may have been a restart, which ends a trial, so earlier
    /// observations no longer count.
    private mutating func proveAgain(
        _ aim: Aim,
        after fault: UpdateFault,
        _ course: inout UpdateCourse,
        at now: Moment
    ) -> UpdateTurn {
        switch fault.failure {
        case .transient, .device, .rolledBack: break
        case .unreachable, .rejected, .integrity, .noReturn, .wrongVersion, .inDoubt, .internal:
            return .end(.failed(fault))
        }
        if let end = course.wasted(by: fault) { return end }
        return settle(aim, isLinked: fault.kind != .linkLost, &course, at: now)
    }
}
