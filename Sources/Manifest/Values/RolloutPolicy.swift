package import Base

/// The order and the limits of a rollout.
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
    /// The number of failures on one release after which a vehicle is left alone; nil for no limit.
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

/// The conditions on a completed wave before the next one begins.
package struct AdvanceRule: Sendable, Hashable {
    /// The least share of attempted vehicles that must have succeeded.
    package let succeeded: Percent?
    /// The least share of the wave that must have a verdict; unreachable vehicles have none.
    package let covered: Percent?

    package init(succeeded: Percent?, covered: Percent?) {
        self.succeeded = succeeded
        self.covered = covered
    }
}

/// What happens between the end of one wave and the beginning of the next.
package struct BetweenWaves: Sendable, Hashable {
    /// The waiting time.
    package var soak = Duration.zero
    /// A program and its arguments, empty for none; any exit code other than 0 pauses the rollout.
    package var check: [String] = []
    package var timeout = Duration.seconds(60)
    /// Whether a person must run `resume`.
    package var asks = false

    package init() {}
}

/// How much adapter time may be used.
package struct AirtimeBudget: Sendable, Hashable {
    package var vehicle: Duration?
    package var total: Duration?

    package init() {}
}

/// What a run does when another one is active.
package enum Overlap: String, Sendable, Hashable, CaseIterable {
    /// Exits immediately.
    case skip
    /// Begins when the other run has ended.
    case wait
    /// Asks the other run to end at its next safe point, and then begins.
    case replace
}

/// When a rollout of an unchanged plan begins again.
package enum Again: String, Sendable, Hashable, CaseIterable {
    /// Only with `run --again`.
    case whenAsked = "when-asked"
    /// With each run that finds it finished.
    case eachRun = "each-run"
    /// With the first run of a calendar day, in the zone of the window or in UTC.
    case daily
}

/// A share of the vehicles, as the manifest writes it.
package enum Wave: Sendable, Hashable, CustomStringConvertible {
    case count(Int)
    case percent(Percent)
    /// All remaining vehicles.
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

    /// The number of vehicles for a fleet of `total`, rounded down.
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
    /// The gate trips when more than this have failed.
    package let failed: Amount
    /// A share is evaluated only after this many attempts.
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

    /// Whether `failed` of `attempted` vehicles are too many; a vehicle counts as attempted when
    /// anything was done on it.
    package func trips(failed count: Int, attempted: Int) -> Bool {
        switch failed {
        case .count(let limit): count > limit
        case .percent(let percent):
            attempted >= atLeast && count * 10_000 > percent.hundredths * attempted
        }
    }
}

/// The hours in which work on a vehicle may start, each day.
package struct Window: Sendable, Hashable {
    package let opens: TimeOfDay
    package let length: Duration
    /// An IANA name.
    package let zone: String
    package let close: Close

    /// What happens to vehicles in work when the window closes.
    package enum Close: String, Sendable, Hashable, CaseIterable {
        /// They are finished.
        case finish
        /// They are left at their next safe point, where the next run continues.
        case safePoint = "safe-point"
        /// Their links are ended immediately; the next run continues from the modules' state.
        case stop
    }

    package init(opens: TimeOfDay, length: Duration, zone: String, close: Close = .finish) {
        self.opens = opens
        self.length = length
        self.zone = zone
        self.close = close
    }
}

/// The number of further attempts after a failure, by its class.
package struct RetryPolicy: Sendable, Hashable {
    package let transient: Int
    package let device: Int
    /// The pause before the second attempt; it doubles from one attempt to the next.
    package var pause = Duration.seconds(1)
    package var longestPause = Duration.seconds(30)
    /// Further attempts of all vehicles of a run together; nil for no limit.
    package var budget: Int?
    /// The number of consecutive interrupted transfers without a further byte that ends an attempt.
    package var fruitless = 3

    package init(transient: Int, device: Int) {
        self.transient = transient
        self.device = device
    }
}

/// How many vehicles may stay undone without an effect on the exit code.
package struct Tolerance: Sendable, Hashable {
    package let unreachable: Amount
    package let deferred: Amount

    /// Every vehicle counts.
    package static let none = Tolerance(unreachable: .count(0), deferred: .count(0))

    package init(unreachable: Amount, deferred: Amount) {
        self.unreachable = unreachable
        self.deferred = deferred
    }
}
