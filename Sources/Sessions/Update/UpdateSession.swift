package import Domain

/// One update of one module, from the first look to the proof: probe, plan, transfer, activate,
/// settle, confirm or roll back.
///
/// It knows no protocol: drivers do what its actions say and tell what came of it. What must
/// outlive the process stands in `memory`, which the shell writes down before it performs an
/// action. Every state has a deadline and a no-progress timer, after which `tick` moves it on.
package struct UpdateSession: Sendable {
    /// What a link is wanted for.
    package enum Errand: Equatable, Sendable {
        /// To ask what runs and what is there.
        case inspect
        /// To send, in the role that receives.
        case receive
        /// To make it go back.
        case rollBack
    }

    package enum State: Equatable, Sendable {
        /// Next: `seeking`, `inspecting`.
        case idle
        /// No link; it is listened for. Next: `connecting`, `leaving`, `ended`.
        case seeking(Errand)
        /// Next: `inspecting`, `probing`, `rollingBack`, `leaving`.
        case connecting(Errand, ModuleRole)
        /// Its application says what runs. Next: `preparing`, `settling`, `ended`.
        case inspecting
        /// It is told to make itself ready. Next: `seeking`, `probing`, `ended`.
        case preparing
        /// What is there of the image? Next: `transferring`, `activating`, `settling`, `leaving`.
        case probing
        /// Next: `transferring`, `activating`, `settling`, `leaving`, `ended`.
        case transferring(part: Int)
        /// Our end of the link is being closed, and then there is a pause. Next: `seeking`.
        case leaving(Errand, for: Duration)
        /// Between two links. Next: `seeking`.
        case pausing(Errand)
        /// It is told to run the image. Next: `settling`, `leaving`, `ended`.
        case activating
        /// Next: `checking`, `confirming`, `probing` when nobody knows whether it heard of the
        /// image, `connecting` to a bootloader that is back, `ended`.
        case settling(SettleMachine)
        /// At rest with the image, and to show that it is well. Next: `confirming`,
        /// `rollingBack`, `settling` when the link broke, `ended`.
        case checking
        /// Next: `settling` when the link broke, `ended`.
        case confirming
        /// Next: `settling`.
        case rollingBack
        case ended(UpdateEnding)
    }

    package enum Action: Equatable, Sendable {
        /// Listen from this moment until `nextDeadline`; then `sighted` or `missed`.
        case seek(from: Moment)
        /// Make a link to what was sighted and open it; then `linked` or `failed`.
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
        /// Look at this moment; then `observed`.
        case observe(at: Moment)
        /// Look whether it is well; then `checked`.
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

    package let goal: UpdateGoal
    package let limits: UpdateLimits
    package internal(set) var state = State.idle
    package internal(set) var memory: UpdateMemory
    /// The last fault that was an interruption and not the end.
    package internal(set) var lastCause: UpdateFault?
    /// When the state is over, come what may.
    var deadline: Moment?
    /// When it is over unless something moves.
    var stallsAt: Moment?
    /// The moment of the beginning on both clocks: settle deadlines are kept in wall time.
    let origin: (now: Moment, wallTime: WallTime)
    /// Whether an earlier run or attempt had begun this very update.
    let isKnown: Bool
    var pace = 0
    var fruitless = 0
    /// The most the module had when a transfer broke.
    var best = -1
    var startsOver = 0
    /// Sightings of the application where its bootloader should be.
    var lingering = 0
    /// When it was first heard in its bootloader after the image was complete.
    var bootloaderSince: Moment?
    var hasWaitedOut = false
    var isHeldToHealth: Bool
    /// Whether what runs goes away with the next restart.
    var isOnTrial = false
    var complaint: String?
    /// When the module must have shown that it is well.
    var healthDeadline: Moment?
    /// The link broke while the module was told to run the image.
    var isActivationInDoubt = false
    /// A part was taken up in the middle, on the module's word that it has the beginning.
    var hasResumed = false
    /// What was taken up in the middle was no good: the whole is sent.
    var sendsAnew = false
    /// Whether this session has changed anything in the module.
    var hasActed = false
    /// The searches under way; nil once the module was heard.
    var search: Search?

    /// Searches in a row for one errand.
    struct Search: Equatable, Sendable {
        let began: Moment
        var missed = 0
    }

    /// Begins an update, or takes up what `memory` has of it.
    package init(
        _ goal: UpdateGoal,
        limits: UpdateLimits,
        memory: UpdateMemory = UpdateMemory(),
        now: Moment,
        wallTime: WallTime
    ) {
        self.goal = goal
        self.limits = limits
        self.memory = memory
        origin = (now, wallTime)
        isKnown = memory.stage != .none
        isHeldToHealth = goal.hasHealthCheck
        best = memory.acknowledged > 0 ? memory.acknowledged : -1
    }

    /// What is known of the beginning of the part that is sent.
    package var transferStart: TransferStart {
        guard case .transferring(let part) = state else { return .fresh }
        if sendsAnew { return .again }
        return best > goal.size(before: part) ? .begun : .fresh
    }

    /// When `tick` is due at the latest; nil before the beginning and at the end.
    package var nextDeadline: Moment? {
        if case .settling(let machine) = state {
            // A search in a settling is no longer than any other, so that a stop is seen.
            return [machine.nextDeadline, stallsAt].compactMap(\.self).min()
        }
        return [deadline, stallsAt].compactMap(\.self).min()
    }

    /// What fires at `nextDeadline`, for people.
    package var deadlineLabel: String {
        switch state {
        case .idle, .ended: ""
        case .seeking(.receive): "bootloader to appear"
        case .seeking: "search"
        case .connecting: "connect"
        case .inspecting: "inspect"
        case .preparing: "start of its bootloader"
        case .probing: "probe"
        case .transferring: "next byte"
        case .leaving, .pausing: "next link"
        case .activating: "activation"
        case .settling: "settle"
        case .checking: "health"
        case .confirming: "confirmation"
        case .rollingBack: "way back"
        }
    }

    // MARK: Moving on

    mutating func go(
        to next: State,
        _ action: Action,
        within limit: Duration,
        at now: Moment
    ) -> Action {
        state = next
        deadline = now.advanced(by: limit)
        stallsAt = nil
        return action
    }

    mutating func end(_ ending: UpdateEnding) -> Action {
        (deadline, stallsAt) = (nil, nil)
        state = .ended(ending)
        return .ended(ending)
    }

    mutating func fail(_ failure: FailureClass, _ sentence: String) -> Action {
        end(.failed(UpdateFault(failure, sentence)))
    }

    mutating func seek(_ errand: Errand, at now: Moment) -> Action {
        let isFirst = search == nil
        if isFirst { search = Search(began: now) }
        let changesRole = isFirst && errand == .receive && goal.usesBootloader
        let limit = changesRole ? limits.roleChange : limits.seek
        return go(to: .seeking(errand), .seek(from: now), within: limit, at: now)
    }

    mutating func connect(_ errand: Errand, _ role: ModuleRole, at now: Moment) -> Action {
        go(to: .connecting(errand, role), .connect, within: limits.connect, at: now)
    }

    /// Ends our side of the link and seeks again after a pause.
    mutating func leave(
        for errand: Errand,
        pause: Duration,
        at now: Moment
    ) -> Action {
        go(to: .leaving(errand, for: pause), .disconnect, within: limits.exchange, at: now)
    }

    mutating func exchange(_ next: State, _ action: Action, at now: Moment) -> Action {
        go(to: next, action, within: limits.exchange, at: now)
    }

    func wallTime(at now: Moment) -> WallTime {
        origin.wallTime.advanced(by: origin.now.duration(to: now))
    }

    /// What stands to be done when an event has no place in the state.
    var pending: Action {
        switch state {
        case .ended(let ending): .ended(ending)
        case .idle, .seeking, .connecting, .inspecting, .preparing, .probing, .transferring,
            .leaving, .pausing, .activating, .settling, .checking, .confirming, .rollingBack:
            .pause(until: nextDeadline ?? origin.now)
        }
    }
}
