package import Base

/// The state of a rollout as a whole, apart from its vehicles.
package struct RolloutRecord: JournalRecord, Sendable, Equatable {
    /// The state of its last beginning; what people set is in `hold`.
    package enum State: String, CaseIterable, Sendable {
        /// A run works on it, or the next run continues it.
        case running
        /// Every vehicle has its verdict.
        case finished
    }

    package let name: String
    /// The plan that it was begun with.
    package var plan: SHA256Digest
    package var state: State
    /// The last wave that was let in, from 0.
    package var wave: Int
    /// When all vehicles of that wave had ended, so that the soak time continues after a restart of
    /// the program.
    package var waveEnded: WallTime?
    /// The run that last began it: executions of earlier beginnings are over.
    package var began: Int
    package var updated: WallTime
    /// The hold that a person or a gate has set; saving the record does not change it.
    package private(set) var hold: Hold?

    package init(
        name: String,
        plan: SHA256Digest,
        run: Int,
        at time: WallTime,
        hold: Hold? = nil
    ) {
        self.name = name
        self.plan = plan
        state = .running
        wave = 0
        began = run
        updated = time
        self.hold = hold
    }

    static let columns = "name, plan, state, wave, wave_ended, began, updated"

    /// Includes the hold, which is in a row of its own.
    static let query = """
        SELECT name, plan, state, wave, wave_ended, began, updated, rollout, kind, holds.reason,
            author, made, after_wave
        FROM rollouts LEFT JOIN holds ON holds.rollout = rollouts.name
        """

    init(row: borrowing SQLStatement) throws(JournalError) {
        name = row.text(0) ?? ""
        plan = try row.value(1) { SHA256Digest($0) }
        state = try row.value(2) { State(rawValue: $0) }
        wave = Int(row.integer(3))
        waveEnded = row.time(4)
        began = Int(row.integer(5))
        updated = WallTime(milliseconds: row.integer(6))
        hold = row.isNull(7) ? nil : try Hold(row: row, from: 7)
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(name), .text(plan.description), .text(state.rawValue), Value(wave),
            Value(waveEnded), Value(began), Value(updated),
        ]
    }
}
