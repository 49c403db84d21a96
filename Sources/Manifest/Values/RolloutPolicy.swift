package import Domain

/// In which order and within which limits a rollout runs.
package struct RolloutPolicy: Sendable, Equatable {
    package let waves: [Wave]
    package let pause: PauseRule?
    package let window: Window?
    package let retry: RetryPolicy
    package let tolerance: Tolerance

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

    package init(failed: Amount, atLeast: Int) {
        self.failed = failed
        self.atLeast = atLeast
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

    package init(opens: TimeOfDay, length: Duration, zone: String) {
        self.opens = opens
        self.length = length
        self.zone = zone
    }
}

/// How many further attempts a failure is worth, by its class.
package struct RetryPolicy: Sendable, Hashable {
    package let transient: Int
    package let device: Int

    package init(transient: Int, device: Int) {
        self.transient = transient
        self.device = device
    }
}

/// How many vehicles may stay undone without being told in the exit code.
package struct Tolerance: Sendable, Hashable {
    package let unreachable: Amount
    package let deferred: Amount

    package init(unreachable: Amount, deferred: Amount) {
        self.unreachable = unreachable
        self.deferred = deferred
    }
}
