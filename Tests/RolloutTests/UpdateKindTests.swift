import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Every kind of update of a Comodule module, and every fault of each.
@Suite struct UpdateKindTests {
    private func update(
        _ part: ModulePart = .secondary,
        to version: FirmwareVersion = FirmwareVersion(4, 12),
        bytes: Int = 12_000,
        healthy: [PropertyTest] = [],
        within: Duration = .seconds(30),
        waypoints: [UpdateJob] = []
    ) -> UpdateJob {
        let image = DepotBench.image(
            bytes: bytes,
            version: version,
            type: part == .bootloader ? .bootloader : .application
        )
        return UpdateJob(
            name: "city-\(version)",
            digest: image.digest,
            version: version,
            family: .comodule,
            target: part,
            type: 17,
            variant: 0,
            allowsDowngrade: false,
            parts: image.parts,
            healthy: healthy,
            healthyWithin: within,
            waypoints: waypoints
        )
    }

    @Test(arguments: ModulePart.allCases)
    func `every part of a module is updated and read back`(part: ModulePart) throws {
        let bench = DepotBench(seed: 1, [DepotBench.module(1)])
        let report = try bench.run([.update(update(part))])
        #expect(report.result.counts == [.succeeded: 1], "\(report.message(1))")
        #expect(report.record(1)?.versionAfter == FirmwareVersion(4, 12))
        let isOwn = part == .secondary
        #expect(report.versions == [isOwn ? FirmwareVersion(4, 12) : FirmwareVersion(4, 11, 3)])
        if part.isHandedOver {
            // The module still works for a minute and a half after its restart, before it comes to
            // rest.
            #expect(bench.took > .seconds(90))
        }
    }

    @Test func `several targets are updated in their order`() throws {
        let bench = DepotBench(seed: 1, [DepotBench.module(1)])
        let parts: [ModulePart] = [.bootloader, .secondary, .primary, .external1, .external2]
        let report = try bench.run(parts.map { .update(update($0)) })
        #expect(report.result.counts == [.succeeded: 1], "\(report.message(1))")
        let again = try DepotBench(seed: 1, [DepotBench.module(1)])
            .run(parts.map { .update(update($0)) }, times: 2)
        #expect(again.result.counts == [.alreadyCurrent: 1])
    }

    @Test func `an old module goes over the versions it must have run before`() throws {
        let path = [
            update(to: FirmwareVersion(4, 5), bytes: 5_000),
            update(to: FirmwareVersion(4, 9), bytes: 6_000),
        ]
        let bench = DepotBench(
            seed: 1,
            [
                DepotBench.module(1) { $0.version = FirmwareVersion(4, 1) },
                DepotBench.module(2) { $0.version = FirmwareVersion(4, 7) },
                DepotBench.module(3) { $0.version = FirmwareVersion(4, 11) },
                DepotBench.module(4) { $0.version = FirmwareVersion(4, 12) },
            ]
        )
        let report = try bench.run([.update(update(waypoints: path))])
        #expect(report.result.counts == [.succeeded: 3, .alreadyCurrent: 1])
        #expect(report.versions == Array(repeating: FirmwareVersion(4, 12), count: 4))
        #expect([1, 2, 3, 4].map { bench.sent(by: $0) } == [23_000, 18_000, 12_000, 0])
    }

    @Test func `a module that is not well cannot go back, and the report says so`() throws {
        let low = try DepotBench.profile.test("state_of_charge", .atLeast, "90")
        let bench = DepotBench(seed: 1, [DepotBench.module(1)])
        let report = try bench.run([.update(update(healthy: [low]))])
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .device)
        #expect(report.message(1).contains("state_of_charge is 80, required is >= 90"))
        #expect(report.message(1).contains("it runs 4.12.0"))
    }

    @Test func `a module that is well is done`() throws {
        let fine = try DepotBench.profile.test("state_of_charge", .atLeast, "40")
        let report = try DepotBench(seed: 1, [DepotBench.module(1)])
            .run([.update(update(healthy: [fine]))])
        #expect(report.result.counts == [.succeeded: 1], "\(report.message(1))")
    }

    @Test func `a bonded module keeps its address and needs no name`() throws {
        let bench = DepotBench(
            seed: 1,
            [DepotBench.module(1) { $0.isBonded = true }, DepotBench.module(2)]
        )
        let report = try bench.run([.update(update())])
        #expect(report.result.counts == [.succeeded: 2], "\(report.message(1))")
    }

    // MARK: Faults

    @Test(
        arguments: [
            .restartInErase(at: 0), .restartInErase(at: 4_096), .dropPacket(at: 0),
            .dropPacket(at: 4_096), .dropPacket(at: 11_956), .wrongChecksum(from: 1),
            .wrongChecksum(from: 4_096), .wrongChecksum(from: 12_000), .wrongOffset(from: 1),
            .wrongOffset(from: 8_192), .wrongOffset(from: 12_000), .refuseBoot,
        ] as [ModulePlan.Fault.Kind]
    )
    func `a fault that passes costs time and nothing else`(fault: ModulePlan.Fault.Kind) throws {
        let module = DepotBench.module(1) { $0.faults = [.init(fault)] }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run([.update(update())])
        #expect(report.result.counts == [.succeeded: 1], "\(report.message(1))")
        #expect(report.versions == [FirmwareVersion(4, 12)])
    }

    @Test func `a notification that is lost or comes twice changes nothing, whichever it is`()
        throws
    {
        for number in 1...24 {
            for fault in [
                ModulePlan.Fault.Kind.loseNotification(number), .repeatNotification(number),
            ] {
                let module = DepotBench.module(1) { $0.faults = [.init(fault)] }
                let report = try DepotBench(seed: 5, [module]).run([.update(update())])
                #expect(report.result.counts == [.succeeded: 1], "\(fault) \(report.message(1))")
            }
        }
    }

    @Test(arguments: [8, 12, 17, 18])
    func `a bootloader with little room for packets gets its image, only slower`(
        pool: Int
    ) throws {
        let module = DepotBench.module(1) {
            $0.packetPool = pool
            $0.pageWriteTime = .milliseconds(300)
            $0.link.interval = .milliseconds(15)
        }
        let bench = DepotBench(seed: 5, [module])
        let report = try bench.run([.update(update(bytes: 20_000))])
        #expect(report.result.counts == [.succeeded: 1], "\(report.message(1))")
    }

    @Test(arguments: [Duration.seconds(1), .seconds(8), .seconds(19)])
    func `a module that goes back to its old version is rolled back`(after: Duration) throws {
        let module = DepotBench.module(1) { $0.faults = [.init(.revert(after: after))] }
        let report = try DepotBench(seed: 5, [module]).run([.update(update())])
        // When the module reverts before its version was read, there is no proof that the new one
        // ever ran.
        let seen = after > .seconds(2)
        #expect(report.result.counts == [seen ? .rolledBack : .failed: 1])
        #expect(report.record(1)?.end?.failure == (seen ? .rolledBack : .wrongVersion))
    }

    @Test func `a module that always goes back into its bootloader is given up and named`()
        throws
    {
        let module = DepotBench.module(1) { $0.faults = [.init(.refuseBoot, times: 200)] }
        let report = try DepotBench(seed: 5, [module]).run([.update(update())])
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .device)
        #expect(report.record(1)?.inBootloader == true)
        #expect(report.inBootloader == [true])
        #expect(report.message(1).contains("it stands in its bootloader"))
    }

    @Test func `a flash that is full rejects the image`() throws {
        let module = DepotBench.module(1) { $0.faults = [.init(.flashFull)] }
        let report = try DepotBench(seed: 5, [module]).run([.update(update())])
        #expect(report.result.counts == [.rejected: 1])
        #expect(report.message(1).contains("too large for the module"))
    }

    @Test func `an "ongoing" that comes and goes is not called done early`() throws {
        for period in [2, 5, 11, 19] {
            let module = DepotBench.module(1) {
                $0.faults = [
                    .init(.flap(total: .seconds(120), period: .seconds(period)))
                ]
            }
            let bench = DepotBench(seed: 5, [module])
            let report = try bench.run([.update(update())])
            #expect(report.result.counts == [.succeeded: 1])
            #expect(bench.took > .seconds(120), "period \(period)")
        }
    }

    @Test func `a module that restarts twice after the upload succeeds once`() throws {
        let module = DepotBench.module(1) { $0.faults = [.init(.restartAfterReturn, times: 2)] }
        let report = try DepotBench(seed: 5, [module]).run([.update(update())])
        #expect(report.result.counts == [.succeeded: 1])
        #expect(report.record(1)?.restarts ?? 0 >= 2)
    }
}

extension DepotBench.Report {
    fileprivate func message(_ number: Int) -> String {
        record(number)?.end?.message ?? "no end"
    }
}

extension DepotBench {
    /// The time from the first event to the last.
    fileprivate var took: Duration {
        guard let first = events.first, let last = events.last else { return .zero }
        return .milliseconds(last.time.milliseconds - first.time.milliseconds)
    }

    /// The number of image bytes in a vehicle's verdict.
    fileprivate func sent(by number: Int) -> Int {
        for event in events {
            if case .vehicleEnded(let vehicle, let verdict) = event.body,
                vehicle.text == "v\(number)"
            {
                return verdict.bytesSent.bytes
            }
        }
        return -1
    }
}
