import Domain
import Journal

/// What the journal knows of the steps of one execution that change something.
///
/// A step that was done is not done again by this execution, and one that may have been done is not
/// either: only a person can say what became of it.
struct StepRecords {
    enum Standing {
        case open
        case done
        case inDoubt
    }

    let journal: Journal

    /// What became of the step that is about to be intended, by all that was intended before.
    func standing(of step: Intent) async throws(JournalError) -> Standing {
        let mine = try await journal.intents(of: step.execution).filter { record in
            let intent = record.intent
            guard intent.effect != .transfer else { return false }
            // Old journals had no digests: there the place is all that tells equal steps apart.
            guard intent.step.digest != nil else {
                return intent.place == step.place && intent.description == step.description
            }
            return intent.step == step.step
        }
        if mine.contains(where: { $0.settlement?.outcome == IntentRecord.done }) { return .done }
        // What converges may be brought about again; what happens once may not.
        return step.effect == .once && mine.contains(where: \.isDoubt) ? .inDoubt : .open
    }
}
