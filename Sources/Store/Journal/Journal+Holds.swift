import Base

// Holds on rollouts: in force from the transaction that returns the answer.

extension Journal {
    package func hold(on rollout: String) throws(JournalError) -> Hold? {
        try view().hold(on: rollout)
    }

    /// Pauses or aborts; `isAtWork` means that a run is working on the rollout.
    @discardableResult
    package func set(
        _ hold: Hold,
        isAtWork: Bool,
        saying: Saying? = nil
    ) throws(JournalError) -> VerbAnswer {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            let state = try view.rollout(hold.rollout)?.state
            let answer = VerbAnswer(
                to: hold.kind,
                under: try view.hold(on: hold.rollout)?.kind,
                isOver: state == .finished && !isAtWork
            )
            guard answer == .done else { return answer }
            try Self.save(hold, in: database)
            try Self.note(saying, in: database)
            return answer
        }
    }

    /// Sets a gate's hold outside a verdict: a wave ends the run.
    package func trip(_ hold: GateHold) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.trip(hold, in: database)
        }
    }

    /// Sets a gate's hold, whatever hold there is.
    ///
    /// When a person has lifted the one that the run knew of, the gate's numbers begin again with
    /// that (G3): those of the run are out of date.
    static func trip(_ gate: GateHold, in database: JournalDatabase) throws(JournalError) {
        guard let before = try JournalView(database: database).hold(on: gate.hold.rollout) else {
            if !gate.isAfterAnother { try save(gate.hold, in: database) }
            return
        }
        try save(before.with(gate.hold), in: database)
    }

    static func save(_ hold: Hold, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            "INSERT OR REPLACE INTO holds (\(Hold.columns)) VALUES (?, ?, ?, ?, ?, ?)"
        ).run(hold.values)
    }

    /// Lifts a pause.
    ///
    /// A person has looked: earlier failures no longer count at the gate, and the next wave begins
    /// when it was the ended one that paused the rollout. Another pause takes nothing from the soak
    /// time, the check and the question after a wave.
    package func resume(
        _ rollout: String,
        saying: Saying? = nil
    ) throws(JournalError) -> VerbAnswer {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            let hold = try view.hold(on: rollout)
            let answer = VerbAnswer(toResumeUnder: hold?.kind)
            guard answer == .done else { return answer }
            try database.statement("DELETE FROM holds WHERE rollout = ?").run([.text(rollout)])
            try Self.forgive(rollout, in: database)
            if let wave = hold?.afterWave {
                try database.statement(
                    """
                    UPDATE rollouts SET wave = wave + 1, wave_ended = NULL
                    WHERE name = ? AND state = 'running' AND wave = ? AND wave_ended IS NOT NULL
                    """
                ).run([.text(rollout), Value(wave)])
            }
            try Self.note(saying, in: database)
            return answer
        }
    }

    /// Earlier failures no longer count at the gate.
    static func forgive(_ rollout: String, in database: JournalDatabase) throws(JournalError) {
        // This includes executions whose verdict was removed since, by `retry` or by a further
        // attempt.
        try database.statement(
            "UPDATE executions SET forgiven = 1 WHERE rollout = ? AND counted = 1"
        ).run([.text(rollout)])
    }
}
