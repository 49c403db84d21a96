package import Base

/// How the vehicles of one wave have ended.
package struct WaveTally: Sendable, Equatable {
    package var members = 0
    /// Those without a verdict.
    package var open = 0
    package private(set) var reached = 0
    package private(set) var attempted = 0
    package private(set) var succeeded = 0

    package init(members: Int = 0, open: Int = 0) { (self.members, self.open) = (members, open) }

    /// Counts the outcome of `count` vehicles; `touched` means that something was done on them.
    package mutating func count(_ outcome: Outcome, touched: Bool, count: Int = 1) {
        if outcome != .unreachable, outcome != .aborted { reached += count }
        if outcome == .succeeded || touched { attempted += count }
        if outcome == .succeeded { succeeded += count }
    }
}

/// What follows a wave in which every vehicle has ended.
package enum WaveStep: Sendable, Equatable {
    /// The rollout is paused, with the reason.
    case stop(String)
    case soak
    case check
    /// The next wave begins.
    case advance
    case finish

    /// How far the time after the wave has come.
    package enum Stage: Sendable {
        /// It has been over for the time `soaked`.
        case ended(WaveTally, soaked: Duration)
        case soaked
        /// The check after it was made; nil when it has passed, or when there is none.
        case checked(failure: String?)
    }

    /// `wave` counts from 0.
    package init(
        after wave: Int,
        isLast: Bool,
        _ stage: Stage,
        _ advance: AdvanceRule?,
        _ between: BetweenWaves
    ) {
        func step(_ stage: Stage) -> WaveStep {
            switch stage {
            case .ended(let tally, let soaked):
                let shortfall = advance?.shortfall(
                    reached: tally.reached,
                    of: tally.members,
                    succeeded: tally.succeeded,
                    attempted: tally.attempted
                )
                if let shortfall { return .stop("wave \(wave + 1): \(shortfall)") }
                guard soaked >= between.soak else { return .soak }
                return step(.soaked)
            case .soaked:
                guard between.check.isEmpty else { return .check }
                return step(.checked(failure: nil))
            case .checked(let failure):
                if let failure {
                    return .stop("the check after wave \(wave + 1): \(failure)")
                }
                guard !between.asks else {
                    return .stop("wave \(wave + 1) has ended, and a person is to look at it")
                }
                return .advance
            }
        }
        self = isLast ? .finish : step(stage)
    }
}
