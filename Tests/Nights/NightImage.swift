import Base
import Families
import Images
import Radio
import Rollout
import Samples
import Simulation

/// One image of the stories, in all its releases, for one or more kinds of modules.
struct NightImage: Sendable {
    let name: String
    let kinds: [NightStory.Kind]
    let family: Family
    /// The hardware in the manifest, besides the family.
    var hardware = ""
    let versions: [FirmwareVersion]
    let parts: @Sendable (FirmwareVersion) throws -> [FirmwarePart]

    func fits(_ kind: NightStory.Kind) -> Bool { kinds.contains(kind) }

    static func of(_ kind: NightStory.Kind) -> NightImage? { all.first { $0.fits(kind) } }

    func version(_ release: Int) -> FirmwareVersion { versions[min(release, versions.count - 1)] }

    func digest(_ release: Int) -> SHA256Digest {
        SHA256.digest(of: Array("\(name) \(version(release))".utf8))
    }

    /// The parts by image and release.
    private static let made: [String: [[FirmwarePart]]] = {
        var made: [String: [[FirmwarePart]]] = [:]
        for image in all {
            made[image.name] = image.versions.map { (try? image.parts($0)) ?? [] }
        }
        return made
    }()

    func parts(_ release: Int) -> [FirmwarePart] {
        Self.made[name]?[min(release, versions.count - 1)] ?? []
    }

    /// The number of the first release with a version; nil when there is none.
    static func release(_ version: FirmwareVersion, of name: String) -> Int? {
        all.first { $0.name == name }?.versions.firstIndex(of: version)
    }

    /// The image with a digest, for the payment of a debt.
    static func job(_ digest: SHA256Digest, name: String, target: String) -> UpdateJob? {
        for image in all {
            for release in image.versions.indices where image.digest(release) == digest {
                return UpdateJob(
                    name: name,
                    digest: digest,
                    version: image.version(release),
                    family: image.family,
                    target: ModulePart(rawValue: target) ?? .secondary,
                    type: nil,
                    variant: nil,
                    allowsDowngrade: true,
                    parts: image.parts(release)
                )
            }
        }
        return nil
    }

    // MARK: The images

    private static func bytes(_ count: Int, _ version: FirmwareVersion) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(version.packed ?? 0) << 8 ^ UInt64(count))
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private static func secure(_ version: FirmwareVersion) -> [FirmwarePart] {
        let firmware = bytes(3_000, version)
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(firmware.count),
            digest: SHA256.digest(of: firmware),
            firmwareVersion: version.packed
        )
        return [FirmwarePart(initPacket: packet.serialized, firmware: firmware)]
    }

    private static func legacy(_ version: FirmwareVersion) -> [FirmwarePart] {
        let firmware = bytes(3_000, version)
        let packet = LegacyInitPacket(
            deviceType: 0x52,
            version: version.packed,
            proof: .crc(LegacyInitPacket.checksum(of: firmware))
        )
        return [
            FirmwarePart(
                initPacket: packet.bytes,
                firmware: firmware,
                image: Int(LegacyImageType.application.rawValue)
            )
        ]
    }

    /// An application image for an ESP32-C3.
    private static func application(_ version: FirmwareVersion) -> [FirmwarePart] {
        func text(_ text: String, _ length: Int) -> [UInt8] {
            Array(text.utf8) + [UInt8](repeating: 0, count: length - text.utf8.count)
        }
        var body = UInt32(0xABCD_5432).littleBytes + UInt32(0).littleBytes
        body += [UInt8](repeating: 0, count: 8) + text(version.description, 32)
        body += text("sensor", 32)
        body += [UInt8](repeating: 0, count: 256 - body.count) + bytes(5_000, version)
        var image: [UInt8] = [0xE9, 1, 2, 0x2F, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]
        image += [UInt8](repeating: 0, count: 8)
        image += UInt32(0x3C00_0020).littleBytes + UInt32(body.count).littleBytes + body
        image += [UInt8](repeating: 0, count: 15 - image.count % 16)
        return [FirmwarePart(firmware: image + [body.reduce(0xEF) { $0 ^ $1 }])]
    }

    static let all: [NightImage] = [
        NightImage(
            name: "city",
            kinds: [.bike, .van],
            family: .comodule,
            hardware: ", type: 17, variant: 0",
            versions: [FirmwareVersion(4, 12), FirmwareVersion(4, 13), FirmwareVersion(4, 14)],
            parts: secure
        ),
        NightImage(
            name: "light",
            kinds: [.light],
            family: .mcumgr,
            versions: [FirmwareVersion(2, 0), FirmwareVersion(2, 1), FirmwareVersion(2, 2)],
            parts: { version in
                let file = try MCUbootFile.sample(size: 3_000, version: version)
                return [FirmwarePart(image: 0, variants: [.init(firmware: file.bytes)])]
                    .compactMap(\.self)
            }
        ),
        NightImage(
            name: "tag",
            kinds: [.tag],
            family: .nordic,
            versions: [FirmwareVersion(4, 12), FirmwareVersion(4, 13), FirmwareVersion(4, 14)],
            parts: secure
        ),
        NightImage(
            name: "old-tag",
            kinds: [.oldTag],
            family: .nordic,
            versions: [FirmwareVersion(4, 12), FirmwareVersion(4, 13), FirmwareVersion(4, 14)],
            parts: legacy
        ),
        NightImage(
            name: "sensor",
            kinds: [.sensor],
            family: .esp,
            versions: [FirmwareVersion(2, 7, 31), FirmwareVersion(2, 8), FirmwareVersion(2, 9)],
            parts: application
        ),
    ]
}
