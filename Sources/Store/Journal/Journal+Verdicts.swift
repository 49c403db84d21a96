import Base

/// The parts of a verdict that are written in its transaction.
package struct VerdictBaggage: Sendable {
    /// The hold of the gate that the verdict trips.
    package var hold: GateHold?
    package var events: [EventRecord]
    package var word: FleetWord?
    package var measure: Measure?
    /// The right to the module, which is given back.
    package var lease: LeaseRecord?

    package init(
        holding hold: GateHold? = nil,
        events: [EventRecord] = [],
        telling word: FleetWord? = nil,
        measure: Measure? = nil,
        releasing lease: LeaseRecord? = nil
    ) {
        self.hold = hold
        self.events = events
        self.word = word
        self.measure = measure
        self.lease = lease
    }
}

// The last verdict of an execution whose vehicle is checked once more.

extension Journal {
    /// Keeps the verdict that the new record of the execution no longer has.
    static func keepVerdict(of execution: Int, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            """
            INSERT OR REPLACE INTO verdicts (\(VerdictRow.columns))
            SELECT \(VerdictRow.source) FROM executions WHERE number = ? AND outcome IS NOT NULL
            """
        ).run([Value(execution)])
    }

    /// Deletes a kept verdict: there is a new one, or the vehicle has been changed since.
    static func dropVerdict(of execution: Int, in database: JournalDatabase) throws(JournalError) {
        try database.statement("DELETE FROM verdicts WHERE execution = ?").run([Value(execution)])
    }

    /// Restores the verdicts that executions had before their vehicles were checked once more.
    ///
    /// Only after a run has ended: nothing works on them then.
    package func giveVerdictsBack() throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.giveVerdictsBack(in: database)
        }
    }

    static func giveVerdictsBack(in database: JournalDatabase) throws(JournalError) {
        try database.execute(
            """
            UPDATE executions SET (
                run, attempt, interruptions, version_before, version_after, outcome, failure,
                message, updated, ended
            ) = (
                SELECT run, attempt, interruptions, version_before, version_after, outcome,
                    failure, message, updated, ended
                FROM verdicts WHERE execution = number
            ), state = 'ended', next_label = NULL, next_time = NULL
            WHERE outcome IS NULL AND number IN (SELECT execution FROM verdicts);
            DELETE FROM verdicts;
            """
        )
    }
}

/// The columns of a kept verdict.
private enum VerdictRow {
    static let columns = "execution, " + facts
    static let source = "number, " + facts

    private static let facts =
        "run, attempt, interruptions, version_before, version_after, outcome, failure, message, "
        + "updated, ended"
}

extension JournalView {
    /// The executions with the verdicts that they had before their vehicles were checked once more.
    package func standing(
        _ records: [ExecutionRecord]
    ) throws(JournalError) -> [ExecutionRecord] {
        var kept: [Int: ExecutionRecord] = [:]
        let columns = ExecutionRecord.columns.split(separator: ", ").map { name in
            switch name {
            case "run", "attempt", "interruptions", "version_before", "version_after", "outcome",
                "failure", "message", "updated", "ended":
                "v.\(name)"
            case "state": "'ended'"
            case "next_label", "next_time": "NULL"
            default: "e.\(name)"
            }
        }
        let found: [ExecutionRecord] = try rows(
            "SELECT \(columns.joined(separator: ", ")) FROM executions AS e "
                + "JOIN verdicts AS v ON v.execution = e.number WHERE e.outcome IS NULL"
        )
        // Usually no vehicle is checked once more; then the same list is returned, without extra
        // memory.
        guard !found.isEmpty else { return records }
        for record in found { kept[record.number] = record }
        return records.map { kept[$0.number] ?? $0 }
    }
}
