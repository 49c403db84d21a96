package import Base

/// The beginning of a rollout, or vehicles of it that are worked on outside a beginning.
package struct Beginning: Sendable {
    /// The rollout's record from now on; nil when vehicles of the rollout are left out.
    package var rollout: RolloutRecord?
    /// Executions without a number, which get one.
    package var fresh: [ExecutionRecord]
    /// The numbers of executions that a run with `--limit` made with the same plan: they become
    /// part of it.
    package var taken: [Int] = []
    /// The hold on the rollout that vehicles are brought back from.
    package var recall: Hold?

    package init(
        _ rollout: RolloutRecord?,
        fresh: [ExecutionRecord],
        taken: [Int] = [],
        recalling recall: Hold? = nil
    ) {
        self.recall = recall
        self.rollout = rollout
        self.fresh = fresh
        self.taken = taken
    }
}

// Work on vehicles: executions, and intents of steps that change something.

extension Journal {
    /// Gives each execution its number, all in one transaction, and returns them with it.
    ///
    /// A rollout that is begun again is no longer aborted; one that this brings vehicles back from is
    /// recalled from then on.
    package func begin(_ beginning: Beginning) throws(JournalError) -> [ExecutionRecord] {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            if let recall = beginning.recall { try Self.recall(recall, in: database) }
            if let rollout = beginning.rollout {
                try Self.save(rollout, in: database)
                try database.statement("DELETE FROM holds WHERE rollout = ?")
                    .run([.text(rollout.name)])
                let take = try database.statement(
                    "UPDATE executions SET beginning = ? WHERE number = ?"
                )
                for number in beginning.taken {
                    try take.run([Value(rollout.began), Value(number)])
                }
                // Those of this plan that are not taken over are begun again, and so are over.
                try database.statement(
                    "UPDATE executions SET apart = 0 WHERE rollout = ? AND plan = ? AND apart = 1"
                ).run([.text(rollout.name), .text(rollout.plan.description)])
            }
            var numbers: [Int] = []
            let insert = try database.statement(ExecutionRecord.insert)
            for execution in beginning.fresh {
                try insert.run(execution.values)
                numbers.append(Int(database.lastInsertedRow))
            }
            let view = JournalView(database: database)
            var records: [ExecutionRecord] = []
            for number in numbers {
                if let record = try view.execution(number) { records.append(record) }
            }
            return records
        }
    }

    /// Writes the whole record; `durably` if losing it to a power cut would do harm.
    ///
    /// The events, the module's debt and the other parts of the verdict are written in the same
    /// transaction. An act that is about to begin is intended in it, and a payment is made in it;
    /// with either, the transaction is durable.
    package func record(
        _ execution: ExecutionRecord,
        durably: Bool,
        intending act: Act? = nil,
        debt: Debt? = nil,
        paying payment: Payment? = nil,
        with verdict: VerdictBaggage = VerdictBaggage()
    ) throws(JournalError) {
        let database = try opened()
        let mustLast = durably || act != nil || payment != nil
        try database.transaction(mustLast ? .durable : .relaxed) { () throws(JournalError) in
            if let act { _ = try Self.intend(act, in: database) }
            if let payment { try Self.pay(payment, in: database) }
            try Self.write(execution, in: database)
            // A verdict that says what was owed until now is over.
            if payment != nil, execution.end == nil {
                try Self.dropVerdict(of: execution.number, in: database)
                try Self.reopen(withoutVerdict: execution.number, in: database)
            }
            if let debt { try database.statement(Debt.update).run(debt.changes) }
            if let hold = verdict.hold { try Self.trip(hold, in: database) }
            try Self.insert(verdict.events, in: database)
            if let word = verdict.word { try Self.leave([word], in: database) }
            if let measure = verdict.measure { try Self.note(measure, in: database) }
            if let lease = verdict.lease { try Self.release(lease, in: database) }
        }
    }

    static func write(
        _ execution: ExecutionRecord,
        in database: JournalDatabase
    ) throws(JournalError) {
        if execution.end == nil {
            try database.statement(ExecutionRecord.advance).run(execution.advances)
            if database.changedRows == 1 { return }
            try keepVerdict(of: execution.number, in: database)
        } else {
            try dropVerdict(of: execution.number, in: database)
        }
        try database.statement(ExecutionRecord.update).run(execution.changes)
        guard database.changedRows == 1 else {
            throw JournalError(
                .internal,
                "record",
                words: "there is no execution \(execution.number)"
            )
        }
    }

    package func execution(_ number: Int) throws(JournalError) -> ExecutionRecord? {
        try view().execution(number)
    }

    package func execution(
        rollout: String,
        vehicle: VehicleID
    ) throws(JournalError) -> ExecutionRecord? {
        try view().execution(rollout: rollout, vehicle: vehicle)
    }

    /// The last execution of each vehicle, of one plan or of any, sorted by vehicle.
    package func executions(
        rollout: String,
        plan: SHA256Digest? = nil
    ) throws(JournalError) -> [ExecutionRecord] {
        try view().executions(rollout: rollout, plan: plan)
    }
}

// MARK: Intents

extension Journal {
    /// Writes an intent; returns only when it is on disk.
    ///
    /// The same transaction opens the module's debt, if it is a transfer, and the execution's owed
    /// steps, if it is its first act. The execution must have been recorded.
    package func intend(
        _ intent: Intent,
        opening debt: Debt? = nil,
        owing steps: [OwedStep] = [],
        isFleets: Bool = false
    ) throws(JournalError) -> IntentID {
        let database = try opened()
        var act = Act(intent, opening: debt, owing: steps)
        act.isFleets = isFleets
        let id = try database.transaction(.durable) { () throws(JournalError) in
            try Self.intend(act, in: database)
        }
        try writeOutside(id, intent)
        return id
    }

    static func intend(
        _ act: Act,
        in database: JournalDatabase
    ) throws(JournalError) -> IntentID {
        let (intent, debt, steps) = (act.intent, act.debt, act.owed)
        if let debt {
            // In a fleet its database has decided.
            if !act.isFleets { try demand(debt.image, in: database) }
            try demandAction(for: debt, in: database)
            try note(debt, over: act.before, in: database)
        }
        try database.statement(
            """
            INSERT INTO intents (\(Intent.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(intent.values)
        let id = IntentID(row: database.lastInsertedRow)
        if intent.effect != .observe {
            try database.statement("UPDATE executions SET acted = 1 WHERE number = ?")
                .run([Value(intent.execution)])
            try dropVerdict(of: intent.execution, in: database)
            try reopen(withoutVerdict: intent.execution, in: database)
        }
        if let debt { try database.statement(Debt.insert).run(debt.values) }
        let owe = try database.statement(
            "INSERT OR IGNORE INTO owed (\(OwedStep.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for step in steps { try owe.run(step.values) }
        guard act.isFleets else { return id }
        try database.statement("UPDATE intents SET fleet = 1 WHERE id = ?").run([.integer(id.row)])
        if let debt {
            try database.statement("UPDATE debts SET fleet = 1 WHERE serial = ?")
                .run([.text(debt.serial.text)])
        }
        let mark = try database.statement(
            "UPDATE owed SET fleet = 1 WHERE execution = ? AND digest = ? AND ordinal = ?"
        )
        for step in steps {
            try mark.run([
                Value(step.execution), .text(step.step.text),
                Value(step.step.ordinal),
            ])
        }
        return id
    }

    /// A vehicle no longer has a verdict: a rollout that was finished is running again.
    private static func reopen(
        withoutVerdict execution: Int,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            """
            UPDATE rollouts SET state = 'running' WHERE state = 'finished' AND EXISTS (
                SELECT 1 FROM executions AS e WHERE e.number = ? AND e.outcome IS NULL
                    AND e.rollout = rollouts.name AND e.beginning = rollouts.began
            )
            """
        ).run([Value(execution)])
    }

    /// Settles an intent, once; returns only when the outcome is on disk.
    ///
    /// A step of `always` that is done is no longer owed.
    package func settle(
        _ id: IntentID,
        outcome: String,
        at time: WallTime,
        paying owed: [OwedStep] = [],
        telling words: [FleetWord] = []
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.leave(words, in: database)
            try database.statement(
                "UPDATE intents SET outcome = ?, settled = ? WHERE id = ? AND settled IS NULL"
            ).run([.text(outcome), Value(time), .integer(id.row)])
            guard database.changedRows == 1 else {
                throw JournalError(.internal, "settle", words: "intent \(id) is not open")
            }
            for step in owed { try Self.drop(step, in: database) }
        }
    }

    /// What is in doubt, oldest first, on one vehicle or on all.
    package func openIntents(
        rollout: String,
        vehicle: VehicleID?
    ) throws(JournalError) -> [IntentRecord] {
        try view().openIntents(rollout: rollout, vehicle: vehicle)
    }

    /// All intents, oldest first, on one vehicle or on all.
    package func intents(
        rollout: String,
        vehicle: VehicleID?
    ) throws(JournalError) -> [IntentRecord] {
        try view().intents(rollout: rollout, vehicle: vehicle)
    }

    /// All intents of one execution, oldest first.
    package func intents(of execution: Int) throws(JournalError) -> [IntentRecord] {
        try view().intents(of: execution)
    }
}

extension JournalView {
    package func execution(_ number: Int) throws(JournalError) -> ExecutionRecord? {
        try row(
            "SELECT \(ExecutionRecord.columns) FROM executions WHERE number = ?",
            [Value(number)]
        )
    }

    /// The last execution of the vehicle.
    package func execution(
        rollout: String,
        vehicle: VehicleID
    ) throws(JournalError) -> ExecutionRecord? {
        try row(
            """
            SELECT \(ExecutionRecord.columns) FROM executions
            WHERE rollout = ? AND vehicle = ? ORDER BY number DESC LIMIT 1
            """,
            [.text(rollout), .text(vehicle.text)]
        )
    }

    /// The last execution of each vehicle, except those of beginnings that are over; sorted by
    /// vehicle.
    ///
    /// Of one plan also those that runs with `--limit` began, whatever lay between: its next
    /// beginning takes them over. Of any plan, that of the rollout's last run comes first, and then
    /// what a run wrote last.
    package func executions(
        rollout: String,
        plan: SHA256Digest? = nil
    ) throws(JournalError) -> [ExecutionRecord] {
        try rows(
            """
            SELECT \(ExecutionRecord.columns) FROM executions
            WHERE number IN (
                -- One that a beginning has taken over, or that a run went on with, may be older
                -- than what a part with another plan began in between.
                SELECT number FROM (
                    SELECT number, max(number | CASE WHEN ?2 IS NULL THEN (run << 32) | (
                        (plan IS (SELECT plan FROM runs WHERE rollout = ?1
                                 ORDER BY number DESC LIMIT 1)) << 62
                    ) ELSE 0 END)
                    FROM executions
                    WHERE rollout = ?1 AND (plan = ?2 OR (?2 IS NULL
                        AND beginning >= coalesce((SELECT began FROM rollouts WHERE name = ?1), 0)))
                    GROUP BY vehicle
                )
            ) AND (
                beginning >= coalesce((SELECT began FROM rollouts WHERE name = ?1), 0)
                OR (?2 IS NOT NULL AND apart = 1)
            )
            """,
            [.text(rollout), Value(plan?.description)]
        ).sorted { $0.vehicle < $1.vehicle }
    }

    /// What is in doubt, oldest first, on one vehicle or on all.
    package func openIntents(
        rollout: String,
        vehicle: VehicleID?
    ) throws(JournalError) -> [IntentRecord] {
        try intents(
            "WHERE rollout = ?1 AND (?2 IS NULL OR vehicle = ?2) AND settled IS NULL",
            [.text(rollout), Value(vehicle?.text)]
        )
    }

    /// All intents, oldest first, on one vehicle or on all.
    package func intents(
        rollout: String,
        vehicle: VehicleID?
    ) throws(JournalError) -> [IntentRecord] {
        try intents(
            "WHERE rollout = ?1 AND (?2 IS NULL OR vehicle = ?2)",
            [.text(rollout), Value(vehicle?.text)]
        )
    }

    package func intents(of execution: Int) throws(JournalError) -> [IntentRecord] {
        try intents("WHERE execution = ?1", [Value(execution)])
    }

    /// Commands with an unknown result, oldest first: of any rollout, on one vehicle or on all.
    package func doubts(of vehicle: VehicleID?) throws(JournalError) -> [IntentRecord] {
        try intents(
            vehicle == nil ? "WHERE " + Self.doubtful : Self.doubtfulOfOne,
            vehicle.map { [.text($0.text)] } ?? []
        )
    }

    /// Vehicles without a verdict in this order, on which a later order, or a later run where only an image was
    /// sent, has done all that it had to do.
    package func replaced(ofOrder order: String) throws(JournalError) -> Set<VehicleID> {
        Set(
            try rows(
                """
                SELECT e.vehicle FROM executions AS e WHERE e.rollout = ? AND e.outcome IS NULL AND EXISTS (
                    SELECT 1 FROM executions AS later JOIN runs ON runs.number = later.run
                    WHERE later.vehicle = e.vehicle AND later.number > e.number
                        AND later.outcome IS NOT NULL AND (runs.is_order OR NOT EXISTS (
                            SELECT 1 FROM intents WHERE execution = e.number AND image IS NULL)))
                """,
                [.text(order)],
                { row throws(JournalError) in try row.value(0) { VehicleID($0) } }
            )
        )
    }

    private static let doubtful = """
        effect = '\(Effect.once.rawValue)'
            AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
        """

    /// This query runs for each vehicle over all intents, so it must use an index (`IndexTests`).
    static let doubtfulOfOne = "WHERE vehicle = ?1 AND " + doubtful

    private func intents(
        _ which: String,
        _ values: [Value]
    ) throws(JournalError) -> [IntentRecord] {
        try rows(
            "SELECT \(IntentRecord.columns) FROM intents \(which) ORDER BY id",
            values
        )
    }
}
