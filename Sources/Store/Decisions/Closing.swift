package import Base

/// How an execution ends, after its open debts were taken into account.
package struct Closing: Sendable, Equatable {
    package var outcome: Outcome
    package var failure: FailureClass?
    package var message: String

    package init(_ outcome: Outcome, _ failure: FailureClass?, _ message: String) {
        self.outcome = outcome
        self.failure = failure
        self.message = message
    }

    /// The closing of a vehicle with a step in doubt; `check` is what a person has to check.
    package init(inDoubt doubt: IntentRecord, _ check: String?) {
        let vehicle = doubt.intent.vehicle
        let usual =
            "look at the vehicle, then say `retry \(vehicle)` when it was not "
            + "carried out, or `clear \(vehicle)` when it was"
        self.init(
            .inDoubt,
            .inDoubt,
            "run \(doubt.runName) of \(doubt.intent.rollout) began "
                + "`\(doubt.intent.description)` and does not know how it ended; "
                + (check ?? usual)
        )
    }

    /// A module that was written to and not seen settled since has failed, whatever the outcome
    /// was, until it was seen or a person has cleared it.
    package func owing(_ debt: Debt?) -> Closing {
        guard let debt else { return self }
        var closing = owingDebt
        closing.message += "; \(debt.sentence)"
        return closing
    }

    private var owingDebt: Closing {
        switch outcome {
        case .failed, .rolledBack, .rejected, .timedOut, .inDoubt: self
        // Nothing was done to it in this run, so this is no result of the update.
        case .deferred: Closing(.failed, .unreachable, message)
        case .succeeded, .alreadyCurrent, .unreachable, .skipped, .aborted:
            Closing(.failed, .noReturn, message)
        }
    }

    /// A step of `always` that was not done leaves the vehicle in an unwanted state: it has failed.
    package func owing(_ steps: [OwedStep]) -> Closing {
        guard let first = steps.first else { return self }
        var closing = owingStep
        closing.message += "; it still owes `\(first.action)` since run \(first.runName)"
        return closing
    }

    private var owingStep: Closing {
        switch outcome {
        case .inDoubt, .aborted, .failed, .rolledBack, .rejected, .timedOut: self
        case .deferred: Closing(.failed, .unreachable, message)
        case .unreachable: Closing(.failed, .device, message)
        case .succeeded, .alreadyCurrent, .skipped: Closing(.failed, failure ?? .device, message)
        }
    }

    /// How vehicles are counted that ended with this outcome, or with none; nil for unfinished.
    package static func outcome(
        of end: Outcome?,
        isDoubtful: Bool,
        hasDebt: Bool,
        owes: Bool
    ) -> Outcome? {
        if isDoubtful { return .inDoubt }
        // A doubt ends when a person has answered it: the next run continues from there.
        guard let end, end != .inDoubt else { return nil }
        guard end.tally != .failed else { return end }
        let closing = Closing(end, nil, "")
        let due = hasDebt ? closing.owingDebt : closing
        return owes ? due.owingStep.outcome : due.outcome
    }
}

extension Debt {
    /// The name of the image, as far as it is known.
    package var title: String {
        let words = [name, version?.description ?? ""].filter { !$0.isEmpty }
        return words.isEmpty ? "an image" : words.joined(separator: " ")
    }

    /// The sentence for people: what was begun, and when the module was last seen.
    package var sentence: String {
        let place =
            inBootloader
            ? "it stands in its bootloader\(share), and the next run settles that first"
            : "the next run settles that first, or `clear \(vehicle)` after a look"
        return "its update to \(title) (run \(runName)) is not proven, and it was not seen since "
            + "run \(seenName); \(place)"
    }

    private var share: String {
        guard total > 0, acknowledged > 0 else { return "" }
        return " with \(percent) % of the image"
    }

    /// The share of the image that the module has.
    package var percent: Int { total > 0 ? min(100, acknowledged * 100 / total) : 0 }
}
