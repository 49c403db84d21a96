/// The start of a gateway in a fleet; each is one run.
package struct FleetStart: Sendable, Equatable {
    package let instance: String
    package let gateway: String
    /// The number of the rollout's beginning in the fleet.
    package let beginning: Int

    package init(instance: String, gateway: String, beginning: Int) {
        self.instance = instance
        self.gateway = gateway
        self.beginning = beginning
    }
}

extension Journal {
    /// The runs that have something to report to the fleet now, in their order, and whether the database has their
    /// beginning.
    package func untoldRuns(
        limit: Int = 100
    ) throws(JournalError) -> [(run: FleetRun, isBegunTold: Bool)] {
        try view().rows(
            """
            SELECT \(RunRecord.columns), fleet_instance, fleet_gateway, fleet_beginning, counts, told
            FROM runs WHERE fleet_instance IS NOT NULL AND told < 2
                AND (told = 0 OR ended IS NOT NULL)
            ORDER BY number LIMIT ?
            """,
            [Value(limit)],
            { row throws(JournalError) in
                let start = FleetStart(
                    instance: row.text(9) ?? "",
                    gateway: row.text(10) ?? "",
                    beginning: Int(row.integer(11))
                )
                let run = FleetRun(try RunRecord(row: row), start, counts: row.text(12))
                return (run, row.integer(13) > 0)
            }
        )
    }

    /// Whether the run worked for a fleet.
    package func isOfFleet(run number: Int) throws(JournalError) -> Bool {
        try view().fleet(ofRun: number) != nil
    }

    /// Records that the database has the beginning of the run, or its end too.
    package func told(run number: Int, isOver: Bool) throws(JournalError) {
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            try database.statement("UPDATE runs SET told = ? WHERE number = ?")
                .run([Value(isOver ? 2 : 1), Value(number)])
        }
    }
}

extension JournalView {
    /// The gateway under whose name a run worked, and whether the fleet's database has it; nil for a run without a fleet.
    package func fleet(ofRun number: Int) throws(JournalError) -> (gateway: String, isTold: Bool)? {
        try rows(
            "SELECT fleet_gateway, told FROM runs WHERE number = ? AND fleet_instance IS NOT NULL",
            [Value(number)],
            { row throws(JournalError) in (row.text(0) ?? "", row.integer(1) > 0) }
        ).first
    }

    /// Whether this machine has ever worked for a fleet.
    package func isOfFleet() throws(JournalError) -> Bool {
        try !rows("SELECT 1 FROM fleet_history", [], { _ throws(JournalError) in true }).isEmpty
    }

    /// The debts, doubts and owed steps that only this journal has, from before the machine joined the fleet.
    package func unshared() throws(JournalError) -> ([Debt], [IntentRecord], [OwedStep]) {
        let debts: [Debt] = try rows(
            "SELECT \(Debt.columns) FROM debts WHERE fleet = 0 ORDER BY vehicle, serial"
        )
        let doubts: [IntentRecord] = try rows(
            """
            SELECT \(IntentRecord.columns) FROM intents
            WHERE fleet = 0 AND effect = '\(Effect.once.rawValue)'
                AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
            ORDER BY id
            """
        )
        let owed: [OwedStep] = try rows(
            """
            SELECT \(OwedStep.columns) FROM owed WHERE fleet = 0
            ORDER BY vehicle, execution, digest, ordinal
            """
        )
        return (debts, doubts, owed)
    }
}
