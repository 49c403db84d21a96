package import Base

// Debts of modules, and doubts and owed steps of vehicles, over runs and rollouts.

extension Journal {
    package func debt(of serial: Serial) throws(JournalError) -> Debt? {
        try view().debt(of: serial)
    }

    /// The debt of another module that is in the vehicle now.
    package func debt(
        in vehicle: VehicleID,
        besides serial: Serial
    ) throws(JournalError) -> Debt? {
        try view().row(
            "SELECT \(Debt.columns) FROM debts WHERE vehicle = ? AND serial <> ? LIMIT 1",
            [.text(vehicle.text), .text(serial.text)]
        )
    }

    /// Sorted by serial.
    package func debts() throws(JournalError) -> [Debt] { try view().debts() }

    /// Removes the debt, and settles the intent that it belongs to.
    static func pay(_ payment: Payment, in database: JournalDatabase) throws(JournalError) {
        let debt = payment.debt
        if let word = payment.word { try leave([word], in: database) }
        if payment.isProof { try prove(debt, in: database) }
        try database.statement(
            "DELETE FROM debts WHERE serial = ? AND execution = ? AND image = ?"
        ).run([
            .text(debt.serial.text), Value(debt.execution), .text(debt.image.description),
        ])
        try database.statement(
            """
            UPDATE intents SET outcome = ?, settled = ?
            WHERE execution = ? AND image = ? AND settled IS NULL
            """
        ).run([
            .text(payment.outcome), Value(payment.time), Value(debt.execution),
            .text(debt.image.description),
        ])
    }

    package func doubts(of vehicle: VehicleID?) throws(JournalError) -> [IntentRecord] {
        try view().doubts(of: vehicle)
    }

    /// Settles the doubts about a vehicle after a person has looked: the steps were carried out, or
    /// not.
    ///
    /// Returns how many doubts there were.
    package func answerDoubts(
        of vehicle: VehicleID,
        as outcome: String,
        by author: String,
        at time: WallTime
    ) throws(JournalError) -> Int {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            try Self.answerDoubts(of: vehicle, as: outcome, by: author, at: time, in: database)
        }
    }

    static func answerDoubts(
        of vehicle: VehicleID,
        as outcome: String,
        by author: String,
        at time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) -> Int {
        try database.statement(
            """
            UPDATE intents SET outcome = ?, settled = ?, author = ?
            WHERE vehicle = ? AND effect = '\(Effect.once.rawValue)'
                AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
            """
        ).run([.text(outcome), Value(time), .text(author), .text(vehicle.text)])
        return database.changedRows
    }

    package func owed(by vehicle: VehicleID?) throws(JournalError) -> [OwedStep] {
        try view().owed(by: vehicle)
    }

    /// Removes an owed step, which was done or is no longer needed.
    package func drop(
        _ owed: OwedStep,
        telling word: FleetWord? = nil
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            if let word { try Self.leave([word], in: database) }
            try Self.drop(owed, in: database)
        }
    }

    static func drop(_ owed: OwedStep, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            "DELETE FROM owed WHERE execution = ? AND digest = ? AND ordinal = ?"
        ).run([
            Value(owed.execution), .text(owed.step.text),
            Value(owed.step.ordinal),
        ])
    }
}

extension JournalView {
    package func debt(of serial: Serial) throws(JournalError) -> Debt? {
        try row(
            "SELECT \(Debt.columns) FROM debts WHERE serial = ?",
            [.text(serial.text)]
        )
    }

    /// Sorted by serial.
    package func debts() throws(JournalError) -> [Debt] {
        try rows(
            "SELECT \(Debt.columns) FROM debts ORDER BY serial"
        )
    }

    /// Oldest first, of one vehicle or of all.
    package func owed(by vehicle: VehicleID?) throws(JournalError) -> [OwedStep] {
        try rows(
            """
            SELECT \(OwedStep.columns) FROM owed \(vehicle == nil ? "" : Self.owedByOne)
            ORDER BY execution, place, digest, ordinal
            """,
            vehicle.map { [.text($0.text)] } ?? []
        )
    }

    /// This query runs for each vehicle, so it must use an index (`IndexTests`).
    static let owedByOne = "WHERE vehicle = ?1"

    package func hold(on rollout: String) throws(JournalError) -> Hold? {
        try rows(
            "SELECT \(Hold.columns) FROM holds WHERE rollout = ?",
            [.text(rollout)],
            { row throws(JournalError) in try Hold(row: row) }
        ).first
    }
}
