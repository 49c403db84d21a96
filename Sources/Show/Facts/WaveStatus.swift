import Base
import Store

/// One wave of a rollout and its progress.
struct WaveStatus: Sendable {
    /// Counts from 1.
    let number: Int
    let state: State
    let counts: VehicleCounts
    /// How long it took, where a run has reported that.
    var took: Duration?

    enum State: String, CaseIterable, Sendable { case over, current, open }

    /// How far it has come, for people.
    var sentence: String {
        guard state != .open else { return "not begun" }
        let all = counts.total
        var facts = ["\(all - counts.unfinished) of \(counted(all, "vehicle")) ended"]
        let missed = counts.count(.deferred) + counts.count(.unreachable) + counts.count(.skipped)
        let failed = counts.count(.failed) + counts.count(.aborted)
        if missed > 0 { facts.append("\(missed) missed") }
        if failed > 0 { facts.append("\(failed) failed") }
        facts.append(took.map { "took \($0.brief)" } ?? (state == .over ? "over" : "not over"))
        return facts.joined(separator: ", ")
    }
}
