import Testing
import Workbench

@testable import Store

/// The cost of a query that runs for each vehicle must not grow with the number of vehicles.
@Suite struct IndexTests {
    @Test(arguments: [
        "SELECT * FROM intents " + JournalView.doubtfulOfOne + " ORDER BY id",
        "SELECT * FROM owed " + JournalView.owedByOne,
        ExecutionRecord.advance, ExecutionRecord.update, Debt.update,
    ])
    func `a query about one vehicle uses an index`(sql: String) throws {
        let database = try JournalDatabase(path: ":memory:", mode: .write)
        try Schema.prepare(database)
        let plan = try database.statement("EXPLAIN QUERY PLAN " + sql)
        var steps: [String] = []
        while try plan.step() { steps.append(plan.text(3) ?? "") }
        #expect(!steps.isEmpty)
        #expect(steps.allSatisfy { $0.hasPrefix("SEARCH") || $0.hasPrefix("USE TEMP") }, "\(steps)")
    }
}
