import Digests
import Domain
import Journal
import Radio
import Reports
import Rollout
import Sessions
import Simulation
import Synchronization

/// One module, one update, and one thing that goes wrong; then whatever run it takes to finish.
struct InterruptionBench: Sendable {
    var module = DepotBench.module(1)
    var image = DepotBench.image(bytes: 9_000)
    /// What happens to our side, and at which use of the radio.
    var fate: (kind: FaultyCentral.Fate, at: Int)?
    var seed: UInt64 = 3

    /// What all runs together came to.
    struct Report: Sendable {
        var outcomes: [Outcome] = []
        var record: ExecutionRecord?
        var openIntents = 0
        var version = FirmwareVersion(0, 0)
        var isInBootloader = false
        /// Exchanges that the module saw.
        var exchanges = 0
        /// Uses of the radio in the first run.
        var uses = 0
        var packetBytes = 0
        var message: String { record?.end?.message ?? "no end" }
    }

    /// Runs until there is a verdict: again after a death, or when a run ends without one.
    func run() throws -> Report {
        let simulation = Simulation(seed: seed)
        let outcome = try simulation.run { () async -> Result<Report, any Error> in
            do {
                return .success(try await scenario(in: simulation))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func scenario(in simulation: Simulation) async throws -> Report {
        for name in ["hci0", "hci1"] { await simulation.air.addAdapter(name) }
        let module = module
        await simulation.air.arrange { $0.addComodule(module) }
        let journal = try await Journal.inMemory(executor: simulation.worldLane)
        let radios = ["hci0", "hci1"].map { SimulatedRadio(adapter: $0, air: simulation.air) }
        let first = FaultyCentral(radios, time: simulation.time)
        if let fate { first.set(fate.kind, at: fate.at) }
        var report = Report()
        let stop = StopSignal()
        try await withThrowingTaskGroup(of: RunResult?.self) { group in
            group.addTask { try await run(over: first, journal, stop, in: simulation) }
            group.addTask {
                // Wakes when the first run is dead; ends at once when it is through.
                while !first.isDead, !first.isOver {
                    await simulation.time.sleep(for: .milliseconds(100), "the first run's end")
                }
                return nil
            }
            if let result = try await group.next(), let result {
                report.note(result)
                first.end()
            }
            var extra: [FaultyCentral] = []
            while report.outcomes.isEmpty, extra.count < 3 {
                let next = FaultyCentral(radios, time: simulation.time)
                if extra.isEmpty, fate?.kind == .killedWithLinkUp {
                    group.addTask {
                        await simulation.time.sleep(for: .seconds(20), "the kernel")
                        await first.hangUp()
                        return nil
                    }
                }
                extra.append(next)
                if let result = try await run(over: next, journal, StopSignal(), in: simulation) {
                    report.note(result)
                }
            }
            report.packetBytes = extra.reduce(first.packetBytes) { $0 + $1.packetBytes }
            report.uses = first.uses
            report.record = try await journal.executions(rollout: "test").first
            report.openIntents = try await journal.openIntents(rollout: "test", vehicle: nil).count
            let state = await simulation.air.arrange { world in
                world.comoduleModules.map {
                    ($0.runningVersion, $0.isInBootloader, $0.exchanges)
                }[0]
            }
            (report.version, report.isInBootloader, report.exchanges) = state
            stop.request()
            first.end()
            first.release()
            while try await group.next() != nil {}
        }
        return report
    }

    private func run(
        over central: FaultyCentral,
        _ journal: Journal,
        _ stop: StopSignal,
        in simulation: Simulation
    ) async throws -> RunResult? {
        let run = try await journal.beginRun(
            rollout: "test",
            plan: SHA256.digest(of: []),
            at: simulation.time.wallTime
        )
        let depot = Depot(
            rollout: "test",
            run: run,
            air: SoleAirtime(central),
            time: simulation.time,
            journal: journal,
            events: EventStream(run: run, time: simulation.time) { _ in },
            stop: stop,
            rules: RolloutRules(settle: Self.settle ?? Self.none())
        )
        let job = VehicleJob(
            vehicle: VehicleID("v1") ?? Self.none(),
            serial: module.serial,
            key: (try? ComoduleKey(Secret(Array(Hex.text(DepotBench.key).utf8)))) ?? Self.none(),
            steps: [.update(image)]
        )
        return try await RolloutRun([job], in: depot).run()
    }

    /// Short, for there are many runs: what is at rest here is at rest.
    private static let settle = SettleRules(
        quiet: .seconds(4),
        wrongVersionGrace: .seconds(8),
        poll: .seconds(2)
    )

    /// A constant of the tests that is right by the look of it.
    private static func none<Value>() -> Value {
        preconditionFailure("a constant of the tests is wrong")
    }
}

extension InterruptionBench.Report {
    fileprivate mutating func note(_ result: RunResult) {
        outcomes += result.counts.keys.sorted { $0.rawValue < $1.rawValue }
    }
}
