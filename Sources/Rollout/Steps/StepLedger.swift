import Domain
import Journal

/// What the journal knows of the steps of one execution that change something.
///
/// A step that was done is not done again by this execution, and one that may have been done is not
/// either: only a person can say what became of it.
struct StepLedger {
    static let done = "done"
    static let failed = "failed"
    static let doubtful = "in-doubt"

    enum Standing {
        case open
        case done
        case inDoubt
    }

    let journal: Journal
    let rollout: String
    let vehicle: VehicleID
    /// Intents of executions before this one say nothing about it.
    let since: WallTime

    func standing(of step: Int, _ effect: Effect) async throws(JournalError) -> Standing {
        let mine = try await journal.intents(rollout: rollout, vehicle: vehicle).filter {
            $0.intent.step == step && $0.intent.effect != .transfer && $0.intent.begun >= since
        }
        if mine.contains(where: { $0.settlement?.outcome == Self.done }) { return .done }
        // What converges may be brought about again; what happens once may not.
        let isOpen = mine.contains {
            $0.settlement == nil || $0.settlement?.outcome == Self.doubtful
        }
        return isOpen && effect == .once ? .inDoubt : .open
    }

    func intend(
        _ step: Int,
        _ effect: Effect,
        _ description: String,
        at time: WallTime
    ) async throws(JournalError) -> IntentID {
        try await journal.intend(
            Intent(
                rollout: rollout,
                vehicle: vehicle,
                step: step,
                effect: effect,
                description: description,
                begun: time
            )
        )
    }

    func settle(
        _ id: IntentID,
        as outcome: String,
        at time: WallTime
    ) async throws(JournalError) {
        try await journal.settle(id, outcome: outcome, at: time)
    }
}
