package import Domain
package import Journal
import Reports

/// How a run went through its vehicles.
package struct RunResult: Sendable, Equatable {
    package var counts: [Outcome: Int] = [:]
    /// Vehicles without a verdict: the run was stopped before.
    package var unfinished = 0

    package init() {}
}

/// One run of a rollout: vehicle after vehicle, those that were begun first.
package struct RolloutRun: Sendable {
    private let jobs: [VehicleJob]
    private let depot: Depot

    package init(_ jobs: [VehicleJob], in depot: Depot) {
        self.jobs = jobs
        self.depot = depot
    }

    /// Works until every vehicle has its verdict, the run is stopped, or the journal fails.
    package func run() async throws(JournalError) -> RunResult {
        var earlier: [VehicleID: ExecutionRecord] = [:]
        for record in try await depot.journal.executions(rollout: depot.rollout) {
            earlier[record.vehicle] = record
        }
        var result = RunResult()
        for (index, job) in ordered(earlier).enumerated() {
            guard !depot.stop.isRequested else {
                result.unfinished += 1
                continue
            }
            let execution = Execution(
                job,
                in: depot,
                position: index + 1,
                earlier: earlier[job.vehicle]
            )
            let verdict = try await execution.run()
            try await depot.events.save(in: depot.journal)
            if let verdict {
                result.counts[verdict.outcome, default: 0] += 1
            } else {
                result.unfinished += 1
            }
        }
        return result
    }

    /// A module that was left in mid-update comes first: nothing else is as urgent.
    private func ordered(_ earlier: [VehicleID: ExecutionRecord]) -> [VehicleJob] {
        func isOpen(_ job: VehicleJob) -> Bool {
            guard let record = earlier[job.vehicle], record.serial == job.serial else {
                return false
            }
            return record.inBootloader || (record.end == nil && record.image != nil)
        }
        return jobs.filter(isOpen) + jobs.filter { !isOpen($0) }
    }
}
