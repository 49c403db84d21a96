import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Updates of family `nordic`, over both of its bootloaders.
@Suite struct NordicUpdateTests {
    private static let target = FirmwareVersion(4, 12)

    private static func parts(
        _ bootloader: NordicPlan.Bootloader,
        bytes: Int
    ) -> [FirmwarePart] {
        var random = SplitMix64(seed: UInt64(bytes))
        let firmware = (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        switch bootloader {
        case .legacy:
            let packet = LegacyInitPacket(
                deviceType: 0x52,
                version: target.packed,
                proof: .crc(LegacyInitPacket.checksum(of: firmware))
            )
            return [
                FirmwarePart(
                    initPacket: packet.bytes,
                    firmware: firmware,
                    image: Int(LegacyImageType.application.rawValue)
                )
            ]
        case .secure:
            let packet = InitPacket(
                type: .application,
                applicationSize: UInt32(bytes),
                digest: SHA256.digest(of: firmware),
                firmwareVersion: target.packed
            )
            return [FirmwarePart(initPacket: packet.serialized, firmware: firmware)]
        }
    }

    private struct Outcome: Sendable {
        var counts: [Base.Outcome: Int]
        var message: String
        var version: FirmwareVersion?
        var exchanges: Int
    }

    private func run(
        _ bootloader: NordicPlan.Bootloader,
        bytes: Int = 4_096,
        isStopped: Bool = false,
        _ change: (inout NordicPlan) -> Void = { _ in }
    ) throws -> Outcome {
        var plan = NordicPlan(serial: try #require(Serial("tag-0001")))
        plan.bootloader = bootloader
        plan.version = FirmwareVersion(4, 11)
        change(&plan)
        let device = plan
        let name = bootloader == .legacy ? "legacy" : Profile.generic
        let profile = try #require(ProfileLibrary.shipped.profile(name, of: .nordic))
        let vehicle = try #require(VehicleID("v1"))
        let rules = RolloutRules(settle: try #require(SettleRules()))
        let job = UpdateJob(
            name: "tag",
            digest: SHA256.digest(of: [1]),
            version: Self.target,
            family: .nordic,
            type: nil,
            variant: nil,
            allowsDowngrade: false,
            parts: Self.parts(bootloader, bytes: bytes)
        )
        let simulation = Simulation(seed: 7)
        let result = try simulation.run { () async -> Result<Outcome, any Error> in
            do {
                await simulation.air.addAdapter("hci0")
                await simulation.air.arrange { $0.add(device) }
                let journal = try await Journal.inMemory(executor: simulation.worldLane)
                let run = try await journal.beginRun(
                    rollout: "test",
                    plan: SHA256.digest(of: []),
                    at: simulation.time.wallTime
                )
                let stop = StopSignal()
                let depot = Depot(
                    rollout: "test",
                    run: run,
                    air: SoleAirtime(SimulatedRadio(adapter: "hci0", air: simulation.air)),
                    time: simulation.time,
                    journal: journal,
                    events: EventStream(run: run, time: simulation.time) { event in
                        if isStopped, case .progress = event.body { stop.request() }
                    },
                    stop: stop,
                    rules: rules,
                    peripherals: { SimulatedRadio(adapter: $0, air: simulation.air) }
                )
                let result = try await RolloutRun(
                    [
                        VehicleJob(
                            vehicle: vehicle,
                            serial: device.serial,
                            driver: NordicUpdate(profile: profile),
                            steps: [.update(job)]
                        )
                    ],
                    in: depot
                ).run()
                let record = try await journal.executions(rollout: "test").first
                let found = await simulation.air.arrange { world in
                    world.modules(NordicModule.self).map { ($0.runningVersion, $0.exchanges) }
                }
                return .success(
                    Outcome(
                        counts: result.counts,
                        message: record?.end?.message ?? "no end",
                        version: found.first?.0,
                        exchanges: found.first?.1 ?? 0
                    )
                )
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    @Test(arguments: NordicPlan.Bootloader.allCases, [false, true])
    func `an image is installed and its version read back`(
        bootloader: NordicPlan.Bootloader,
        keepsAddress: Bool
    ) throws {
        let outcome = try run(bootloader) {
            $0.keepsAddress = keepsAddress && $0.bootloader == .legacy
        }
        #expect(outcome.counts == [.succeeded: 1], "\(outcome.message)")
        #expect(outcome.version == Self.target)
    }

    /// A bootloader with one bank has erased the application, and begins again after each transfer.
    @Test(arguments: NordicPlan.Bootloader.allCases)
    func `a request to stop waits for the end of a transfer that could not be gone on with`(
        bootloader: NordicPlan.Bootloader
    ) throws {
        let outcome = try run(bootloader, bytes: 40_000, isStopped: true)
        #expect(outcome.counts[.succeeded] == nil, "it was stopped")
        let isWhole = outcome.version == Self.target
        #expect(isWhole == (bootloader == .legacy), "\(outcome)")
    }

    @Test(arguments: NordicPlan.Bootloader.allCases)
    func `an upload that is broken off at any exchange ends right`(
        bootloader: NordicPlan.Bootloader
    ) throws {
        let whole = try run(bootloader, bytes: 400)
        #expect(whole.counts == [.succeeded: 1], "\(whole.message)")
        #expect(whole.exchanges > 10)
        for number in 1...whole.exchanges {
            for kind in [LinkBreak.linkLost, .silence, .restart] {
                for isBefore in [true, false] {
                    let outcome = try run(bootloader, bytes: 400) {
                        $0.faults = [
                            .init(.breaks(kind, atExchange: number, isBefore: isBefore))
                        ]
                    }
                    #expect(
                        outcome.counts == [.succeeded: 1] && outcome.version == Self.target,
                        "exchange \(number) \(kind) \(isBefore): \(outcome.message)"
                    )
                }
            }
        }
    }

    @Test(arguments: NordicPlan.Bootloader.allCases)
    func `faults that pass cost time, and others have their verdict`(
        bootloader: NordicPlan.Bootloader
    ) throws {
        let passing: [NordicPlan.Fault.Kind] = [
            .linkLost(at: 1_000), .silent(at: 2_000), .restart(at: 3_000), .packetLost(at: 400),
            .notificationLost(1), .notificationLost(4), .ignoresEntry, .connectFails,
        ]
        for fault in passing {
            let outcome = try run(bootloader) { $0.faults = [.init(fault)] }
            #expect(outcome.counts == [.succeeded: 1], "\(fault): \(outcome.message)")
            #expect(outcome.version == Self.target, "\(fault)")
        }
        let unchanged = try run(bootloader) { $0.faults = [.init(.returnsUnchanged)] }
        #expect(unchanged.counts == [.failed: 1], "\(unchanged.message)")
        let gone = try run(bootloader) { $0.faults = [.init(.neverReturns)] }
        #expect(gone.counts == [.failed: 1], "\(gone.message)")
        let refused = try run(bootloader) { $0.faults = [.init(.refusesInit, times: 200)] }
        #expect(
            refused.counts == [bootloader == .legacy ? .rejected : .failed: 1],
            "\(refused.message)"
        )
        #expect(refused.version == FirmwareVersion(4, 11))
    }
}
