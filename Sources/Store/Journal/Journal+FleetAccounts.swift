package import Base

extension Journal {
    /// Takes over the fleet's records of a vehicle, for an execution that gets nothing more from
    /// the fleet.
    ///
    /// Steps and updates that others began are in doubt or owed here too, and those that others or
    /// a person settled no longer are. Records that were here before the gateway joined the fleet
    /// stay unchanged. Only the module can report the stage of an update that another gateway
    /// began. A caller that does not yet have the right to the vehicle (`isHeld` is false) takes
    /// over only what is settled: work that others are still doing is not in doubt.
    package func adopt(
        _ known: FleetAccounts,
        in execution: ExecutionRecord,
        isHeld: Bool,
        stage: String,
        at time: WallTime
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.adopt(known.steps, isHeld, execution, time, in: database)
            if isHeld || known.debt == nil {
                try Self.adopt(known.debt, execution.serial, execution, stage, time, in: database)
            }
            try Self.adopt(known.owed, isHeld, execution, in: database)
        }
    }

    /// The last execution of each vehicle with an open record here that the fleet keeps as well.
    package func fleetAccounts() throws(JournalError) -> [ExecutionRecord] {
        try view().rows(
            """
            SELECT \(ExecutionRecord.columns) FROM executions WHERE number IN (
                SELECT max(number) FROM executions WHERE vehicle IN (
                    SELECT vehicle FROM debts WHERE fleet = 1
                    UNION SELECT vehicle FROM owed WHERE fleet = 1
                    UNION SELECT vehicle FROM intents WHERE fleet = 1
                        AND effect = '\(Effect.once.rawValue)'
                        AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
                ) GROUP BY vehicle
            ) ORDER BY number
            """
        )
    }

    /// A command that is open here and that the fleet keeps, too.
    private struct OpenStep {
        let id: Int64
        let rollout: String
        let digest: String
        let ordinal: Int

        func isSame(_ step: FleetAccounts.Step) -> Bool {
            step.rollout == rollout && step.step.ordinal == ordinal && step.step.text == digest
        }
    }

    private static func adopt(
        _ steps: [FleetAccounts.Step],
        _ isHeld: Bool,
        _ execution: ExecutionRecord,
        _ time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        let open = try JournalView(database: database).rows(
            """
            SELECT id, rollout, digest, ordinal, outcome FROM intents
            WHERE vehicle = ? AND fleet = 1 AND effect = '\(Effect.once.rawValue)'
                AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
            """,
            [.text(execution.vehicle.text)],
            { row throws(JournalError) in
                OpenStep(
                    id: row.integer(0),
                    rollout: row.text(1) ?? "",
                    digest: row.text(2) ?? "",
                    ordinal: Int(row.integer(3))
                )
            }
        )
        let settle = try database.statement(
            "UPDATE intents SET outcome = ?, settled = ?, author = ? WHERE id = ?"
        )
        for intent in open {
            let step = steps.first { intent.isSame($0) }
            // A step that the fleet has no record of was never sent.
            if let step, step.isDoubt { continue }
            try settle.run([
                .text(step?.outcome ?? IntentRecord.failed), Value(time),
                Value(step?.author ?? step?.gateway), .integer(intent.id),
            ])
        }
        for step in steps where isHeld && step.isDoubt && !open.contains(where: { $0.isSame(step) })
        {
            try doubt(step, of: execution, time, in: database)
        }
    }

    /// Records a command that another gateway began and that nobody has settled.
    private static func doubt(
        _ step: FleetAccounts.Step,
        of execution: ExecutionRecord,
        _ time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        let intent = Intent(
            execution: execution.number,
            run: execution.run,
            rollout: step.rollout,
            vehicle: execution.vehicle,
            step: step.step,
            place: 0,
            effect: .once,
            description: step.action,
            begun: time
        )
        try database.statement(
            """
            INSERT INTO intents (\(Intent.columns), outcome, settled, author, fleet)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            """
        ).run(
            intent.values + [.text(IntentRecord.doubtful), Value(time), .text(step.gateway)]
        )
    }

    private static func adopt(
        _ known: Debt?,
        _ serial: Serial,
        _ execution: ExecutionRecord,
        _ stage: String,
        _ time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        let mine = try JournalView(database: database).debt(of: serial)
        guard let known else {
            // Another gateway has settled the module, or a person has.
            try database.statement("DELETE FROM debts WHERE serial = ? AND fleet = 1")
                .run([.text(serial.text)])
            guard let mine, database.changedRows > 0 else { return }
            try database.statement(
                """
                UPDATE intents SET outcome = 'settled by another gateway', settled = ?
                WHERE vehicle = ? AND image = ? AND settled IS NULL
                """
            ).run([Value(time), .text(mine.vehicle.text), .text(mine.image.description)])
            return
        }
        guard mine?.image != known.image else { return }
        let isOurs = known.rollout == execution.rollout
        let debt = Debt(
            serial: serial,
            vehicle: execution.vehicle,
            rollout: known.rollout,
            execution: isOurs ? execution.number : 0,
            run: execution.run,
            begun: time,
            image: known.image,
            name: known.name,
            version: known.version,
            target: known.target,
            total: known.total,
            stage: stage
        )
        try database.statement(Debt.insert).run(debt.values)
        try database.statement("UPDATE debts SET fleet = 1 WHERE serial = ?")
            .run([.text(serial.text)])
    }

    private static func adopt(
        _ known: [OwedStep],
        _ isHeld: Bool,
        _ execution: ExecutionRecord,
        in database: JournalDatabase
    ) throws(JournalError) {
        let vehicle = execution.vehicle
        let mine = try JournalView(database: database).owed(by: vehicle)
        func isSame(_ step: OwedStep, _ other: OwedStep) -> Bool {
            step.rollout == other.rollout && step.step == other.step
        }
        let drop = try database.statement(
            "DELETE FROM owed WHERE execution = ? AND digest = ? AND ordinal = ? AND fleet = 1"
        )
        for step in mine where !known.contains(where: { isSame(step, $0) }) {
            try drop.run([
                Value(step.execution), .text(step.step.text),
                Value(step.step.ordinal),
            ])
        }
        guard isHeld else { return }
        let owe = try database.statement(
            """
            INSERT OR IGNORE INTO owed (\(OwedStep.columns), fleet)
            VALUES (?, ?, ?, ?, ?, ?, ?, 0, 1)
            """
        )
        for other in known where !mine.contains(where: { isSame($0, other) }) {
            let number = try Self.execution(other.rollout, vehicle, execution, in: database)
            try owe.run([
                Value(number), .text(other.step.text),
                Value(other.step.ordinal), .text(other.rollout), .text(vehicle.text),
                Value(execution.run), .text(other.action),
            ])
        }
    }

    /// The number of the vehicle's execution of a rollout; creates one that was never begun here.
    private static func execution(
        _ rollout: String,
        _ vehicle: VehicleID,
        _ own: ExecutionRecord,
        in database: JournalDatabase
    ) throws(JournalError) -> Int {
        if rollout == own.rollout { return own.number }
        let known = try JournalView(database: database)
            .execution(rollout: rollout, vehicle: vehicle)
        if let known { return known.number }
        let record = ExecutionRecord(
            rollout: rollout,
            vehicle: vehicle,
            serial: own.serial,
            run: own.run,
            started: own.started
        )
        try database.statement(ExecutionRecord.insert).run(record.values)
        return Int(database.lastInsertedRow)
    }
}
