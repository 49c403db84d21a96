import Domain

/// The result of a verb.
package enum VerbAnswer: Sendable, Equatable {
    case done
    /// The state that was requested is already in force.
    case noChange(String)
    /// Nothing was changed.
    case refused(String)
}

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
            switch (hold.kind, try view.hold(on: hold.rollout)?.kind) {
            case (.paused, .paused): return .noChange("it is paused already")
            case (.paused, .aborted): return .refused("it is aborted")
            case (.aborted, .aborted): return .noChange("it is aborted already")
            case (.aborted, nil):
                let state = try view.rollout(hold.rollout)?.state
                if state == .finished, !isAtWork { return .refused("it is finished") }
            case (.paused, nil), (.aborted, .paused): break
            }
            try Self.save(hold, in: database)
            try Self.note(saying, in: database)
            return .done
        }
    }

    /// Why `resume` and `retry` of an aborted rollout are refused, and what to do instead.
    package static let abortedForGood =
        "it is aborted, and that is for good; `run --again` begins it again"

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
            switch hold?.kind {
            case .aborted: return .refused(Self.abortedForGood)
            case nil: return .noChange("it is not paused")
            case .paused: break
            }
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
            return .done
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
