import Base
import Store

/// The journal's records of the steps of one execution that change something.
///
/// This execution does not repeat a step that was done or that may have been done: only a person
/// can find out the result of the latter.
struct StepRecords {
    enum Standing {
        case open
        case done
        case inDoubt
    }

    let journal: Journal

    /// The standing of the step that is about to be intended, from all earlier intents.
    func standing(of step: Intent) async throws(JournalError) -> Standing {
        let mine = try await journal.intents(of: step.execution).filter { record in
            let intent = record.intent
            guard intent.effect != .transfer else { return false }
            // Old journals had no digests: there only the place distinguishes equal steps.
            guard intent.step.digest != nil else {
                return intent.place == step.place && intent.description == step.description
            }
            return intent.step == step.step
        }
        if mine.contains(where: { $0.settlement?.outcome == IntentRecord.done }) { return .done }
        // A step that converges may be repeated; a step that must happen once may not.
        return step.effect == .once && mine.contains(where: \.isDoubt) ? .inDoubt : .open
    }
}
