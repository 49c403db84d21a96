import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Updates of family `esp`, with each of its servers.
@Suite struct ESPUpdateTests {
    private static let target = FirmwareVersion(2, 7, 31)

    /// An application image with this many bytes of content.
    private static func image(_ bytes: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(bytes))
        func text(_ text: String, _ length: Int) -> [UInt8] {
            Array(text.utf8) + [UInt8](repeating: 0, count: length - text.utf8.count)
        }
        var body = UInt32(0xABCD_5432).littleBytes + UInt32(0).littleBytes
        body += [UInt8](repeating: 0, count: 8) + text(target.description, 32)
        body += text("sensor", 32)
        body += [UInt8](repeating: 0, count: 256 - body.count)
        body += (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var image: [UInt8] = [0xE9, 1, 2, 0x2F, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]
        image += [UInt8](repeating: 0, count: 8)
        image += UInt32(0x3C00_0020).littleBytes + UInt32(body.count).littleBytes + body
        image += [UInt8](repeating: 0, count: 15 - image.count % 16)
        return image + [body.reduce(0xEF) { $0 ^ $1 }]
    }

    private struct Outcome: Sendable {
        var counts: [Base.Outcome: Int]
        var message: String
        var version: FirmwareVersion?
        var exchanges: Int
        /// How many of the configured faults happened.
        var faults: Int
    }

    /// The family's generic profile, with other limits where they are given.
    private static func profile(_ limits: String?) throws -> Profile {
        let shipped = try #require(FamilyRegistry.profiles.first { $0.name == "esp-generic.yaml" })
        let more = limits.map { "\nlimits: {\($0)}\n" } ?? ""
        let diagnostics = Diagnostics()
        let profile = Profile.parse(
            shipped.bytes + Array(more.utf8),
            file: "p.yaml",
            diagnostics
        )
        return try #require(profile, "\(diagnostics.list)")
    }

    private func run(
        _ server: ESPTarget.Server,
        bytes: Int = 20_000,
        limits: String? = nil,
        _ change: (inout ESPPlan) -> Void = { _ in }
    ) throws -> Outcome {
        var plan = ESPPlan(serial: try #require(Serial("esp-0001")))
        plan.server = server
        plan.version = FirmwareVersion(2, 6)
        change(&plan)
        let device = plan
        let profile = try Self.profile(limits)
        let vehicle = try #require(VehicleID("v1"))
        let rules = RolloutRules(settle: try #require(SettleRules()))
        let job = UpdateJob(
            name: "sensor",
            digest: SHA256.digest(of: [1]),
            version: Self.target,
            family: .esp,
            type: nil,
            variant: nil,
            allowsDowngrade: false,
            parts: [FirmwarePart(firmware: Self.image(bytes))]
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
                let depot = Depot(
                    rollout: "test",
                    run: run,
                    air: SoleAirtime(SimulatedRadio(adapter: "hci0", air: simulation.air)),
                    time: simulation.time,
                    journal: journal,
                    events: EventStream(run: run, time: simulation.time) { _ in },
                    stop: StopSignal(),
                    rules: rules,
                    peripherals: { SimulatedRadio(adapter: $0, air: simulation.air) }
                )
                let result = try await RolloutRun(
                    [
                        VehicleJob(
                            vehicle: vehicle,
                            serial: device.serial,
                            driver: ESPUpdate(profile: profile),
                            steps: [.update(job)]
                        )
                    ],
                    in: depot
                ).run()
                let record = try await journal.executions(rollout: "test").first
                let found = await simulation.air.arrange { world in
                    world.modules(ESPModule.self).map {
                        ($0.runningVersion, $0.exchanges, $0.faultCounts.reduce(0) { $0 + Int($1) })
                    }
                }
                return .success(
                    Outcome(
                        counts: result.counts,
                        message: record?.end?.message ?? "no end",
                        version: found.first?.0,
                        exchanges: found.first?.1 ?? 0,
                        faults: found.first?.2 ?? 0
                    )
                )
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `an image is installed and its version read back`(server: ESPTarget.Server) throws {
        let outcome = try run(server)
        #expect(outcome.counts == [.succeeded: 1], "\(outcome.message)")
        #expect(outcome.version == Self.target)
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `a device may erase as long as its profile says`(server: ESPTarget.Server) throws {
        // Five pages: 90 seconds, one and a half times the usual limit for these devices.
        let runs = try [nil, "first-byte: 200s"].map {
            try run(server, limits: $0) { $0.eraseTime = .seconds(18) }
        }
        #expect(runs[1].counts == [.succeeded: 1], "\(runs[1].message)")
        #expect(runs[1].version == Self.target)
        // The other device is given up during its erase, repeatedly.
        #expect(runs[0].counts[.succeeded] == nil, "\(runs[0])")
        #expect(runs[0].version != Self.target)
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `an upload that is broken off at any exchange ends well`(
        server: ESPTarget.Server
    ) throws {
        let whole = try run(server, bytes: 9_000)
        #expect(whole.counts == [.succeeded: 1], "\(whole.message)")
        #expect(whole.exchanges > 20)
        for number in 1...whole.exchanges {
            for kind in [LinkBreak.linkLost, .silence, .restart] {
                for isBefore in [true, false] {
                    let outcome = try run(server, bytes: 9_000) {
                        $0.faults = [
                            .init(.breaks(kind, atExchange: number, isBefore: isBefore))
                        ]
                    }
                    let place = "exchange \(number) \(kind) \(isBefore): \(outcome.message)"
                    #expect(outcome.counts == [.succeeded: 1], "\(place)")
                    #expect(outcome.version == Self.target, "\(place)")
                    #expect(outcome.faults == 1, "\(place)")
                }
            }
        }
    }

    @Test(arguments: ESPTarget.Server.allCases)
    func `faults that pass cost time, and others have their verdict`(
        server: ESPTarget.Server
    ) throws {
        let passing: [ESPPlan.Fault.Kind] = [
            .linkLost(at: 4_096), .silent(at: 8_192), .restart(at: 8_192), .ackLost(2),
            .refusesStart, .connectFails,
        ]
        for fault in passing {
            let outcome = try run(server) { $0.faults = [.init(fault)] }
            #expect(outcome.counts == [.succeeded: 1], "\(fault): \(outcome.message)")
            #expect(outcome.version == Self.target, "\(fault)")
        }
        let silent = try run(server) { $0.faults = [.init(.failsSilently, times: 200)] }
        #expect(silent.counts == [.failed: 1], "\(silent.message)")
        let gone = try run(server) { $0.faults = [.init(.neverReturns)] }
        #expect(gone.counts == [.failed: 1], "\(gone.message)")
        let back = try run(server) { $0.faults = [.init(.rollsBack)] }
        #expect(back.counts == [.rolledBack: 1], "\(back.message)")
        #expect(back.version == FirmwareVersion(2, 6))
    }
}
