import Digests
import Domain
import Families
import Images
import Journal
import Protocols
import Radio
import Reports
import Rollout
import Samples
import Sessions
import Simulation
import Synchronization

/// One module, one update, and one thing that goes wrong; then whatever run it takes to finish.
struct InterruptionBench: Sendable {
    /// Whose update it is.
    enum Subject: Sendable {
        case comodule(ModulePlan)
        case mcumgr(SMPModulePlan)
    }

    var subject: Subject
    var image: UpdateJob
    /// Modules of others, which wait in their bootloaders all the time.
    var neighbours: [ModulePlan] = []
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
        /// Bytes of images that neighbours were given.
        var strayBytes = 0
        /// The journal held that it stands in its bootloader, or may, when the first run was over.
        var wasInBootloader = false
        /// It did.
        var stoodInBootloader = false
        /// It keeps what runs over its next restart.
        var isConfirmed = true
        /// Exchanges that the module saw.
        var exchanges = 0
        /// Uses of the radio in the first run.
        var uses = 0
        /// Sent in all runs, repeats and init packets included.
        var imageBytes = 0
        /// How often the host was told in the first run to forget the module.
        var forgotten = 0
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
        let (subject, neighbours) = (subject, neighbours)
        await simulation.air.arrange { world in
            switch subject {
            case .comodule(let plan): world.addComodule(plan, imageCapacity: 1 << 16)
            case .mcumgr(let plan): world.addSMPModule(plan, imageCapacity: 1 << 14)
            }
            for plan in neighbours {
                world.addComodule(plan, imageCapacity: 1 << 14)
                world.comoduleModules.last?.stayInBootloader()
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
            report.wasInBootloader =
                try await journal.executions(rollout: "test").first?.inBootloader ?? false
            report.stoodInBootloader = await simulation.air.arrange { world in
                world.comoduleModules.first?.isInBootloader ?? false
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

    /// What the module itself would say.
    private func look(at simulation: Simulation, _ report: inout Report) async {
        let found = await simulation.air.arrange { world -> Report in
            var found = Report()
            for neighbour in world.comoduleModules.dropFirst() {
                found.strayBytes += neighbour.receivedBytes
            }
            if let module = world.comoduleModules.first {
                found.version = module.runningVersion
                found.isInBootloader = module.isInBootloader
                found.exchanges = module.exchanges
            }
            if let module = world.smpModules.first {
                found.version = module.running[0].version
                found.isConfirmed = module.isConfirmed
                found.exchanges = module.writes
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

    /// Short, for there are many runs: what is at rest here is at rest.
    private static let settle = SettleRules(
        quiet: .seconds(2),
        wrongVersionGrace: .seconds(4),
        poll: .seconds(2)
    )

    /// A constant of the tests that is right by the look of it.
    private static func none<Value>() -> Value {
        preconditionFailure("a constant of the tests is wrong")
    }
}

extension InterruptionBench {
    /// A Comodule module and an image of three objects.
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

    /// An `mcumgr` module, and an image of a dozen messages.
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
