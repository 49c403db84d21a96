import Base
import Families
import Images
import Radio
import Rollout
import Samples
import Show
import Simulation
import Testing

/// Whole updates of a simulated module over simulated air, made by rollouts.
@Suite struct SMPUpdateTests {
    private func sample(
        size: Int,
        version: FirmwareVersion = FirmwareVersion(2, 0),
        seed: UInt64 = 1
    ) throws -> MCUbootFile { try .sample(size: size, version: version, seed: seed) }

    @Test func `an image is sent, tried, proven and confirmed`() throws {
        let file = try sample(size: 60_000)
        let result = try SMPBench().update([file])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
        #expect(result.interruptions == 0)
        #expect(result.bytesSent == file.bytes.count)
        #expect(result.dropped == 0)
        #expect(result.boots == 2)
    }

    @Test(arguments: ["sha384.img", "sha512.img"])
    func `images with long hashes are known by their hash`(name: String) throws {
        let file = try MCUbootFile(SMPBench.fixture(name))
        let bench = try SMPBench()
        let job = try bench.job([[(nil, file)]])
        let results = try bench.updates([job, job])
        #expect(results.map(\.outcome) == [.succeeded, .alreadyCurrent], "\(results[0].message)")
        #expect(results[0].running[0].hash == file.image.hash)
    }

    static let compressed = ["compressed.img", "compressed-thumb.img", "compressed-encrypted.img"]

    /// The bootloader decompresses the image as it installs it: then the slot lists another hash.
    @Test(arguments: compressed, [BootloaderMode.overwrite, .swapMove])
    func `a compressed image is known by the hash that it has when it is installed`(
        name: String,
        mode: BootloaderMode
    ) throws {
        let file = try MCUbootFile(SMPBench.fixture(name))
        var bench = try SMPBench()
        bench.plan.rules.mode = mode
        let job = try bench.job([[(nil, file)]])
        let results = try bench.updates([job, job])
        #expect(results.map(\.outcome) == [.succeeded, .alreadyCurrent], "\(results[0].message)")
        let stated = file.image.values.first { $0.kind == .decompressedHash }?.bytes
        #expect(results[0].running[0].hash == stated)
        #expect(stated != file.image.hash)
        #expect(results[1].bytesSent == 0)
        #expect(results[1].boots == results[0].boots)
    }

    @Test func `an encrypted image is known by its hash`() throws {
        let file = try MCUbootFile(SMPBench.fixture("encrypted.img"))
        let bench = try SMPBench()
        let job = try bench.job([[(nil, file)]])
        let results = try bench.updates([job, job])
        #expect(results.map(\.outcome) == [.succeeded, .alreadyCurrent], "\(results[0].message)")
        #expect(results[0].running[0].hash == file.image.hash)
    }

    @Test func `what runs already is left alone`() throws {
        let bench = try SMPBench()
        let job = try bench.job([[(nil, try sample(size: 5_000))]])
        let results = try bench.updates([job, job])
        #expect(results.map(\.outcome) == [.succeeded, .alreadyCurrent])
        #expect(results[1].bytesSent == 0)
        #expect(results[1].boots == results[0].boots)
    }

    @Test func `another build of the version that runs is reported by its hash, and installed`()
        throws
    {
        let bench = try SMPBench()
        let builds = try [1, 2].map { try sample(size: 5_000, seed: $0) }
        let results = try bench.updates(try builds.map { try bench.job([[(nil, $0)]]) })
        #expect(results.map(\.outcome) == [.succeeded, .succeeded])
        #expect(results[1].running[0].hash == builds[1].image.hash)
        #expect(results[1].bytesSent == builds[1].bytes.count)
    }

    @Test(arguments: [
        "buffers not told", "bootloader not told", "slots not told", "no echo", "version 1 only",
        "results everywhere", "closed lengths", "no reassembly", "whole words only", "one buffer",
        "no digest check", "erases first", "refuses parts", "no hashes listed",
        "no offsets told", "notifications of 3 bytes", "nothing told, version 1 only",
        "writes with response only",
    ])
    func `devices of many makes are updated`(make: String) throws {
        var bench = try SMPBench()
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
        case "refuses parts":
            bench.plan.rules.reassembles = false
            bench.plan.rules.refusesParts = true
        case "no hashes listed": bench.plan.rules.listsHashes = false
        case "no offsets told": bench.plan.rules.tellsOffsets = false
        case "writes with response only": bench.plan.rules.wantsRequests = true
        case "notifications of 3 bytes": bench.plan.rules.notificationLimit = 3
        case "nothing told, version 1 only":
            bench.plan.rules.tellsParameters = false
            bench.plan.rules.tellsBootloader = false
            bench.plan.rules.tellsSlots = false
            bench.plan.rules.hasEcho = false
            bench.plan.rules.isVersion1 = true
            bench.plan.rules.addsResult = true
        default: bench.plan.rules.erasesAsItGoes = false
        }
        let file = try sample(size: 30_001)
        let result = try bench.update([file])
        #expect(result.outcome == .succeeded, "\(result.message)")
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
        var bench = try SMPBench()
        bench.plan.faults = [.init(kind, times: times)]
        let file = try sample(size: 40_000)
        let result = try bench.update([file])
        if case .corrupted = kind, times == 2 {
            // The image was damaged again in the second transfer: the bootloader decides.
            #expect(result.failure == .wrongVersion)
            #expect(result.running[0].version == FirmwareVersion(1, 0))
            return
        }
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
    }

    @Test func `flash that spoils whatever it gets is no success`() throws {
        var bench = try SMPBench()
        bench.plan.faults = [.init(.corrupted(at: 10_000), times: 255)]
        let result = try bench.update([try sample(size: 40_000)])
        #expect(result.outcome == .failed, "\(result.message)")
        #expect(result.running[0].version == FirmwareVersion(1, 0))
        #expect(result.isConfirmed)
    }

    @Test func `a lost link is taken up where it broke`() throws {
        var bench = try SMPBench()
        bench.plan.faults = [.init(.linkLost(at: 30_000))]
        let file = try sample(size: 60_000)
        let result = try bench.update([file])
        #expect(result.outcome == .succeeded)
        #expect(result.interruptions == 1)
        #expect(
            result.bytesSent <= file.bytes.count + 3 * 2_475,
            "nothing is sent twice but what was on its way"
        )
    }

    @Test func `an erase that outlasts the link is waited for`() throws {
        var bench = try SMPBench()
        bench.plan.rules.erasesAsItGoes = false
        bench.plan.eraseTime = .milliseconds(85)
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.interruptions == 1)
    }

    @Test func `an erase of a minute is waited for on the same link`() throws {
        var bench = try SMPBench()
        bench.plan.rules.erasesAsItGoes = false
        bench.plan.link.supervisionTimeout = .seconds(100)
        bench.imageCapacity = 512 * 1024
        bench.plan.eraseTime = .milliseconds(470)
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.interruptions == 0)
    }

    @Test(arguments: [420, 4_200])
    func `a module that is lost in each erase fails with the setting of the host that may help`(
        milliseconds: Int
    ) throws {
        var bench = try SMPBench()
        bench.plan.link.supervisionTimeout = .milliseconds(milliseconds)
        bench.plan.rules.resetsInSilence = true
        bench.plan.faults = [.init(.restartInErase, times: 500)]
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.outcome == .failed)
        #expect(result.message.contains("without a byte more"), "\(result.message)")
        // A host whose links last long enough has no such setting to make.
        let helps = result.message.contains("ConnectionSupervisionTimeout = 1000 under [LE]")
        #expect(helps == (milliseconds == 420), "\(result.message)")
    }

    @Test func `a reset that only the supervision timeout shows is a restart all the same`() throws
    {
        var bench = try SMPBench()
        bench.plan.link.supervisionTimeout = .seconds(20)
        bench.plan.rules.resetsInSilence = true
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.interruptions == 0)
        #expect(result.boots == 2)
    }

    @Test
    func `a device at MTU 23 that tells no buffers is updated when it puts messages together`()
        throws
    {
        var bench = try SMPBench()
        bench.plan.link.mtu = 23
        bench.plan.rules.tellsParameters = false
        let file = try sample(size: 10_000)
        #expect(try bench.update([file]).outcome == .succeeded)
        bench.plan.rules.reassembles = false
        let refused = try bench.update([file])
        #expect(refused.outcome == .rejected, "\(refused.message)")
    }

    @Test func `a slow device with full buffers gets all of it`() throws {
        var bench = try SMPBench()
        bench.plan.messageTime = .milliseconds(70)
        bench.plan.eraseTime = .milliseconds(85)
        let result = try bench.update([try sample(size: 40_000)])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.dropped == 0)
    }

    // MARK: Images that are not kept

    @Test func `an image that is not confirmed in time is distinguished from one that is refused`()
        throws
    {
        var bench = try SMPBench()
        bench.plan.faults = [.init(.crashes)]
        let file = try sample(size: 10_000)
        let reverted = try bench.update([file])
        #expect(reverted.outcome == .rolledBack, "\(reverted.message)")
        #expect(reverted.failure == .rolledBack)
        #expect(reverted.running[0].version == FirmwareVersion(1, 0))
        #expect(reverted.isConfirmed)

        bench.plan.faults = []
        bench.plan.rules.key = try SMPBench.fixture("public-key.der")
        let refused = try bench.update([file])
        #expect(refused.outcome == .failed, "\(refused.message)")
        #expect(refused.failure == .wrongVersion)
        #expect(refused.message.contains("its bootloader refused the image and removed it"))
        #expect(refused.running[0].version == FirmwareVersion(1, 0))
    }

    @Test func `an unhealthy image is not confirmed, and the old one comes back`() throws {
        var bench = try SMPBench()
        bench.healthy = [try DepotBench.profile.test("state_of_charge", .atLeast, "1")]
        let result = try bench.update([try sample(size: 10_000)])
        #expect(result.outcome == .rolledBack, "\(result.message)")
        #expect(result.failure == .rolledBack)
        #expect(result.running[0].version == FirmwareVersion(1, 0))
        #expect(result.isConfirmed)
    }

    @Test(arguments: [
        (SMPModulePlan.Fault.Kind.flashFull(at: 8_000), FailureClass.device),
        (.refusesTest, .device), (.neverReturns, .noReturn), (.marksLost, .rolledBack),
        (.ignoresReset, .device),
    ])
    func `what cannot be overcome is named`(
        kind: SMPModulePlan.Fault.Kind,
        failure: FailureClass
    ) throws {
        var bench = try SMPBench()
        bench.plan.faults = [.init(kind, times: 255)]
        let result = try bench.update([try sample(size: 10_000)])
        #expect(result.failure == failure, "\(result.message)")
        #expect(result.running[0].version == FirmwareVersion(1, 0) || kind == .neverReturns)
    }

    @Test func `a device that does not confirm is no success`() throws {
        var bench = try SMPBench()
        bench.plan.faults = [.init(.refusesConfirm, times: 255)]
        let result = try bench.update([try sample(size: 10_000)])
        #expect(result.outcome == .failed, "\(result.message)")
        #expect(result.failure == .device)
        #expect(!result.isConfirmed)
    }

    // MARK: Bootloaders of other kinds

    @Test(arguments: [
        BootloaderMode.swapScratch, .swapMove, .swapOffset, .overwrite, .directXIP,
        .directXIPRevert, .ramLoad,
    ])
    func `every kind of bootloader gets its own way`(mode: BootloaderMode) throws {
        var bench = try SMPBench()
        bench.plan.rules.mode = mode
        let file = try sample(size: 20_000)
        let result = try bench.update([file])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.isConfirmed)
    }

    @Test(arguments: [BootloaderMode.directXIP, .ramLoad], [false, true])
    func `a bootloader that knows no marks is found out by trying`(
        mode: BootloaderMode,
        isVersion1: Bool
    ) throws {
        var bench = try SMPBench()
        bench.plan.rules.mode = mode
        bench.plan.rules.tellsBootloader = false
        bench.plan.rules.isVersion1 = isVersion1
        let file = try sample(size: 20_000)
        let result = try bench.update([file])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running[0].hash == file.image.hash)
    }

    @Test func `a device without hashes is left alone at the version that it runs`() throws {
        var bench = try SMPBench()
        bench.plan.rules.listsHashes = false
        bench.plan.versions = [FirmwareVersion(2, 0)]
        let result = try bench.update([try sample(size: 20_000)])
        #expect(result.outcome == .alreadyCurrent, "\(result.message)")
    }

    @Test func `where the highest version starts, an older one is not even sent`() throws {
        var bench = try SMPBench()
        bench.plan.rules.mode = .directXIP
        bench.plan.versions = [FirmwareVersion(2, 5)]
        let job = try bench.job([[(nil, try sample(size: 20_000))]], allowsDowngrade: true)
        let result = try bench.updates([job])[0]
        #expect(result.outcome == .rejected)
        #expect(result.message.contains("image 0 is 2.5.0 there, 2.0.0 would never run"))
        #expect(result.bytesSent == 0)
    }

    @Test(arguments: [BootloaderMode.directXIP, .directXIPRevert])
    func `of two files the one for the free slot is sent, update after update`(
        mode: BootloaderMode
    ) throws {
        var bench = try SMPBench()
        bench.plan.rules.mode = mode
        let files = try (2...4).map { number in
            try (0...1).map {
                try sample(
                    size: 9_000 + 100 * $0,
                    version: FirmwareVersion(UInt32(number), 0),
                    seed: UInt64(number * 2 + $0)
                )
            }
        }
        let results = try bench.updates(
            try files.map { try bench.job([[(0, $0[0]), (1, $0[1])]]) }
        )
        #expect(results.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
        let slots = zip(results, files).map { result, files in
            files.firstIndex { $0.image.hash == result.running[0].hash }
        }
        #expect(slots == [1, 0, 1], "slot after slot")
        let sent = zip(files, [1, 0, 1]).map { $0[$1].bytes.count }
        #expect(results.map(\.bytesSent) == sent, "only one of the two")
    }

    @Test func `a package for slots is no good for a module whose free slot it lacks`() throws {
        var bench = try SMPBench()
        bench.plan.rules.mode = .directXIP
        let job = try bench.job([[(0, try sample(size: 9_000))]])
        let result = try bench.updates([job])[0]
        #expect(result.outcome == .rejected)
        #expect(result.message.contains("no file of image 0 is made for slot 1"))
        #expect(result.bytesSent == 0)
    }

    // MARK: Several images

    @Test func `two images are installed by one restart, the main one marked last`() throws {
        var bench = try SMPBench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(1, 0)]
        let main = try sample(size: 30_000, seed: 2)
        let net = try sample(size: 10_000, version: FirmwareVersion(3, 1), seed: 3)
        let result = try bench.update([main, net])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running.map(\.hash) == [main.image.hash, net.image.hash])
        #expect(result.boots == 2)
    }

    @Test func `a second image that is not there yet is installed though the main one runs`()
        throws
    {
        var bench = try SMPBench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(1, 0)]
        let main = try sample(size: 10_000, seed: 2)
        let net = try sample(size: 5_000, version: FirmwareVersion(3, 1), seed: 3)
        let results = try bench.updates([
            try bench.job([[(nil, main)]]), try bench.job([[(nil, main)], [(nil, net)]]),
        ])
        #expect(results.map(\.outcome) == [.succeeded, .succeeded], "\(results[1].message)")
        #expect(results[1].running.map(\.hash) == [main.image.hash, net.image.hash])
        #expect(results[1].bytesSent == net.bytes.count)
    }

    @Test(arguments: [true, false])
    func `a module that does not list what its other core runs gets both, once`(tells: Bool) throws
    {
        var bench = try SMPBench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(1, 0)]
        bench.plan.rules.hidesCores = true
        bench.plan.rules.tellsSlots = tells
        let main = try sample(size: 30_000, seed: 2)
        let net = try sample(size: 10_000, version: FirmwareVersion(3, 1), seed: 3)
        let job = try bench.job([[(nil, main)], [(nil, net)]])
        let results = try bench.updates([job, job])
        #expect(results.map(\.outcome) == [.succeeded, .alreadyCurrent], "\(results[0].message)")
        #expect(results[0].running.map(\.hash) == [main.image.hash, net.image.hash])
        #expect(results[0].boots == 2)
        #expect(results[1].bytesSent == 0)
    }

    @Test func `a lost link between two images of a module with a hidden core loses none`() throws {
        for at in [3_000, 12_000, 25_000] {
            var bench = try SMPBench()
            bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(1, 0)]
            bench.plan.rules.hidesCores = true
            bench.plan.faults = [.init(.linkLost(at: at))]
            let main = try sample(size: 30_000, seed: 2)
            let net = try sample(size: 10_000, version: FirmwareVersion(3, 1), seed: 3)
            let result = try bench.update([main, net])
            #expect(result.outcome == .succeeded, "\(at): \(result.message)")
            #expect(result.interruptions > 0, "\(at)")
            #expect(result.running.map(\.hash) == [main.image.hash, net.image.hash], "\(at)")
        }
    }

    @Test(arguments: [true, false])
    func `an image that the module has no slot for is not sent`(tells: Bool) throws {
        let files = [try sample(size: 9_000), try sample(size: 9_000, seed: 9)]
        var bench = try SMPBench()
        bench.plan.rules.tellsSlots = tells
        let result = try bench.update(files)
        #expect(result.outcome == .rejected)
        #expect(result.message.contains("the module has no slot for image 1"))
        #expect(result.bytesSent == 0)
        #expect(result.boots == 1)
    }

    @Test func `an image beyond its slot is not sent`() throws {
        var bench = try SMPBench()
        bench.imageCapacity = 16_384
        let result = try bench.update([try sample(size: 15_000)])
        #expect(result.outcome == .rejected)
        #expect(result.message.contains("its slot takes 12288"))
        #expect(result.bytesSent == 0)
    }

    @Test func `an image that needs another one is not sent without it`() throws {
        let file = try SMPBench.file("needs-net.img")
        var bench = try SMPBench()
        bench.plan.versions = [FirmwareVersion(1, 0), FirmwareVersion(2, 9)]
        let alone = try bench.update([file])
        #expect(alone.outcome == .rejected)
        #expect(alone.message.contains("image 0 needs image 1 in version 3.0.0 or newer"))
        #expect(alone.bytesSent == 0)
        let both = try bench.update([file, try SMPBench.file("net.img")])
        #expect(both.outcome == .succeeded, "\(both.message)")
    }

    // MARK: Images of imgtool

    @Test(arguments: ["tiny.img", "signed.img", "large.img"])
    func `images of imgtool are installed`(name: String) throws {
        let file = try SMPBench.file(name)
        var bench = try SMPBench()
        if name == "signed.img" { bench.plan.rules.key = try SMPBench.fixture("public-key.der") }
        let result = try bench.update([file])
        #expect(result.outcome == .succeeded, "\(result.message)")
        #expect(result.running[0].hash == file.image.hash)
        #expect(result.running[0].version == file.image.version)
    }

    @Test func `an image with a key that the module does not know is refused`() throws {
        var bench = try SMPBench()
        bench.plan.rules.key = try SMPBench.fixture("public-key.der")
        let result = try bench.update([try SMPBench.file("wrong-key.img")])
        #expect(result.outcome == .failed)
        #expect(result.message.contains("refused"), "\(result.message)")
    }

    /// As after a fault of this program: the checks before the radio have passed the file.
    @Test(arguments: [nil, "public-key.der"])
    func `a damaged file that gets as far as the radio is not a success`(key: String?) throws {
        let name = key == nil ? "tiny.img" : "signed.img"
        let whole = try SMPBench.fixture(name)
        var bench = try SMPBench()
        bench.imageCapacity = 16_384
        bench.plan.rules.key = try key.map { try SMPBench.fixture($0) }
        let good = try SMPBench.file(name)
        for byte in whole.indices {
            var bytes = whole
            bytes[byte] ^= 1 << (byte % 8)
            let job = UpdateJob(
                name: "light",
                digest: good.digest,
                version: good.image.version,
                family: .mcumgr,
                type: nil,
                variant: nil,
                allowsDowngrade: false,
                parts: [FirmwarePart(firmware: bytes)]
            )
            let result = try bench.updates([job])[0]
            #expect(result.outcome != .succeeded, "byte \(byte): \(result.message)")
            #expect(result.running[0].version == FirmwareVersion(1, 0), "byte \(byte)")
        }
    }
}
