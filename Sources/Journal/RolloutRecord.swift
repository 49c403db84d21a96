package import Domain

/// Where a rollout as a whole stands, beyond what its vehicles say.
package struct RolloutRecord: Sendable, Equatable {
    /// What a rollout may do.
    package enum State: String, CaseIterable, Sendable {
        /// A run works on it, or the next one goes on.
        case running
        /// A gate or a person stopped it: nothing is begun before `resume`.
        case paused
        /// Over before its end; only another plan begins anew.
        case aborted
        /// Every vehicle has had its verdict.
        case finished
    }

    package let name: String
    /// The plan that is frozen for as long as the rollout is not over.
    package var plan: SHA256Digest
    package var state: State
    /// Why it is paused or aborted; empty otherwise.
    package var reason: String
    /// The last wave that was let in, from 0.
    package var wave: Int
    /// When that wave's vehicles had all ended, so that soaking goes on over a restart of ours.
    package var waveEnded: WallTime?
    /// Verdicts of runs before this one are of an earlier rollout under the same name.
    ///
    /// By number, since clocks are set.
    package var began: Int
    /// Failures of runs before this one do not count at the gate: a person has looked at them.
    package var gateSince: Int
    package var updated: WallTime

    package init(name: String, plan: SHA256Digest, run: Int, at time: WallTime) {
        self.name = name
        self.plan = plan
        state = .running
        reason = ""
        wave = 0
        began = run
        gateSince = run
        updated = time
    }

    static let columns = "name, plan, state, reason, wave, wave_ended, began, gate_since, updated"

    init(row: borrowing Statement) throws(JournalError) {
        name = row.text(0) ?? ""
        plan = try row.value(1) { SHA256Digest($0) }
        state = try row.value(2) { State(rawValue: $0) }
        reason = row.text(3) ?? ""
        wave = Int(row.integer(4))
        waveEnded = row.time(5)
        began = Int(row.integer(6))
        gateSince = Int(row.integer(7))
        updated = WallTime(milliseconds: row.integer(8))
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(name), .text(plan.description), .text(state.rawValue), .text(reason),
            Value(wave), Value(waveEnded), Value(began), Value(gateSince), Value(updated),
        ]
    }
}
