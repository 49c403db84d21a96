package import Base

/// Counts the outcomes of the vehicles that a gate judges.
///
/// Only vehicles on which something was done count; those that were never reached, were deferred or
/// had nothing to do are in neither number.
package struct GateCount: Sendable, Equatable {
    package private(set) var attempted = 0
    package private(set) var failed = 0

    package init(attempted: Int = 0, failed: Int = 0) {
        self.attempted = attempted
        self.failed = failed
    }

    /// Counts the outcome of one vehicle; `touched` means that something was written to its module.
    ///
    /// Only failures of these classes count as failed; of all, when none is named.
    package mutating func count(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool,
        counting classes: [FailureClass]
    ) {
        switch outcome {
        case .succeeded:
            attempted += 1
        case .failed where failure == .unreachable:
            // It owes something and was not reached: nothing that was done to it is the cause.
            return
        case .failed, .rolledBack, .timedOut, .inDoubt, .rejected:
            guard touched else { return }
            attempted += 1
            if let failure, !classes.isEmpty, !classes.contains(failure) { return }
            failed += 1
        case .alreadyCurrent, .unreachable, .deferred, .skipped, .aborted:
            return
        }
    }

    package func trips(_ rule: PauseRule) -> Bool {
        rule.trips(failed: failed, attempted: attempted)
    }

    /// What the gate does with these numbers, and why; nil while it does not trip.
    package func tripped(_ rule: PauseRule) -> (kind: Hold.Kind, reason: String)? {
        guard trips(rule) else { return nil }
        let reason =
            "the gate: \(failed) of \(attempted) attempted have failed, at most \(rule.failed) may"
        return (rule.action == .abort ? .aborted : .paused, reason)
    }

    /// The hold that the gate sets when `before` has become these numbers, with what held the rollout until then; nil
    /// when it sets none.
    func hold(
        of rollout: String,
        _ rule: PauseRule,
        after before: GateCount,
        under hold: Hold?,
        at time: WallTime
    ) -> Hold? {
        // A hold that was there when the gate tripped knows of it.
        guard let trip = tripped(rule), hold == nil || !before.trips(rule) else { return nil }
        let own = Hold(trip.kind, rollout, reason: trip.reason, author: Hold.gate, at: time)
        return hold?.with(own) ?? own
    }

    /// How many vehicles may be under way so that even if all of them fail, none fails after the
    /// one that trips the gate.
    package func headroom(_ rule: PauseRule, most: Int = Int(Int32.max)) -> Int {
        let next: Int
        switch rule.failed {
        case .count(let limit): next = limit - failed + 1
        case .percent(let share):
            let good = 10_000 - share.hundredths
            guard good > 0 else { return max(most, 1) }
            let left = max(0, share.hundredths * attempted - 10_000 * failed) / good
            next = max(left + 1, rule.atLeast - attempted)
        }
        return max(1, min(next, most))
    }
}
