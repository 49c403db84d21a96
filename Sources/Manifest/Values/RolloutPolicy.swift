package import Domain

/// In which order and within which limits a rollout runs.
package struct RolloutPolicy: Sendable, Equatable {
    package let waves: [Wave]
    /// Labels by which the vehicles are spread over the waves; empty keeps the list's order.
    package var spread: [String] = []
    package let pause: PauseRule?
    package var advance: AdvanceRule?
    package var between = BetweenWaves()
    package let window: Window?
    package let retry: RetryPolicy
    package let tolerance: Tolerance
    package var airtime = AirtimeBudget()
    /// Failures on one release after which a vehicle is left alone; nil for never.
    package var quarantineAfter: Int?
    package var overlap = Overlap.skip
    package var again = Again.whenAsked

    package init(
        waves: [Wave],
        pause: PauseRule?,
        window: Window?,
        retry: RetryPolicy,
        tolerance: Tolerance
    ) {
        self.waves = waves
        self.pause = pause
        self.window = window
        self.retry = retry
        self.tolerance = tolerance
    }
}

/// What must hold of a wave that has ended before the next one begins.
package struct AdvanceRule: Sendable, Hashable {
    /// The least share of those attempted that must have succeeded.
    package let succeeded: Percent?
    /// The least share of the wave that must have a verdict, not counting the unreachable.
    package let covered: Percent?

    package init(succeeded: Percent?, covered: Percent?) {
        self.succeeded = succeeded
        self.covered = covered
    }
}

/// What happens between the end of one wave and the beginning of the next.
package struct BetweenWaves: Sendable, Hashable {
    /// Time that must pass.
    package var soak = Duration.zero
    /// A program and its arguments, empty for none; any exit code but 0 pauses the rollout.
    package var check: [String] = []
    package var timeout = Duration.seconds(60)
    /// Whether a person must say `resume`.
    package var asks = false

    package init() {}
}

/// How much time of adapters may be used.
package struct AirtimeBudget: Sendable, Hashable {
    package var vehicle: Duration?
    package var total: Duration?

    package init() {}
}

/// What a run does that finds another one at work.
package enum Overlap: String, Sendable, Hashable, CaseIterable {
    /// Leaves at once.
    case skip
    /// Begins when the other has ended.
    case wait
    /// Asks the other to end at its next safe point, and then begins.
    case replace
}

/// When a rollout of an unchanged plan is begun again.
package enum Again: String, Sendable, Hashable, CaseIterable {
    /// By `run --again` alone.
    case whenAsked = "when-asked"
    /// By each run that finds it finished.
    case eachRun = "each-run"
    /// By the first run of a calendar day, in the zone of the window or in UTC.
    case daily
}

/// A share of the vehicles as the manifest puts it.
package enum Wave: Sendable, Hashable, CustomStringConvertible {
    case count(Int)
    case percent(Percent)
    /// All that are left.
    case rest

    package var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): "\(percent)"
        case .rest: "rest"
        }
    }
}

/// A number of vehicles, or a share of them.
package enum Amount: Sendable, Hashable, CustomStringConvertible {
    case count(Int)
    case percent(Percent)

    /// The whole number that it comes to among `total`, rounded down.
    package func limit(of total: Int) -> Int {
        switch self {
        case .count(let count): count
        case .percent(let percent): percent.share(of: total)
        }
    }

    package var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): "\(percent)"
        }
    }
}

/// The gate: too many failures pause the rollout.
package struct PauseRule: Sendable, Hashable {
    /// More than this is too many.
    package let failed: Amount
    /// A share says nothing before this many were attempted.
    package let atLeast: Int
    /// The failures that count; empty for all.
    package let classes: [FailureClass]
    package let action: Action

    /// What the gate does.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        case pause, abort
    }

    package init(
        failed: Amount,
        atLeast: Int,
        classes: [FailureClass] = [],
        action: Action = .pause
    ) {
        self.failed = failed
        self.atLeast = atLeast
        self.classes = classes
        self.action = action
    }

    /// Whether `failed` of `attempted` vehicles, those on which something was done, are too many.
    package func trips(failed count: Int, attempted: Int) -> Bool {
        switch failed {
        case .count(let limit): count > limit
        case .percent(let percent):
            attempted >= atLeast && count * 10_000 > percent.hundredths * attempted
        }
    }
}

/// The hours in which a vehicle may be started, each day.
package struct Window: Sendable, Hashable {
    package let opens: TimeOfDay
    package let length: Duration
    /// An IANA name.
    package let zone: String
    package let close: Close

    /// What happens to the vehicles under way when it closes.
    package enum Close: String, Sendable, Hashable, CaseIterable {
        /// They are finished.
        case finish
        /// They are left at their next safe point, and the next run goes on there.
        case safePoint = "safe-point"
        /// Their links are ended at once; the next run goes on where the modules stand.
        case stop
    }

    package init(opens: TimeOfDay, length: Duration, zone: String, close: Close = .finish) {
        self.opens = opens
        self.length = length
        self.zone = zone
        self.close = close
    }
}

/// How many further attempts a failure is worth, by its class.
package struct RetryPolicy: Sendable, Hashable {
    package let transient: Int
    package let device: Int
    /// Before the second attempt; doubles from one to the next.
    package var pause = Duration.seconds(1)
    package var longestPause = Duration.seconds(30)
    /// Further attempts of all vehicles of a run together; nil for no limit.
    package var budget: Int?
    /// Broken transfers in a row without a byte more in the module.
    package var fruitless = 3

    package init(transient: Int, device: Int) {
        self.transient = transient
        self.device = device
    }
}

/// How many vehicles may stay undone without being told in the exit code.
package struct Tolerance: Sendable, Hashable {
    package let unreachable: Amount
    package let deferred: Amount

    /// Every one counts.
    package static let none = Tolerance(unreachable: .count(0), deferred: .count(0))

    package init(unreachable: Amount, deferred: Amount) {
        self.unreachable = unreachable
        self.deferred = deferred
    }
}
