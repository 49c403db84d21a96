package import Base

/// One update of one module, from the first search to the proof.
///
/// It consists of three machines, one at a time: `UpdateApproach` reaches the module and inspects
/// it, `UpdateTransfer` sends the image, `UpdateProof` waits until the module has shown what it
/// runs. It knows no protocol: drivers perform its actions and report the results. What must
/// outlive the process is in `memory`, which the shell stores before it performs an action. Every
/// state has a deadline and a no-progress timer, after which `tick` moves it on.
package struct UpdateSession: Sendable {
    /// The active machine.
    enum Phase: Equatable, Sendable {
        case idle
        case approach(UpdateApproach)
        case transfer(UpdateTransfer)
        case proof(UpdateProof)
        case ended(UpdateEnding)
    }

    /// The result of a health check.
    package enum Health: Equatable, Sendable {
        case well
        /// Not yet healthy, with the reason: it is checked again until the time is over.
        case notYet(String)
        case failure(String)
    }

    package enum Action: Equatable, Sendable {
        /// Listen from this moment until `nextDeadline`; then `sighted` or `missed`.
        case seek(from: Moment)
        /// Connect to the module that was sighted and open the link; then `linked` or `failed`.
        case connect
        /// Then `inspected`.
        case inspect
        /// Then `prepared`.
        case prepare
        /// Then `probed`.
        case probe
        /// Send the part, more cautiously at a higher pace; `progressed`, then `transferred`.
        case transfer(part: Int, pace: Int)
        /// Then `activated`.
        case activate
        /// Observe the module at this moment; then `observed`.
        case observe(at: Moment)
        /// Check the module's health; then `checked`.
        case check
        /// Then `confirmed`.
        case confirm
        /// Then `rolledBack`.
        case rollBack
        /// Close the link; then `disconnected`.
        case disconnect
        /// Then `tick`.
        case pause(until: Moment)
        case ended(UpdateEnding)
    }

    private var course: UpdateCourse
    private var phase = Phase.idle

    /// Begins an update, or resumes the one in `memory`.
    package init(
        _ goal: UpdateGoal,
        limits: UpdateLimits,
        memory: UpdateMemory = UpdateMemory(),
        hasWaitedOut: Bool = false,
        now: Moment,
        wallTime: WallTime
    ) {
        course = UpdateCourse(goal, limits: limits, memory: memory, now: now, wallTime: wallTime)
        course.hasWaitedOut = hasWaitedOut
    }

    package var goal: UpdateGoal { course.goal }
    package var limits: UpdateLimits { course.limits }
    package var memory: UpdateMemory { course.memory }

    /// The last fault that interrupted the update without ending it.
    package var lastCause: UpdateFault? { course.lastCause }

    /// What the session is doing, for reports.
    package var state: UpdateState { UpdateState(phase) }

    /// What is known of the beginning of the part that is being sent.
    package var transferStart: TransferStart {
        guard case .transfer(let machine) = phase else { return .fresh }
        return machine.start(course)
    }

    /// When `tick` is due at the latest; nil before the beginning and at the end.
    package var nextDeadline: Moment? {
        switch phase {
        case .idle, .ended: nil
        case .approach(let machine): machine.nextDeadline
        case .transfer(let machine): machine.nextDeadline
        case .proof(let machine): machine.nextDeadline
        }
    }

    /// What happens at `nextDeadline`, for people.
    package var deadlineLabel: String {
        switch phase {
        case .idle, .ended: ""
        case .approach(let machine): machine.deadlineLabel
        case .transfer(let machine): machine.deadlineLabel
        case .proof(let machine): machine.deadlineLabel
        }
    }

    // MARK: Changing machines

    private mutating func take(_ turn: UpdateTurn?, at now: Moment) -> Action {
        switch turn {
        case nil:
            return pending
        case .act(let action):
            return action
        case .leave(let errand, let pause):
            phase = .approach(
                UpdateApproach(leavingFor: errand, pause: pause, course, at: now)
            )
            return .disconnect
        case .connect(let errand, let role):
            phase = .approach(UpdateApproach(connectingFor: errand, role, course, at: now))
            return .connect
        case .probe(let reason):
            phase = .transfer(UpdateTransfer(probing: reason, course, at: now))
            return .probe
        case .settle(let aim, let isLinked):
            let (proof, next) = UpdateProof.settle(
                aim,
                isLinked: isLinked,
                &course,
                at: now
            )
            phase = .proof(proof)
            return take(next, at: now)
        case .rollBack(let sentence):
            phase = .proof(UpdateProof(rollingBackBecause: sentence, course, at: now))
            return .rollBack
        case .end(let ending):
            phase = .ended(ending)
            return .ended(ending)
        }
    }

    /// The action when an event does not belong to the current state.
    private var pending: Action {
        if case .ended(let ending) = phase { return .ended(ending) }
        return .pause(until: nextDeadline ?? course.began)
    }

    private mutating func approach(
        at now: Moment,
        _ event: (inout UpdateApproach, inout UpdateCourse) -> UpdateTurn?
    ) -> Action {
        guard case .approach(var machine) = phase else { return pending }
        let turn = event(&machine, &course)
        phase = .approach(machine)
        return take(turn, at: now)
    }

    private mutating func transfer(
        at now: Moment,
        _ event: (inout UpdateTransfer, inout UpdateCourse) -> UpdateTurn?
    ) -> Action {
        guard case .transfer(var machine) = phase else { return pending }
        let turn = event(&machine, &course)
        phase = .transfer(machine)
        return take(turn, at: now)
    }

    private mutating func proof(
        at now: Moment,
        _ event: (inout UpdateProof, inout UpdateCourse) -> UpdateTurn?
    ) -> Action {
        guard case .proof(var machine) = phase else { return pending }
        let turn = event(&machine, &course)
        phase = .proof(machine)
        return take(turn, at: now)
    }

    private var isProving: Bool {
        if case .proof = phase { return true }
        return false
    }
}

// MARK: - Events

extension UpdateSession {
    /// Begins without a link.
    package mutating func begin(at now: Moment) -> Action {
        guard phase == .idle else { return pending }
        phase = .approach(UpdateApproach(seekingFor: .inspect, course, at: now))
        return .seek(from: now)
    }

    /// Begins on an open link to the module in this role.
    package mutating func begin(linkedTo role: ModuleRole, at now: Moment) -> Action {
        guard phase == .idle else { return pending }
        let (machine, turn) = UpdateApproach.begin(linkedTo: role, &course, at: now)
        phase = .approach(machine)
        return take(turn, at: now)
    }

    package mutating func sighted(_ role: ModuleRole, at now: Moment) -> Action {
        isProving
            ? proof(at: now) { $0.sighted(role, &$1, at: now) }
            : approach(at: now) { $0.sighted(role, &$1, at: now) }
    }

    /// The search ended at `nextDeadline` without a sighting.
    package mutating func missed(at now: Moment) -> Action {
        isProving
            ? proof(at: now) { $0.missed(&$1, at: now) }
            : approach(at: now) { $0.missed($1, at: now) }
    }

    package mutating func linked(at now: Moment) -> Action {
        isProving
            ? proof(at: now) { $0.linked(&$1, at: now) }
            : approach(at: now) { $0.linked(&$1, at: now) }
    }

    package mutating func disconnected(at now: Moment) -> Action {
        isProving
            ? proof(at: now) { $0.disconnected(&$1, at: now) }
            : approach(at: now) { $0.disconnected($1, at: now) }
    }

    package mutating func inspected(_ found: Inspection, at now: Moment) -> Action {
        approach(at: now) { $0.inspected(found, &$1, at: now) }
    }

    package mutating func prepared(at now: Moment) -> Action {
        approach(at: now) { $0.prepared(&$1) }
    }

    package mutating func probed(_ probe: UpdateProbe, at now: Moment) -> Action {
        transfer(at: now) { $0.probed(probe, &$1, at: now) }
    }

    /// The module has `offset` bytes of the part; restarts the no-progress timer.
    package mutating func progressed(
        to offset: Int,
        resumedFrom resumed: Int = 0,
        at now: Moment
    ) {
        guard case .transfer(var machine) = phase else { return }
        machine.progressed(to: offset, resumedFrom: resumed, &course, at: now)
        phase = .transfer(machine)
    }

    /// The module has taken the whole part; `linkHolds` is true when more can be sent immediately.
    package mutating func transferred(linkHolds: Bool, at now: Moment) -> Action {
        transfer(at: now) { $0.transferred(linkHolds: linkHolds, &$1, at: now) }
    }

    package mutating func activated(at now: Moment) -> Action {
        transfer(at: now) { machine, _ in machine.activated() }
    }

    package mutating func observed(_ observation: Observation, at now: Moment) -> Action {
        proof(at: now) { $0.observed(observation, &$1, at: now) }
    }

    package mutating func checked(_ health: Health, at now: Moment) -> Action {
        proof(at: now) { $0.checked(health, &$1, at: now) }
    }

    /// The module reports that it keeps the image.
    package mutating func confirmed(at now: Moment) -> Action {
        proof(at: now) { $0.confirmed(&$1) }
    }

    package mutating func rolledBack(at now: Moment) -> Action {
        proof(at: now) { $0.rolledBack(&$1, at: now) }
    }

    /// The requested action failed.
    package mutating func failed(_ fault: UpdateFault, at now: Moment) -> Action {
        switch phase {
        case .idle, .ended: pending
        case .approach: approach(at: now) { $0.failed(fault, &$1) }
        case .transfer: transfer(at: now) { $0.failed(fault, &$1, at: now) }
        case .proof: proof(at: now) { $0.failed(fault, &$1, at: now) }
        }
    }

    /// A deadline or the no-progress timer has passed; does nothing before that.
    package mutating func tick(at now: Moment) -> Action {
        switch phase {
        case .idle, .ended: pending
        case .approach: approach(at: now) { $0.tick(&$1, at: now) }
        case .transfer: transfer(at: now) { $0.tick(&$1, at: now) }
        case .proof: proof(at: now) { $0.tick(&$1, at: now) }
        }
    }

    /// Ends at this safe point; what was begun remains in `memory` and in the module.
    package mutating func stopRequested() -> Action {
        if case .ended = phase { return pending }
        return take(.end(.stopped), at: course.began)
    }
}
