import Domain
import Store

/// How an execution ends, after its open debts were taken into account.
struct Closing: Sendable, Equatable {
    var outcome: Outcome
    var failure: FailureClass?
    var message: String

    init(_ outcome: Outcome, _ failure: FailureClass?, _ message: String) {
        self.outcome = outcome
        self.failure = failure
        self.message = message
    }

    /// The closing of a vehicle with a step in doubt; `check` is what a person has to check.
    init(inDoubt doubt: IntentRecord, _ check: String?) {
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
    func owing(_ debt: Debt?) -> Closing {
        guard let debt else { return self }
        var closing = self
        switch outcome {
        case .failed, .rolledBack, .rejected, .timedOut, .inDoubt: break
        case .deferred:
            // Nothing was done to it in this run, so this is no result of the update.
            closing.outcome = .failed
            closing.failure = .unreachable
        case .succeeded, .alreadyCurrent, .unreachable, .skipped, .aborted:
            closing.outcome = .failed
            closing.failure = .noReturn
        }
        closing.message += "; \(debt.sentence)"
        return closing
    }

    /// A step of `always` that was not done leaves the vehicle in an unwanted state: it has failed.
    func owing(_ steps: [OwedStep]) -> Closing {
        guard let first = steps.first else { return self }
        var closing = self
        switch outcome {
        case .inDoubt, .aborted, .failed, .rolledBack, .rejected, .timedOut: break
        case .deferred:
            closing.outcome = .failed
            closing.failure = .unreachable
        case .unreachable:
            closing.outcome = .failed
            closing.failure = .device
        case .succeeded, .alreadyCurrent, .skipped:
            closing.outcome = .failed
            closing.failure = failure ?? .device
        }
        closing.message += "; it still owes `\(first.action)` since run \(first.runName)"
        return closing
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
            ? "it stands in its bootloader\(share), and the next run goes on there"
            : "the next run settles that first, or `clear \(vehicle)` after a look"
        return "its update to \(title) (run \(runName)) is not proven, and it was not seen since "
            + "run \(seenName); \(place)"
    }

    private var share: String {
        guard total > 0, acknowledged > 0 else { return "" }
        return " with \(percent) % of the image"
    }

    /// The share of the image that the module has.
    var percent: Int { total > 0 ? min(100, acknowledged * 100 / total) : 0 }
}
