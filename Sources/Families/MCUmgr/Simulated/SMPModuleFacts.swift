import Domain
import Protocols
import Wire

/// The facts that a simulated `mcumgr` module keeps over a restart and over the end of our process.
struct SMPModuleFacts: Equatable {
    var server: SMPServerFacts
    /// While it restarts: the time when it is back.
    var wakes: Moment?
    var isDead = false
    var bootCount: UInt32 = 1
    var addressGeneration: UInt8 = 0
    /// How often each fault of the plan has happened.
    var faultCounts: [UInt8]
    /// A digest of the module's initial state in the plan.
    var baseline: UInt32

    init(plan: SMPModulePlan) {
        let images = plan.versions.enumerated().map { number, version in
            SMPServerFacts.Image(
                active: SMPServerFacts.Content(
                    version: version,
                    hash: Self.hash(of: version, image: number)
                )
            )
        }
        server = SMPServerFacts(images: images, values: plan.values)
        faultCounts = [UInt8](repeating: 0, count: min(plan.faults.count, 255))
        baseline = Self.baseline(of: plan)
    }

    /// The initial image exists nowhere: its hash is invented and always the same.
    private static func hash(of version: FirmwareVersion, image: Int) -> [UInt8] {
        var random = SplitMix64(
            seed: UInt64(CRC32.of(Array("\(image) \(version)".utf8)))
        )
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// Changes when the depot file gives the module another initial state.
    static func baseline(of plan: SMPModulePlan) -> UInt32 {
        let values = plan.values.size == 0 ? [] : Self.bytes(plan.values)
        return CRC32.of(Array("mcumgr \(plan.serial) \(plan.versions)".utf8) + values)
    }
}

// MARK: In flash

extension SMPModuleFacts {
    var bytes: [UInt8] {
        var bytes = baseline.littleBytes + [isDead ? 1 : 0]
        bytes += UInt64(bitPattern: wakes?.nanoseconds ?? -1).littleBytes
        bytes += bootCount.littleBytes + [addressGeneration]
        bytes += [UInt8(faultCounts.count)] + faultCounts
        bytes += [UInt8(server.images.count)]
        for image in server.images {
            bytes += Self.bytes(image.active)
            bytes += [
                image.isConfirmed ? 1 : 0, UInt8(image.activeSlot), image.otherHasRun ? 1 : 0,
                image.otherWasTried ? 1 : 0, image.mark.rawValue, image.markedAs,
                image.other == nil ? 0 : 1,
            ]
            if let other = image.other { bytes += Self.bytes(other) }
        }
        if let upload = server.upload {
            bytes += [1, UInt8(upload.image), UInt8(upload.sha.count)] + upload.sha
            bytes += [upload.length, upload.offset, upload.erasedTo].flatMap {
                UInt32($0).littleBytes
            }
        } else {
            bytes += [0]
        }
        return bytes + Self.bytes(server.values)
    }

    /// Statistics are not saved: they are the plan's, because a device counts from its start.
    private static func bytes(_ values: SMPServerValues) -> [UInt8] {
        var bytes: [UInt8] = []
        for map in [values.settings, values.saved, values.files] {
            bytes.append(UInt8(clamping: map.count))
            for (key, value) in map.sorted(by: { $0.key < $1.key }).prefix(255) {
                bytes.append(UInt8(clamping: key.utf8.count))
                bytes += Array(key.utf8.prefix(255))
                bytes += UInt16(clamping: value.count).littleBytes
                bytes += value
            }
        }
        return bytes
    }

    private static func values(
        _ reader: inout ByteReader
    ) throws(OutOfBytes) -> SMPServerValues {
        var values = SMPServerValues()
        values.settings = try map(&reader)
        values.saved = try map(&reader)
        values.files = try map(&reader)
        return values
    }

    private static func map(_ reader: inout ByteReader) throws(OutOfBytes) -> [String: [UInt8]] {
        var map: [String: [UInt8]] = [:]
        for _ in 0..<(try reader.byte()) {
            let key = String(decoding: try reader.bytes(Int(try reader.byte())), as: UTF8.self)
            map[key] = try reader.bytes(Int(try reader.little(UInt16.self)))
        }
        return map
    }

    private static func bytes(_ content: SMPServerFacts.Content) -> [UInt8] {
        let version = content.version
        return version.major.littleBytes + version.minor.littleBytes
            + version.patch.littleBytes + version.build.littleBytes
            + [UInt8(content.hash.count)] + content.hash
    }

    /// Nil when the bytes were saved by another layout.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(OutOfBytes) {
            baseline = try reader.little()
            isDead = try reader.byte() == 1
            let wakes = Int64(bitPattern: try reader.little(UInt64.self))
            self.wakes = wakes < 0 ? nil : Moment(nanoseconds: wakes)
            bootCount = try reader.little()
            addressGeneration = try reader.byte()
            faultCounts = try reader.bytes(Int(try reader.byte()))
            let count = try reader.byte()
            guard count > 0 else { return nil }
            var images: [SMPServerFacts.Image] = []
            for _ in 0..<count {
                var image = SMPServerFacts.Image(active: try Self.content(&reader))
                image.isConfirmed = try reader.byte() == 1
                image.activeSlot = Int(try reader.byte() & 1)
                image.otherHasRun = try reader.byte() == 1
                image.otherWasTried = try reader.byte() == 1
                guard let mark = SMPServerFacts.Mark(rawValue: try reader.byte()) else {
                    return nil
                }
                image.mark = mark
                image.markedAs = try reader.byte()
                if try reader.byte() == 1 { image.other = try Self.content(&reader) }
                images.append(image)
            }
            server = SMPServerFacts(images: images)
            if try reader.byte() == 1 { server.upload = try Self.upload(&reader) }
            server.values = try Self.values(&reader)
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }

    private static func upload(
        _ reader: inout ByteReader
    ) throws(OutOfBytes) -> SMPServerFacts.Upload {
        let image = Int(try reader.byte())
        let sha = try reader.bytes(Int(try reader.byte()))
        var upload = SMPServerFacts.Upload(
            image: image,
            length: Int(try reader.little(UInt32.self)),
            sha: sha
        )
        upload.offset = Int(try reader.little(UInt32.self))
        upload.erasedTo = Int(try reader.little(UInt32.self))
        return upload
    }

    private static func content(
        _ reader: inout ByteReader
    ) throws(OutOfBytes) -> SMPServerFacts.Content {
        let version = FirmwareVersion(
            try reader.little(),
            try reader.little(),
            try reader.little(),
            build: try reader.little()
        )
        return SMPServerFacts.Content(
            version: version,
            hash: try reader.bytes(Int(try reader.byte()))
        )
    }
}
