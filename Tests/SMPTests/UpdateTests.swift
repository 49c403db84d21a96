import Domain
import Images
import Sessions
import Simulation
import Testing
import Wire

/// Whole updates of a simulated module over simulated air.
@Suite struct SMPUpdateOnAirTests {
    @Test func `an image is sent, tried, found healthy and confirmed`() throws {
        let file = try sample(size: 60_000)
        let result = try Bench().update([file])
        #expect(result.ending == .installed)
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
        #expect(result.links == 2)
        #expect(result.bytesSent == file.bytes.count)
        #expect(result.dropped == 0)
    }

    @Test func `what runs already is left alone`() throws {
        let file = try sample(size: 5_000)
        let goal = try #require(SMPGoal(parts: [.init(image: 0, candidates: [.init(file)])]))
        let order = (goal, [[file.bytes]])
        let results = try Bench().updates([order, order])
        #expect(results.map(\.ending) == [.installed, .alreadyCurrent])
        #expect(results[1].bytesSent == 0)
        #expect(results[1].boots == results[0].boots)
    }

    @Test(arguments: [
        "buffers not told", "bootloader not told", "slots not told", "no echo", "version 1 only",
        "results everywhere", "closed lengths", "no reassembly", "whole words only", "one buffer",
        "no digest check", "erases first",
    ])
    func `devices of many makes are updated`(make: String) throws {
        var bench = try Bench()
        switch make {
        case "buffers not told": bench.plan.rules.tellsParameters = false
        case "bootloader not told": bench.plan.rules.tellsBootloader = false
        case "slots not told": bench.plan.rules.tellsSlots = false
        case "no echo": bench.plan.rules.hasEcho = false
        case "version 1 only": bench.plan.rules.isVersion1 = true
        case "results everywhere": bench.plan.rules.addsResult = true
        case "closed lengths": bench.plan.rules.hasOpenLengths = false
        case "no reassembly": bench.plan.rules.reassembles = false
        case "whole words only": bench.plan.rules.writesWords = true
        case "one buffer": bench.plan.rules.bufferCount = 1
        case "no digest check": bench.plan.rules.checksDigest = false
        default: bench.plan.rules.erasesAsItGoes = false
        }
        let file = try sample(size: 30_001)
        let result = try bench.update([file])
        #expect(result.ending == .installed, "\(result)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.bytesSent <= file.bytes.count + 4 * 2_475)
    }

    private static let kinds: [SMPModulePlan.Fault.Kind] = [
        .linkLost(at: 10_000), .silent(at: 10_000), .restart(at: 10_000),
        .answerLost(at: 10_000), .answerTwice(at: 10_000), .pieceLost(at: 10_000),
        .corrupted(at: 10_000), .wrongOffset(at: 10_000), .busy, .restartInErase, .ignoresReset,
        .connectFails, .addressChanges, .linkLost(at: 40_000), .answerLost(at: 40_000),
        .pieceLost(at: 40_000),
    ]

    @Test(arguments: kinds, [1, 2])
    func `a fault on the way does not keep an image from arriving`(
        kind: SMPModulePlan.Fault.Kind,
        times: Int
    ) throws {
        var bench = try Bench()
        bench.plan.faults = [.init(kind, times: times)]
        let file = try sample(size: 40_000)
        let result = try bench.update([file])
        if case .corrupted = kind, times == 2 {
            // Damaged once more when it was sent anew: the bootloader has the last word.
            #expect(result.ending == .failed(.refusedByBootloader(image: 0)))
            #expect(result.running[0].version == FirmwareVersion(1, 0))
            return
        }
        #expect(result.ending == .installed, "\(result)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
    }

    @Test func `a lost link is taken up where it broke`() throws {
        var bench = try Bench()
        bench.plan.faults = [.init(.linkLost(at: 30_000))]
        let file = try sample(size: 60_000)
        let result = try bench.update([file])
        #expect(result.ending == .installed)
        #expect(result.links == 3)
        #expect(
            result.bytesSent < file.bytes.count + 5 * 2_475,
            "nothing is sent twice but what was on its way"
        )
    }

    @Test func `an erase that outlasts the link is waited for`() throws {
        var bench = try Bench()
        bench.plan.rules.erasesAsItGoes = false
        bench.plan.eraseTime = .milliseconds(85)
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.ending == .installed, "\(result)")
        #expect(result.links == 3)
    }

    @Test func `a slow device with full buffers gets all of it`() throws {
        var bench = try Bench()
        bench.plan.messageTime = .milliseconds(70)
        bench.plan.eraseTime = .milliseconds(85)
        let result = try bench.update([try sample(size: 40_000)])
        #expect(result.ending == .installed, "\(result)")
        #expect(result.dropped == 0)
    }

    @Test func `an image that is not confirmed in time is told from one that is refused`() throws {
        var bench = try Bench()
        bench.plan.faults = [.init(.crashes)]
        let file = try sample(size: 10_000)
        let reverted = try bench.update([file])
        #expect(reverted.ending == .failed(.reverted(image: 0)))
        #expect(reverted.running[0].version == FirmwareVersion(1, 0))
        #expect(reverted.isConfirmed)

        bench.plan.faults = []
        bench.plan.rules.refusesDowngrade = true
        bench.plan.versions = [FirmwareVersion(3, 0)]
        let refused = try bench.update([file])
        #expect(refused.ending == .failed(.refusedByBootloader(image: 0)))
        #expect(refused.running[0].version == FirmwareVersion(3, 0))
    }

    @Test func `an unhealthy image is not confirmed, and the old one comes back`() throws {
        var bench = try Bench()
        bench.isHealthy = false
        let result = try bench.update([try sample(size: 10_000)])
        #expect(result.ending == .failed(.takenBack))
        #expect(result.running[0].version == FirmwareVersion(1, 0))
        #expect(result.isConfirmed)
    }

    @Test(arguments: [
        (SMPModulePlan.Fault.Kind.flashFull(at: 8_000), FailureClass.device),
        (.refusesTest, .device), (.neverReturns, .noReturn), (.marksLost, .rolledBack),
    ])
    func `what cannot be overcome is named`(
        kind: SMPModulePlan.Fault.Kind,
        failure: FailureClass
    ) throws {
        var bench = try Bench()
        bench.plan.faults = [.init(kind, times: 255)]
        let result = try bench.update([try sample(size: 10_000)])
        guard case .failed(let error) = result.ending else {
            Issue.record("\(result)")
            return
        }
        #expect(error.failureClass == failure, "\(error)")
        #expect(result.running[0].version == FirmwareVersion(1, 0) || kind == .neverReturns)
    }

    @Test func `a device that does not confirm keeps nothing`() throws {
        var bench = try Bench()
        bench.plan.faults = [.init(.refusesConfirm, times: 255)]
        let result = try bench.update([try sample(size: 10_000)])
        guard case .failed(.ask(.refused(.image(.confirmDenied), _))) = result.ending else {
            Issue.record("\(result)")
            return
        }
        #expect(!result.isConfirmed)
    }

    // MARK: Bootloaders of other kinds

    @Test(arguments: [
        BootloaderMode.swapScratch, .swapMove, .swapOffset, .overwrite, .directXIP,
        .directXIPRevert, .ramLoad,
    ])
    func `every kind of bootloader gets its own way`(mode: BootloaderMode) throws {
        var bench = try Bench()
        bench.plan.rules.mode = mode
        let file = try sample(size: 20_000)
        let result = try bench.update([file])
        #expect(result.ending == .installed, "\(result)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
    }

    @Test func `where the highest version starts, an older one is not even sent`() throws {
        var bench = try Bench()
        bench.plan.rules.mode = .directXIP
        bench.plan.versions = [FirmwareVersion(2, 5)]
        let result = try bench.update([try sample(size: 20_000)])
        #expect(
            result.ending
                == .failed(
                    .notNewer(
                        image: 0,
                        runs: FirmwareVersion(2, 5),
                        wanted: FirmwareVersion(2, 0)
                    )
                )
        )
        #expect(result.bytesSent == 0)
    }

    @Test func `of two files the one for the free slot is sent, update after update`() throws {
        var bench = try Bench()
        bench.plan.rules.mode = .directXIP
        let orders = try (2...4).map { number -> (SMPGoal, [[[UInt8]]]) in
            let version = FirmwareVersion(UInt32(number), 0)
            let files = try (0...1).map {
                try sample(size: 9_000, version: version, seed: UInt64(number * 2 + $0))
            }
            let goal = try #require(
                SMPGoal(parts: [
                    .init(
                        image: 0,
                        candidates: [.init(files[0], slot: 0), .init(files[1], slot: 1)]
                    )
                ])
            )
            return (goal, [files.map(\.bytes)])
        }
        let results = try bench.updates(orders)
        #expect(results.map(\.ending) == [.installed, .installed, .installed])
        let hashes = zip(results, orders).map { result, order in
            order.0.parts[0].candidates.firstIndex { $0.hash == result.running[0].hash }
        }
        #expect(hashes == [1, 0, 1], "slot after slot")
    }

    // MARK: Several images

    @Test func `two images are installed by one restart, the main one marked last`() throws {
        var bench = try Bench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(1, 0)]
        let main = try sample(size: 30_000, seed: 2)
        let net = try sample(size: 10_000, version: FirmwareVersion(3, 1), seed: 3)
        let result = try bench.update([main, net])
        #expect(result.ending == .installed, "\(result)")
        #expect(result.running.map(\.hash) == [main.image.hash, net.image.hash])
        #expect(result.boots == 2)
    }

    @Test func `an image that the module has no slot for is not sent`() throws {
        let files = [try sample(size: 9_000), try sample(size: 9_000, seed: 9)]
        let result = try Bench().update(files)
        #expect(result.ending == .failed(.noSlot(image: 1)))
        #expect(result.bytesSent == 0)
    }

    @Test func `an image beyond its slot is not sent`() throws {
        var bench = try Bench()
        bench.imageCapacity = 16_384
        let result = try bench.update([try sample(size: 15_000)])
        guard case .failed(.tooLarge(0, _, 12_288)) = result.ending else {
            Issue.record("\(result)")
            return
        }
        #expect(result.bytesSent == 0)
    }

    @Test func `an image that needs another one is not sent without it`() throws {
        let file = try MCUbootFile(fixture("needs-net.img"))
        var bench = try Bench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(2, 9)]
        let alone = try bench.update([file])
        #expect(
            alone.ending
                == .failed(.dependency(image: 0, on: 1, atLeast: FirmwareVersion(3, 0)))
        )
        #expect(alone.bytesSent == 0)
        let both = try bench.update([file, try MCUbootFile(fixture("net.img"))])
        #expect(both.ending == .installed, "\(both)")
    }
}
