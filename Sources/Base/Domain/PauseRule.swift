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
