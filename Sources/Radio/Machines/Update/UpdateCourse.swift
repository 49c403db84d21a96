package import Base

/// What the three machines of an update share: its goal, its limits, and what happened so far.
///
/// Facts that only one machine needs are in its states.
package struct UpdateCourse: Equatable, Sendable {
    package let goal: UpdateGoal
    package let limits: UpdateLimits
    /// What must outlive the process.
    package var memory: UpdateMemory
    /// Whether an earlier run or attempt had begun this same update.
    package let isKnown: Bool
    /// When the session began, on both clocks: settle deadlines are kept in wall time.
    let began: Moment
    let beganAt: WallTime
    /// The last fault that interrupted the update without ending it.
    package internal(set) var lastCause: UpdateFault?
    /// Whether the update has changed anything in the module.
    var hasActed = false
    /// Whether the module will lose the running image at its next restart.
    var isOnTrial = false
    /// Whether a bootloader with an unknown image was already left alone long enough to return to
    /// its application.
    var hasWaitedOut = false
    /// The number of consecutive links without progress.
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

    /// The deadline of an exchange that begins now.
    func exchange(at now: Moment) -> Moment { now.advanced(by: limits.exchange) }

    // MARK: Shared operations

    /// Records that the module is changed from now on.
    mutating func act() {
        hasActed = true
        guard memory.stage == .none else { return }
        var fresh = UpdateMemory()
        fresh.interruptions = memory.interruptions
        memory = fresh
    }

    /// Counts a link without progress; returns the end when there were too many in a row.
    mutating func wasted(by fault: UpdateFault) -> UpdateTurn? {
        fruitless += 1
        lastCause = fault
        return fruitless <= limits.fruitless ? nil : .end(.failed(fault))
    }

    /// Another link for the same errand, unless there were too many links without progress.
    mutating func again(_ errand: UpdateApproach.Errand, after fault: UpdateFault) -> UpdateTurn {
        guard fault.failure == .transient || fault.failure == .device else {
            return .end(.failed(fault))
        }
        return wasted(by: fault) ?? .leave(for: errand, pause: .seconds(1))
    }

    /// Records that the module is in its bootloader again, where it should run the image.
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

/// What earlier links of the update showed about sending its image.
package struct TransferEffort: Equatable, Sendable {
    /// What is known of a part that was resumed in the middle.
    package enum Beginning: Equatable, Sendable {
        /// No part was resumed.
        case fresh
        /// A part was resumed, because the module reported that it has the beginning.
        case resumed
        /// The result was rejected: the whole part is sent.
        case refused
    }

    /// How cautiously the image is sent.
    package internal(set) var pace = 0
    /// The most bytes that the module had when a transfer was interrupted.
    package internal(set) var best: Int
    package internal(set) var beginning = Beginning.fresh
    /// Losses of the link at one place of the image, the last ones in a row.
    private var silence: Silence?

    private struct Silence: Equatable {
        let place: Int
        var count = 0
        /// The shortest and the longest time without progress before a loss.
        var shortest: Duration
        var longest: Duration
    }

    package init(best: Int) { self.best = best }

    /// The transfer was interrupted at a place of the image; `time` is how long nothing came
    /// before the link was lost, and nil for interruptions of other kinds.
    mutating func fallsSilent(_ time: Duration?, at place: Int) {
        guard let time else { return silence = nil }
        var all = Silence(place: place, shortest: time, longest: time)
        if let silence, silence.place == place { all = silence }
        all.count += 1
        all.shortest = min(all.shortest, time)
        all.longest = max(all.longest, time)
        silence = all
    }

    /// The likely cause and its remedy, when the link was lost `count` times at one place, as a
    /// module loses it that is silent while it erases its flash; nil otherwise.
    func silenceSentence(after count: Int) -> String? {
        // No link has a shorter supervision timeout; with a long one, flash is not the reason.
        guard let silence, silence.count >= max(2, count),
            silence.shortest >= .milliseconds(10 * SupervisionTimeout.allowed.lowerBound),
            silence.longest <= .milliseconds(10 * SupervisionTimeout.enough)
        else { return nil }
        return "; each time at byte \(silence.place), \(silence.shortest.brief) after the last "
            + "answer: many modules are silent while they erase their flash, and Linux ends a link "
            + "after \(10 * SupervisionTimeout.usual) ms of silence unless told otherwise; "
            + SupervisionTimeout.remedy
    }
}
