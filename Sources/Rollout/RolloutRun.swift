import Base
package import Radio
package import Store

/// One run of a rollout: waves of vehicles over the adapters, until all have their verdicts, the
/// run is ended from outside, or the journal fails.
package struct RolloutRun: Sendable {
    let jobs: [VehicleJob]
    let depot: Depot
    let schedule: Schedule
    let adapters: [any Central]
    let roster: any AdapterRoster

    package init(
        _ jobs: [VehicleJob],
        in depot: Depot,
        adapters: [any Central],
        roster: any AdapterRoster = NamedAdapters(),
        schedule: Schedule
    ) {
        self.jobs = jobs
        self.depot = depot
        self.adapters = adapters
        self.roster = roster
        self.schedule = schedule
    }

    /// All vehicles in one wave, on the depot's one adapter.
    package init(_ jobs: [VehicleJob], in depot: Depot) {
        self.init(
            jobs,
            in: depot,
            adapters: [depot.central],
            schedule: Schedule(vehicles: jobs.count)
        )
    }

    package func run() async throws(JournalError) -> RunResult {
        let progress = try await RolloutProgress.open(jobs, in: depot, schedule)
        let learned = LinkRecord.links(
            try await depot.journal.links(),
            for: jobs.updatedFamilies
        )
        let session = RunSession(self, progress, learned: learned)
        return try await session.run()
    }
}
