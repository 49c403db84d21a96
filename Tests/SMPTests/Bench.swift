import Digests
import Domain
import Foundation
import Images
import Modules
import Radio
import Sessions
import Simulation
import Testing
import Wire

/// Images that imgtool made.
func fixture(_ name: String) throws -> [UInt8] {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures").appending(path: name)
    return [UInt8](try Data(contentsOf: url))
}

/// An image such as imgtool makes, of any size.
func sample(
    size: Int,
    version: FirmwareVersion = FirmwareVersion(2, 0),
    seed: UInt64 = 1
) throws -> MCUbootFile {
    var random = SplitMix64(seed: seed)
    var bytes = MCUbootHeader.magic.littleBytes + UInt32(0).littleBytes
    bytes += UInt16(32).littleBytes + UInt16(0).littleBytes
    bytes += UInt32(size).littleBytes + UInt32(0).littleBytes
    bytes += [UInt8(version.major), UInt8(version.minor)]
    bytes += UInt16(version.patch).littleBytes + version.build.littleBytes
    bytes += [0, 0, 0, 0]
    bytes += (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let hash = SHA256.digest(of: bytes)
    bytes += UInt16(0x6907).littleBytes + UInt16(40).littleBytes
    bytes += UInt16(0x10).littleBytes + UInt16(32).littleBytes + hash.bytes
    return try MCUbootFile(bytes)
}

extension SMPGoal.Candidate {
    init(_ file: MCUbootFile, slot: Int? = nil) {
        self.init(
            slot: slot,
            version: file.image.version,
            hash: file.image.hash,
            size: file.bytes.count,
            dependencies: file.image.dependencies
        )
    }
}

/// One module on simulated air, and an update of it.
struct Bench {
    var plan: SMPModulePlan
    var seed: UInt64 = 1
    var imageCapacity = 1 << 20
    var limits = SMPUpdate.Limits()
    var hasRestarted = false
    var isHealthy = true

    init() throws {
        plan = SMPModulePlan(serial: try #require(Serial("ym-0001")))
        plan.link.interval = .milliseconds(15)
        plan.eraseTime = .milliseconds(2)
        plan.restartTime = .seconds(1)
        plan.activationTime = .seconds(4)
    }

    /// What came of it, by both sides' words.
    struct Result: Sendable {
        var ending: SMPUpdate.Ending
        var running: [SMPServerFacts.Content]
        var isConfirmed: Bool
        var links: Int
        var bytesSent: Int
        var boots: Int
        var dropped: Int
        var progress: [Int]
        var took: Duration
    }

    /// The images of the module, the main one first.
    func update(_ files: [MCUbootFile], canRevert: [Bool] = [true, false]) throws -> Result {
        let parts = files.enumerated().map { image, file in
            SMPGoal.Part(image: image, candidates: [.init(file)], canRevert: canRevert[image])
        }
        let goal = try #require(SMPGoal(parts: parts))
        return try update(goal, files: goal.parts.map { [files[$0.image].bytes] })
    }

    func update(_ goal: SMPGoal, files: [[[UInt8]]]) throws -> Result {
        try updates([(goal, files)])[0]
    }

    /// Several updates, one after the other, of the same module.
    func updates(_ orders: [(SMPGoal, [[[UInt8]]])]) throws -> [Result] {
        let simulation = Simulation(seed: seed)
        let bench = self
        let results = try simulation.run { () async -> Swift.Result<[Result], RadioError> in
            await simulation.air.addAdapter("hci0")
            await simulation.air.arrange { world in
                world.addSMPModule(bench.plan, imageCapacity: bench.imageCapacity)
            }
            do throws(RadioError) {
                var results: [Result] = []
                for (goal, files) in orders {
                    results.append(try await bench.run(goal, files, simulation))
                }
                return .success(results)
            } catch { return .failure(error) }
        }
        return try results.get()
    }

    private func run(
        _ goal: SMPGoal,
        _ files: [[[UInt8]]],
        _ simulation: Simulation
    ) async throws(RadioError) -> Result {
        let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
        let time = simulation.time
        let serial = plan.serial
        let connect: SMPUpdater.Connect = { (deadline) async throws(RadioError) in
            while time.now < deadline {
                do throws(RadioError) {
                    let heard = try await radio.withScan(SMPSighting.filter(for: serial)) {
                        scan throws(RadioError) in
                        try await scan.next(before: deadline)
                    }
                    return try await radio.connect(
                        to: heard.peer,
                        before: min(deadline, time.now.advanced(by: .seconds(20)))
                    )
                } catch {
                    guard error == .timedOut || error == .connectFailed else { throw error }
                }
            }
            return nil
        }
        let updater = SMPUpdater(
            goal: goal,
            files: files,
            limits: limits,
            hasRestarted: hasRestarted,
            time: time,
            connect: connect
        )
        guard let link = try await connect(time.now.advanced(by: .seconds(60))) else {
            throw .timedOut
        }
        let began = time.now
        var progress: [Int] = []
        let healthy = isHealthy
        let ending = try await updater.run(on: link, isHealthy: { healthy }) { heard in
            progress.append(heard.acknowledged)
        }
        let took = began.duration(to: time.now)
        let state = await simulation.air.arrange { world in
            let module = world.smpModules[0]
            return (module.running, module.isConfirmed, module.bootCount, module.droppedMessages)
        }
        return Result(
            ending: ending,
            running: state.0,
            isConfirmed: state.1,
            links: updater.links,
            bytesSent: updater.bytesSent,
            boots: state.2,
            dropped: state.3,
            progress: progress,
            took: took
        )
    }
}
