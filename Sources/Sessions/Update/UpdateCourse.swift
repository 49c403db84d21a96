package import Domain

/// What the three machines of an update share: its goal and limits, and what happened so far.
///
/// What only one of them has to know stands in its states.
package struct UpdateCourse: Equatable, Sendable {
    package let goal: UpdateGoal
    package let limits: UpdateLimits
    /// What must outlive the process.
    package var memory: UpdateMemory
    /// Whether an earlier run or attempt had begun this very update.
    package let isKnown: Bool
    /// The moment of the beginning on both clocks: settle deadlines are kept in wall time.
    let began: Moment
    let beganAt: WallTime
    /// The last fault that was an interruption and not the end.
    package internal(set) var lastCause: UpdateFault?
    /// Whether anything in the module was changed.
    var hasActed = false
    /// Whether what the module runs goes away with its next restart.
    var isOnTrial = false
    /// A bootloader with somebody else's image was left alone once, until it went back.
    var hasWaitedOut = false
    /// Links in a row that brought nothing.
    var fruitless = 0
    var startsOver = 0
    var effort: TransferEffort

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
        (began, beganAt) = (now, wallTime)
        isKnown = memory.stage != .none
        effort = TransferEffort(best: memory.acknowledged > 0 ? memory.acknowledged : -1)
    }

    func wallTime(at now: Moment) -> WallTime {
        beganAt.advanced(by: began.duration(to: now))
    }

    /// When an exchange that begins now is over.
    func exchange(at now: Moment) -> Moment { now.advanced(by: limits.exchange) }

    // MARK: What several machines do

    /// Notes that the module is changed from now on.
    mutating func act() {
        hasActed = true
        guard memory.stage == .none else { return }
        var fresh = UpdateMemory()
        fresh.interruptions = memory.interruptions
        memory = fresh
    }

    /// Counts a link that brought nothing; the end when there were too many in a row.
    mutating func wasted(by fault: UpdateFault) -> UpdateTurn? {
        fruitless += 1
        lastCause = fault
        return fruitless <= limits.fruitless ? nil : .end(.failed(fault))
    }

    /// Another link for the same errand, as long as that is not fruitless.
    mutating func again(_ errand: UpdateApproach.Errand, after fault: UpdateFault) -> UpdateTurn {
        guard fault.failure == .transient || fault.failure == .device else {
            return .end(.failed(fault))
        }
        return wasted(by: fault) ?? .leave(for: errand, pause: .seconds(1))
    }

    /// Notes that the module is in its bootloader again, where it should run the image.
    mutating func backInBootloader() -> UpdateTurn {
        memory.inBootloader = true
        memory.stage = .transferring
        memory.acknowledged = 0
        startsOver += 1
        guard startsOver <= limits.startsOver else {
            return .fail(
                .device,
                "the module took the whole image \(startsOver) times and went back into its "
                    + "bootloader"
            )
        }
        memory.interruptions += 1
        lastCause = UpdateFault(.transient, "the module is in its bootloader again")
        return .connect(for: .receive, .bootloader)
    }
}

/// What earlier links of an update have shown of sending its image.
package struct TransferEffort: Equatable, Sendable {
    /// What is known of a part that was taken up in the middle.
    package enum Beginning: Equatable, Sendable {
        /// None was.
        case fresh
        /// One was, on the module's word that it has the beginning.
        case resumed
        /// What came of it was no good: the whole is sent.
        case refused
    }

    /// How cautiously it is sent.
    package internal(set) var pace = 0
    /// The most the module had when a transfer broke.
    package internal(set) var best: Int
    package internal(set) var beginning = Beginning.fresh
}
