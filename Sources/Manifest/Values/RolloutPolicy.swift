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

    init(
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
