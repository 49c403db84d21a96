package import Base
package import Manifest

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
    package mutating func count(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool,
        by rule: PauseRule
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
            if let failure, !rule.classes.isEmpty, !rule.classes.contains(failure) { return }
            failed += 1
        case .alreadyCurrent, .unreachable, .deferred, .skipped, .aborted:
            return
        }
    }

    package func trips(_ rule: PauseRule) -> Bool {
        rule.trips(failed: failed, attempted: attempted)
    }

    /// How many vehicles may be under way so that even if all of them fail, none fails after the
    /// one that trips the gate.
    package func headroom(_ rule: PauseRule, most: Int) -> Int {
        var next = 1
        while next < most {
            let all = GateCount(attempted: attempted + next, failed: failed + next)
            if all.trips(rule) { return next }
            next += 1
        }
        return max(most, 1)
    }
}

extension PauseRule {
    /// The rule in plain words, with the figures for `total` vehicles.
    package func words(among total: Int) -> String {
        let verb = action == .abort ? "aborts" : "pauses"
        var words: String
        switch failed {
        case .count(let limit):
            words = "\(verb) on the \(Self.ordinal(limit + 1)) failure of \(total)"
            if limit >= total {
                words = "never \(verb): more than \(limit) of \(total) cannot fail"
            }
        case .percent(let share):
            let first = max(atLeast, 1)
            let trip = (1...max(total, 1)).first { count in
                self.trips(failed: count, attempted: max(first, count))
            }
            words = "\(verb) when more than \(share) of those attempted have failed, "
            words += "looked at from \(first) attempted on"
            if let trip, trip <= total, first <= total {
                words += ": on the \(Self.ordinal(trip)) failure of \(max(first, trip))"
            } else {
                words += ": never among \(total)"
            }
        }
        if !classes.isEmpty {
            words += "; counts only " + classes.map(\.rawValue).joined(separator: ", ")
        }
        return words
    }

    private static func ordinal(_ number: Int) -> String {
        let suffix =
            switch (number % 10, number % 100) {
            case (_, 11...13): "th"
            case (1, _): "st"
            case (2, _): "nd"
            case (3, _): "rd"
            default: "th"
            }
        return "\(number)\(suffix)"
    }
}
