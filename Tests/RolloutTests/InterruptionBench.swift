import Base
import Families
import Images
import Radio
import Rollout
import Samples
import Show
import Simulation
import Store
import Synchronization

/// One module, one update and one interruption; then as many runs as it takes to finish.
struct InterruptionBench: Sendable {
    /// The module that is updated.
    enum Subject: Sendable {
        case comodule(ModulePlan)
        case mcumgr(SMPModulePlan)
    }

    var subject: Subject
    var image: UpdateJob
    /// Modules of other owners, which are in their bootloaders all the time.
    var neighbours: [ModulePlan] = []
    /// The event on our side, and the use of the radio at which it happens.
    var fate: (kind: FaultyCentral.Fate, at: Int)?
    var seed: UInt64 = 3

    /// The result of all runs together.
    struct Report: Sendable {
        var outcomes: [Outcome] = []
        var record: ExecutionRecord?
        var openIntents = 0
        var version = FirmwareVersion(0, 0)
        var isInBootloader = false
        /// Image bytes that were sent to the neighbours.
        var strayBytes = 0
        /// Whether the journal recorded, after the first run, that the module was or might be in
        /// its bootloader.
        var wasInBootloader = false
        /// Whether the module was in its bootloader then.
        var stoodInBootloader = false
        /// Whether the module keeps its image after its next restart.
        var isConfirmed = true
        /// The number of exchanges on the module's side.
        var exchanges = 0
        /// The number of uses of the radio in the first run.
        var uses = 0
        /// Bytes that were sent in all runs, including repeated ones and init packets.
        var imageBytes = 0
        /// How often the host was asked in the first run to forget the module.
        var forgotten = 0
        var message: String { record?.end?.message ?? "no end" }
    }

    /// Runs until there is a verdict: a further time after a death, or after a run without a
    /// verdict.
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
        let (subject, neighbours) = (subject, neighbours)
        await simulation.air.arrange { world in
            switch subject {
            case .comodule(let plan): world.add(plan, imageCapacity: 1 << 16)
            case .mcumgr(let plan): world.add(plan, imageCapacity: 1 << 14)
            }
            for plan in neighbours {
                world.add(plan, imageCapacity: 1 << 14)
                world.modules(ComoduleModule.self).last?.stayInBootloader()
            }
        }
        let journal = try await Journal.inMemory(executor: simulation.worldLane)
        let radios = ["hci0", "hci1"].map { SimulatedRadio(adapter: $0, air: simulation.air) }
        let first = FaultyCentral(radios, time: simulation.time)
        if let fate { first.set(fate.kind, at: fate.at) }
        var report = Report()
        let stop = StopSignal()
        try await withThrowingTaskGroup(of: RunResult?.self) { group in
            group.addTask { try await run(over: first, journal, stop, in: simulation) }
            group.addTask {
                // Ends when the first run is dead, or when it has finished.
                while !first.isDead, !first.isOver {
                    await simulation.time.sleep(for: .milliseconds(100), "the first run's end")
                }
                return nil
            }
            if let result = try await group.next(), let result {
                report.note(result)
                first.end()
            }
            report.wasInBootloader =
                try await journal.executions(rollout: "test").first?.inBootloader ?? false
            report.stoodInBootloader = await simulation.air.arrange { world in
                world.modules(ComoduleModule.self).first?.isInBootloader ?? false
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
            report.forgotten = first.forgotten
            report.imageBytes = extra.reduce(first.imageBytes) { $0 + $1.imageBytes }
            report.uses = first.uses
            report.record = try await journal.executions(rollout: "test").first
            report.openIntents = try await journal.openIntents(rollout: "test", vehicle: nil).count
            await look(at: simulation, &report)
            stop.request()
            first.end()
            first.release()
            while try await group.next() != nil {}
        }
        return report
    }

    /// Reads the result from the module itself.
    private func look(at simulation: Simulation, _ report: inout Report) async {
        let found = await simulation.air.arrange { world -> Report in
            var found = Report()
            for neighbour in world.modules(ComoduleModule.self).dropFirst() {
                found.strayBytes += neighbour.receivedBytes
            }
            if let module = world.modules(ComoduleModule.self).first {
                found.version = module.runningVersion
                found.isInBootloader = module.isInBootloader
                found.exchanges = module.exchanges
            }
            if let module = world.modules(SMPModule.self).first {
                found.version = module.running[0].version
                found.isConfirmed = module.isConfirmed
                found.exchanges = module.exchanges
            }
            return found
        }
        report.version = found.version
        report.isInBootloader = found.isInBootloader
        report.isConfirmed = found.isConfirmed
        report.exchanges = found.exchanges
        report.strayBytes = found.strayBytes
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
        return try await RolloutRun([job], in: depot).run()
    }

    private var job: VehicleJob {
        let vehicle = VehicleID("v1") ?? Self.none()
        switch subject {
        case .comodule(let plan):
            let key = Secret(Array(Hex.text(DepotBench.key).utf8))
            return VehicleJob(
                vehicle: vehicle,
                serial: plan.serial,
                key: (try? ComoduleKey(key)) ?? Self.none(),
                steps: [.update(image)]
            )
        case .mcumgr(let plan):
            return VehicleJob(
                vehicle: vehicle,
                serial: plan.serial,
                driver: SMPModuleUpdate(),
                steps: [.update(image)]
            )
        }
    }

    /// Short times, because there are many runs, and these modules come to rest quickly.
    private static let settle = SettleRules(
        quiet: .seconds(2),
        wrongVersionGrace: .seconds(4),
        poll: .seconds(2)
    )

    /// The value of a test's constant that must exist: traps.
    private static func none<Value>() -> Value {
        preconditionFailure("a constant of the tests is wrong")
    }
}

extension InterruptionBench {
    /// A bench with a Comodule module and an image of three objects.
    static var dfu: InterruptionBench {
        InterruptionBench(
            subject: .comodule(DepotBench.module(1)),
            image: DepotBench.image(bytes: 9_000)
        )
    }

    var comodule: ModulePlan {
        get {
            guard case .comodule(let plan) = subject else { return Self.none() }
            return plan
        }
        set { subject = .comodule(newValue) }
    }

    /// A bench with an `mcumgr` module and an image of a dozen messages.
    static func smp(_ change: (inout SMPModulePlan) -> Void = { _ in }) throws -> Self {
        var plan = SMPModulePlan(serial: Serial("ym-0001") ?? none())
        plan.link.mtu = 131
        plan.rules.bufferSize = 256
        plan.restartTime = .seconds(1)
        plan.activationTime = .seconds(1)
        plan.eraseTime = .milliseconds(2)
        change(&plan)
        let file = try MCUbootFile.sample(size: 1_600)
        return InterruptionBench(
            subject: .mcumgr(plan),
            image: UpdateJob(
                name: "light",
                digest: file.digest,
                version: file.image.version,
                family: .mcumgr,
                type: nil,
                variant: nil,
                allowsDowngrade: false,
                parts: [FirmwarePart(firmware: file.bytes)]
            )
        )
    }

    var mcumgr: SMPModulePlan {
        get {
            guard case .mcumgr(let plan) = subject else { return Self.none() }
            return plan
        }
        set { subject = .mcumgr(newValue) }
    }
}

extension InterruptionBench.Report {
    fileprivate mutating func note(_ result: RunResult) {
        outcomes += result.counts.keys.sorted { $0.rawValue < $1.rawValue }
    }
}
