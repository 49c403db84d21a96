import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization

/// Runs of a depot bench with a schedule, over any number of adapters.
extension DepotBench {
    struct Night: Sendable {
        var result: RunResult
        var records: [ExecutionRecord]
        var versions: [FirmwareVersion]
        var inBootloader: [Bool]
        var rollout: RolloutRecord?
    }

    /// Runs with the same modules and the same journal, once for each schedule.
    func nights(
        _ steps: [JobStep],
        _ schedules: [Schedule],
        always: [JobStep] = [],
        adapters: Int = 1,
        linkLimit: Int = 7,
        steadyLinks: Int? = nil,
        roster: any AdapterRoster = NamedAdapters(),
        rules: RolloutRules? = nil,
        clock: (any Timekeeper)? = nil,
        before: @escaping @Sendable (Int, Journal) async throws -> Void = { _, _ in }
    ) throws -> [Night] {
        let names = (0..<adapters).map { "hci\($0)" }
        let outcome = try simulation.run { [self] () async -> Result<[Night], any Error> in
            do {
                for name in names {
                    await simulation.air.addAdapter(
                        name,
                        linkLimit: linkLimit,
                        steadyLinks: steadyLinks
                    )
                }
                let plans = plans
                await simulation.air.arrange { world in
                    for plan in plans { world.add(plan) }
                }
                let journal = try await Journal.inMemory(executor: simulation.worldLane)
                var nights: [Night] = []
                for (index, schedule) in schedules.enumerated() {
                    try await before(index, journal)
                    do {
                        nights.append(
                            try await night(
                                jobs(steps, always: always),
                                schedule,
                                names,
                                roster,
                                rules,
                                clock ?? simulation.time,
                                journal
                            )
                        )
                    } catch let error as JournalError where error.kind == .disk {
                        // The power was cut; only what the journal has on disk counts.
                    }
                }
                return .success(nights)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func night(
        _ jobs: [VehicleJob],
        _ schedule: Schedule,
        _ names: [String],
        _ roster: any AdapterRoster,
        _ rules: RolloutRules?,
        _ clock: any Timekeeper,
        _ journal: Journal
    ) async throws -> Night {
        let run = try await journal.beginRun(
            rollout: "test",
            plan: SHA256.digest(of: []),
            at: clock.wallTime
        )
        let centrals = names.map { SimulatedRadio(adapter: $0, air: simulation.air) }
        let depot = Depot(
            rollout: "test",
            run: run,
            air: SoleAirtime(centrals[0]),
            time: clock,
            journal: journal,
            events: EventStream(
                run: run,
                time: clock,
                watcher: { [self] in note($0) },
                sink: { [self] event in note(event) }
            ),
            stop: stop,
            rules: try rules ?? Self.rules()
        )
        let result = try await RolloutRun(
            jobs,
            in: depot,
            adapters: centrals,
            roster: roster,
            schedule: schedule
        ).run()
        try await journal.endRun(run, exitCode: 0, reason: "", at: clock.wallTime)
        let modules = await simulation.air.arrange { world in
            world.modules(ComoduleModule.self).map { ($0.runningVersion, $0.isInBootloader) }
        }
        return Night(
            result: result,
            records: try await journal.executions(rollout: "test"),
            versions: modules.map(\.0),
            inBootloader: modules.map(\.1),
            rollout: try await journal.rollout("test")
        )
    }

    struct NoRules: Error {}

    static func rules() throws -> RolloutRules {
        guard let settle = SettleRules() else { throw NoRules() }
        return RolloutRules(settle: settle)
    }

    /// A schedule with a plan, so that the journal records the rollout.
    static func schedule(
        _ waves: [[Int]],
        _ change: (inout Schedule) -> Void = { _ in }
    ) -> Schedule {
        var schedule = Schedule(vehicles: waves.reduce(0) { $0 + $1.count })
        schedule.plan = SHA256.digest(of: [1])
        schedule.waves = waves
        change(&schedule)
        return schedule
    }

    func notices(_ kind: Notice.Kind) -> [Notice] {
        events.compactMap { event in
            guard case .notice(let notice) = event.body, notice.kind == kind else { return nil }
            return notice
        }
    }
}
