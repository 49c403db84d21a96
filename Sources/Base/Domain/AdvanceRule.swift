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

    /// Why the next wave may not follow one with these figures; nil when it may.
    package func shortfall(
        reached: Int,
        of members: Int,
        succeeded count: Int,
        attempted: Int
    ) -> String? {
        if let covered, reached * 10_000 < covered.hundredths * members {
            return "\(reached) of \(members) vehicles were reached, \(covered) must be"
        }
        if let succeeded, count * 10_000 < succeeded.hundredths * attempted {
            return "\(count) of \(attempted) attempted have succeeded, \(succeeded) must"
        }
        return nil
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
