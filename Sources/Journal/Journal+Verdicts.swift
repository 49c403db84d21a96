import Domain

/// What is written in the transaction of a verdict.
package struct VerdictBaggage: Sendable {
    /// The hold of a gate that the verdict trips; one that was set before stays.
    package var hold: Hold?
    package var events: [EventRecord]
    package var word: FleetWord?
    package var measure: Measure?
    /// The right to the module, which is given back.
    package var lease: LeaseRecord?

    package init(
        holding hold: Hold? = nil,
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

// The last verdict of an execution that is looked at once more.

extension Journal {
    /// Puts a verdict aside that the record to be written has not got any more.
    static func keepVerdict(of execution: Int, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            """
            INSERT OR REPLACE INTO verdicts (\(VerdictRow.columns))
            SELECT \(VerdictRow.source) FROM executions WHERE number = ? AND outcome IS NOT NULL
            """
        ).run([Value(execution)])
    }

    /// There is another one, or what the vehicle is has changed since.
    static func dropVerdict(of execution: Int, in database: JournalDatabase) throws(JournalError) {
        try database.statement("DELETE FROM verdicts WHERE execution = ?").run([Value(execution)])
    }

    /// Gives executions back the verdicts that they had before they were looked at once more.
    ///
    /// Only for a run that has ended: nobody is at work on them then.
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

/// A verdict that was put aside, as the table has it.
private enum VerdictRow {
    static let columns = "execution, " + facts
    static let source = "number, " + facts

    private static let facts =
        "run, attempt, interruptions, version_before, version_after, outcome, failure, message, "
        + "updated, ended"
}

extension JournalView {
    /// The executions with the verdicts that they had before they were looked at once more.
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
        let found = try rows(
            "SELECT \(columns.joined(separator: ", ")) FROM executions AS e "
                + "JOIN verdicts AS v ON v.execution = e.number WHERE e.outcome IS NULL",
            [],
            { row throws(JournalError) in try ExecutionRecord(row: row) }
        )
        // Mostly nobody is looked at once more; then it is the same list, and takes no memory.
        guard !found.isEmpty else { return records }
        for record in found { kept[record.number] = record }
        return records.map { kept[$0.number] ?? $0 }
    }
}
