import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization

/// A simulated depot, a journal in memory, and rollouts with the production code.
final class DepotBench: Sendable {
    let simulation: Simulation
    let plans: [ModulePlan]
    let stop = StopSignal()
    private let collected = Mutex<[Event]>([])
    private let awaited = Mutex<[Outlook]>([])

    init(
        seed: UInt64,
        _ plans: [ModulePlan],
        beginning: WallTime = Simulation.firstEvening
    ) {
        simulation = Simulation(seed: seed, beginning: beginning)
        self.plans = plans
    }

    var events: [Event] { collected.withLock { $0 } }

    /// Everything that the run has waited for, in order.
    var outlooks: [Outlook] { awaited.withLock { $0 } }

    func note(_ outlook: Outlook) { awaited.withLock { $0.append(outlook) } }

    func note(_ event: Event) { collected.withLock { $0.append(event) } }

    static let key = [UInt8](repeating: 0x11, count: 20)

    /// A module as most tests need it, by its number; `change` sets its special properties.
    static func module(
        _ number: Int,
        _ change: (inout ModulePlan) -> Void = { _ in }
    ) -> ModulePlan {
        var plan = ModulePlan(
            serial: sure(Serial(bytes: [0, 0xA0, 0, 0, 0, 0] + UInt16(number).bigBytes))
        )
        plan.key = key
        plan.firmwareType = 17
        plan.version = FirmwareVersion(4, 11, 3)
        change(&plan)
        return plan
    }

    /// An image of this many bytes, for a module that checks no signature.
    static func image(
        bytes: Int,
        version: FirmwareVersion = FirmwareVersion(4, 12),
        type: InitPacket.ImageType = .application
    ) -> UpdateJob {
        // Another version has other bytes, and so is another image.
        var random = SplitMix64(seed: UInt64(bytes) ^ UInt64(version.packed ?? 0) << 32)
        let firmware = (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let digest = SHA256.digest(of: firmware)
        let packet = InitPacket(
            type: type,
            applicationSize: type == .application ? UInt32(bytes) : 0,
            bootloaderSize: type == .bootloader ? UInt32(bytes) : nil,
            softDeviceSize: type == .softDevice ? UInt32(bytes) : nil,
            digest: digest,
            firmwareVersion: version.packed
        )
        return UpdateJob(
            name: "city",
            digest: digest,
            version: version,
            family: .comodule,
            type: 17,
            variant: 0,
            allowsDowngrade: false,
            parts: [FirmwarePart(initPacket: packet.serialized, firmware: firmware)]
        )
    }

    static let profile = sure(ProfileLibrary.shipped.profile(Profile.generic, of: .comodule))

    func jobs(_ steps: [JobStep], always: [JobStep] = []) -> [VehicleJob] {
        plans.enumerated().map { index, plan in
            VehicleJob(
                vehicle: sure(VehicleID("v\(index + 1)")),
                serial: plan.serial,
                driver: ComoduleUpdate(
                    key: sure(try? ComoduleKey(Secret(Array(Hex.text(Self.key).utf8))))
                ),
                steps: steps,
                always: always
            )
        }
    }

    /// The result of a run, with the state of the modules and the journal after it.
    struct Report: Sendable {
        var result: RunResult
        var records: [ExecutionRecord]
        var versions: [FirmwareVersion]
        var inBootloader: [Bool]

        func record(_ number: Int) -> ExecutionRecord? {
            records.first { $0.vehicle.text == "v\(number)" }
        }
    }

    /// Runs the same jobs `times` times with the same modules and the same journal.
    func run(
        _ steps: [JobStep],
        times: Int = 1,
        vehicles: Int? = nil,
        rules: RolloutRules? = nil,
        before: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> Report {
        let outcome = try simulation.run { [self] () async -> Result<Report, any Error> in
            do {
                await simulation.air.addAdapter("hci0")
                let plans = plans
                await simulation.air.arrange { world in
                    for plan in plans { world.add(plan) }
                }
                let journal = try await Journal.inMemory(executor: simulation.worldLane)
                var result = RunResult()
                for time in 1...times {
                    await before(time)
                    let run = try await journal.beginRun(
                        rollout: "test",
                        plan: SHA256.digest(of: []),
                        at: simulation.time.wallTime
                    )
                    let depot = Depot(
                        rollout: "test",
                        run: run,
                        air: SoleAirtime(SimulatedRadio(adapter: "hci0", air: simulation.air)),
                        time: simulation.time,
                        journal: journal,
                        events: EventStream(run: run, time: simulation.time) { [self] event in
                            collected.withLock { $0.append(event) }
                        },
                        stop: stop,
                        rules: rules ?? RolloutRules(settle: sure(SettleRules())),
                        peripherals: { [self] in
                            SimulatedRadio(adapter: $0, air: simulation.air)
                        }
                    )
                    result = try await RolloutRun(
                        Array(jobs(steps).prefix(vehicles ?? plans.count)),
                        in: depot
                    ).run()
                }
                let records = try await journal.executions(rollout: "test")
                let modules = await simulation.air.arrange { world in
                    world.modules(ComoduleModule.self).map {
                        ($0.runningVersion, $0.isInBootloader)
                    }
                }
                return .success(
                    Report(
                        result: result,
                        records: records,
                        versions: modules.map(\.0),
                        inBootloader: modules.map(\.1)
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

/// Unwraps a constant of the tests that is obviously valid.
private func sure<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("a constant of the tests is wrong") }
    return value
}
