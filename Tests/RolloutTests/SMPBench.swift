import Base
import Families
import Foundation
import Images
import Radio
import Rollout
import Samples
import Show
import Simulation
import Store
import Synchronization
import Testing

/// One module of family `mcumgr` in simulated air, updated by rollouts.
struct SMPBench: Sendable {
    var plan: SMPModulePlan
    var seed: UInt64 = 1
    var imageCapacity = 1 << 20
    /// The properties that the module must report before an image is confirmed; it has none at all.
    var healthy: [PropertyTest] = []

    init() throws {
        plan = SMPModulePlan(serial: try #require(Serial("ym-0001")))
        plan.link.interval = .milliseconds(15)
        plan.eraseTime = .milliseconds(2)
        plan.restartTime = .seconds(1)
        plan.activationTime = .seconds(4)
    }

    /// The result according to the verdict and to the module.
    struct Result: Sendable {
        var verdict: Verdict?
        var running: [SMPServerFacts.Content]
        var isConfirmed: Bool
        var boots: Int
        var dropped: Int

        var outcome: Outcome? { verdict?.outcome }
        var failure: FailureClass? { verdict?.failure }
        var message: String { verdict?.message ?? "no verdict" }
        var bytesSent: Int { verdict?.bytesSent.bytes ?? -1 }
        var interruptions: Int { verdict?.interruptions ?? -1 }
    }

    /// Updates the images of the module, the main one first.
    func update(_ files: [MCUbootFile]) throws -> Result {
        try updates([job(files.map { [(nil, $0)] })])[0]
    }

    /// An update with one file for each image, or one for each slot.
    func job(
        _ images: [[(slot: Int?, file: MCUbootFile)]],
        allowsDowngrade: Bool = false
    ) throws -> UpdateJob {
        let parts = try images.enumerated().reversed().map { image, files in
            try #require(
                FirmwarePart(
                    image: image,
                    variants: files.map { .init(slot: $0.slot, firmware: $0.file.bytes) }
                )
            )
        }
        let main = try #require(images.first?.first).file
        return UpdateJob(
            name: "light",
            digest: main.digest,
            version: main.image.version,
            family: .mcumgr,
            type: nil,
            variant: nil,
            allowsDowngrade: allowsDowngrade,
            parts: parts,
            healthy: healthy,
            healthyWithin: .seconds(10)
        )
    }

    /// Runs several rollouts, one after the other, with the same module and journal.
    func updates(_ jobs: [UpdateJob]) throws -> [Result] {
        let simulation = Simulation(seed: seed)
        let results = try simulation.run { () async -> Swift.Result<[Result], any Error> in
            do {
                return .success(try await scenario(jobs, in: simulation))
            } catch { return .failure(error) }
        }
        return try results.get()
    }

    private func scenario(
        _ jobs: [UpdateJob],
        in simulation: Simulation
    ) async throws -> [Result] {
        let (plan, capacity) = (plan, imageCapacity)
        await simulation.air.addAdapter("hci0")
        await simulation.air.arrange { $0.add(plan, imageCapacity: capacity) }
        let journal = try await Journal.inMemory(executor: simulation.worldLane)
        var results: [Result] = []
        for (index, job) in jobs.enumerated() {
            let rollout = "test-\(index)"
            let run = try await journal.beginRun(
                rollout: rollout,
                plan: SHA256.digest(of: []),
                at: simulation.time.wallTime
            )
            let verdict = Mutex<Verdict?>(nil)
            let depot = Depot(
                rollout: rollout,
                run: run,
                air: SoleAirtime(SimulatedRadio(adapter: "hci0", air: simulation.air)),
                time: simulation.time,
                journal: journal,
                events: EventStream(run: run, time: simulation.time) { event in
                    if case .vehicleEnded(_, let ended) = event.body {
                        verdict.withLock { $0 = ended }
                    }
                },
                stop: StopSignal(),
                rules: RolloutRules(settle: try #require(SettleRules()))
            )
            let vehicle = VehicleJob(
                vehicle: try #require(VehicleID("v1")),
                serial: plan.serial,
                driver: SMPModuleUpdate(),
                steps: [.update(job)]
            )
            _ = try await RolloutRun([vehicle], in: depot).run()
            let ended = verdict.withLock { $0 }
            results.append(
                await simulation.air.arrange { world in
                    let module = world.modules(SMPModule.self)[0]
                    return Result(
                        verdict: ended,
                        running: module.running,
                        isConfirmed: module.isConfirmed,
                        boots: module.bootCount,
                        dropped: module.droppedMessages
                    )
                }
            )
        }
        return results
    }

    /// An image made by imgtool.
    static func fixture(_ name: String) throws -> [UInt8] {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../SMPTests/Fixtures").appending(path: name)
        return [UInt8](try Data(contentsOf: url))
    }

    static func file(_ name: String) throws -> MCUbootFile { try MCUbootFile(fixture(name)) }
}
