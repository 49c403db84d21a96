import Base
import Families
import Glibc
import Images
import Radio
import Rollout
import Simulation
import Store
import Testing

/// Packages made by the vendor's tool, from the file to the module that runs them.
@Suite struct PackageTests {
    private static func package(_ name: String) throws -> DFUPackage {
        let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return try DFUPackage(zip: try bytes(of: "/\(here)/ImagesTests/Fixtures/\(name)"))
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "rb"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    private static func job(_ package: DFUPackage) throws -> UpdateJob {
        let last = try #require(package.parts.last)
        let version = try #require(try InitPacket(last.initPacket).version)
        return UpdateJob(
            name: "package",
            digest: SHA256.digest(of: last.firmware),
            version: version,
            family: .comodule,
            target: last.kind == .application ? .secondary : .bootloader,
            type: nil,
            variant: nil,
            allowsDowngrade: true,
            parts: package.parts.map {
                FirmwarePart(initPacket: $0.initPacket, firmware: $0.firmware)
            }
        )
    }

    @Test(arguments: ["app.zip", "bl.zip", "all.zip", "signed.zip"])
    func `a package is installed part by part and its version read back`(name: String) throws {
        let job = try Self.job(try Self.package(name))
        let bench = DepotBench(
            seed: 1,
            [DepotBench.module(1) { $0.version = FirmwareVersion(0, 1) }]
        )
        let report = try bench.run([.update(job)])
        #expect(report.result.counts == [.succeeded: 1], "\(report.record(1)?.end as Any)")
        #expect(report.record(1)?.versionAfter == job.version)
    }

    @Test func `a package of several parts is finished wherever its link is lost`() throws {
        let job = try Self.job(try Self.package("all.zip"))
        for number in stride(from: 40, through: 160, by: 3) {
            let module = DepotBench.module(1) {
                $0.version = FirmwareVersion(0, 1)
                $0.faults = [.init(.breaks(.linkLost, atExchange: number, isBefore: false))]
            }
            let report = try DepotBench(seed: 1, [module]).run([.update(job)])
            #expect(report.result.counts == [.succeeded: 1], "exchange \(number)")
        }
    }

    private static func key() throws -> P256Key {
        let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return try #require(
            P256Key(encoded: try bytes(of: "/\(here)/ImagesTests/Fixtures/signer.der"))
        )
    }

    /// Whether a bootloader with the signer's public key accepts and runs this image.
    private func isTaken(_ initPacket: [UInt8], _ firmware: [UInt8]) throws -> Bool {
        var rules = SecureDFUTarget<VolatileMemory>.Rules()
        rules.key = try Self.key()
        var target = SecureDFUTarget(
            rules: rules,
            memory: VolatileMemory(capacity: 4_096),
            sha256: SHA256.digest
        )
        var machine = SecureDFUUpload(
            FirmwarePart(initPacket: initPacket, firmware: firmware),
            settings: try #require(UploadSettings(maximumLength: 244, pace: 0))
        )
        return upload(&machine, to: &target, initPacket, firmware)
    }

    @Test func `a bootloader takes what its maker has signed, and nobody else's`() throws {
        let part = try #require(try Self.package("signed.zip").parts.first)
        #expect(try isTaken(part.initPacket, part.firmware))
        let other = try #require(try Self.package("wrong-signer.zip").parts.first)
        #expect(other.firmware == part.firmware)
        #expect(try !isTaken(other.initPacket, other.firmware))
        var unsigned = try InitPacket(part.initPacket)
        unsigned.signature = nil
        #expect(try !isTaken(unsigned.serialized, part.firmware))
    }

    @Test func `an init packet with one flipped bit is refused by its signature`() throws {
        let part = try #require(try Self.package("signed.zip").parts.first)
        for bit in 0..<part.initPacket.count * 8 {
            var flipped = part.initPacket
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(try !isTaken(flipped, part.firmware), "bit \(bit) of the init packet")
        }
    }

    @Test func `firmware with a flipped bit in any byte is refused by its digest`() throws {
        let part = try #require(try Self.package("signed.zip").parts.first)
        for byte in part.firmware.indices {
            var flipped = part.firmware
            flipped[byte] ^= 1 << (byte % 8)
            #expect(try !isTaken(part.initPacket, flipped), "byte \(byte) of the firmware")
        }
    }

    /// The digest in the manifest rejects all of them; this tests the checks behind it.
    @Test func `no flipped bit of a package file gets to a module`() throws {
        let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let whole = try Self.bytes(of: "/\(here)/ImagesTests/Fixtures/signed.zip")
        let parts = try DFUPackage(zip: whole).parts
        var refused = 0
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(SHA256.digest(of: bytes) != SHA256.digest(of: whole))
            guard (try? InspectedImage(bytes)) != nil, let found = try? DFUPackage(zip: bytes)
            else {
                refused += 1
                continue
            }
            // Changed times and similar data in the archive's own tables: the bytes to send are
            // unchanged.
            #expect(found.parts == parts, "bit \(bit)")
        }
        #expect(refused > whole.count * 8 * 8 / 10, "\(refused) of \(whole.count * 8)")
    }

    @Test func `a module whose bootloader knows another signer keeps what it has`() throws {
        let job = try Self.job(try Self.package("wrong-signer.zip"))
        let key = try Self.key()
        let report = try DepotBench(
            seed: 1,
            [
                DepotBench.module(1) {
                    $0.version = FirmwareVersion(0, 1)
                    $0.publicKey = key.encoded
                }
            ]
        ).run([.update(job)])
        #expect(report.result.counts == [.failed: 1])
        #expect(report.record(1)?.end?.failure == .integrity)
        #expect(report.versions == [FirmwareVersion(0, 1)])
        #expect(report.record(1)?.inBootloader == report.inBootloader[0])
    }

    private func upload(
        _ machine: inout SecureDFUUpload,
        to target: inout SecureDFUTarget<VolatileMemory>,
        _ initPacket: [UInt8],
        _ firmware: [UInt8]
    ) -> Bool {
        var now = Moment(nanoseconds: 0)
        var heard: [[UInt8]] = []
        var isRunning = false
        target.notificationsSwitched(on: true)
        func note(_ actions: [SecureDFUAction]) {
            for action in actions {
                switch action {
                case .notify(let bytes): heard.append(bytes)
                case .restart(let activate): isRunning = activate
                case .erase: continue
                }
            }
        }
        var action = machine.begin(at: now)
        for _ in 0..<10_000 {
            now = now.advanced(by: .milliseconds(1))
            switch action {
            case .write(let request):
                note(target.controlPointWritten(request.bytes) ?? [])
                action = .wait
            case .send(let range, let what):
                let bytes = what == .initPacket ? initPacket : firmware
                for start in stride(from: range.lowerBound, to: range.upperBound, by: 244) {
                    let end = min(start + 244, range.upperBound)
                    note(target.packetWritten(Array(bytes[start..<end])))
                }
                action = machine.packetsSent(at: now)
            case .wait:
                if heard.isEmpty {
                    now = machine.deadline ?? now
                    action = machine.timeout(at: now)
                } else {
                    action = machine.response(heard.removeFirst(), at: now)
                }
            case .pause(let moment):
                now = moment
                action = machine.pauseOver(at: now)
            case .ended: return isRunning
            }
        }
        return false
    }
}
