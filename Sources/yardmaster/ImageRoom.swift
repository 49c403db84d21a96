import Commands
import Digests
import Domain
import Images
import Journal
import Manifest
import Protocols
import Rollout
import Sessions

/// Checks the images of a plan, which are in the store, before any radio is used.
struct ImageRoom {
    let store: ImageStore

    /// The firmware in an image, after everything that can be checked without a module.
    func parts(of image: PlannedImage) async throws(CommandError) -> ([FirmwarePart], ByteCount) {
        guard
            let request = ImageRequest(name: image.name, digest: image.digest, size: image.size)
        else {
            throw CommandError(
                .manifest,
                "\(image.place): the image \(image.name) is larger than any module takes"
            )
        }
        let bytes: [UInt8]
        do throws(ImageError) {
            bytes = try await store.acquire(request, from: Source(image: image)).bytes()
        } catch { throw Self.refusal(error, image) }
        let contents = try Self.unpacked(image, bytes)
        return (try Self.parts(of: image, in: contents), ByteCount(of: bytes))
    }

    /// For an image that somebody took out of the store after it was fetched.
    private struct Source: Images.ImageSource {
        let image: PlannedImage

        func deliver(to sink: inout ImageSink) throws(ImageError) {
            guard case .file(let file) = image.source else {
                throw .missing(image.digest.description)
            }
            try LocalFile(path: file.path).deliver(to: &sink)
        }
    }

    private static func unpacked(
        _ image: PlannedImage,
        _ bytes: [UInt8]
    ) throws(CommandError) -> [UInt8] {
        guard let packing = image.packing else { return bytes }
        do throws(GzipError) {
            return try Gzip.unpack(bytes, size: packing.size, digest: packing.digest)
        } catch { throw distrust(image, error.description) }
    }

    private static func parts(
        of image: PlannedImage,
        in bytes: [UInt8]
    ) throws(CommandError) -> [FirmwarePart] {
        if image.fits.family == .mcumgr { return try mcubootParts(of: image, in: bytes) }
        let package: DFUPackage
        do throws(DFUPackageError) {
            package = try DFUPackage(zip: bytes)
        } catch {
            throw distrust(image, error.description)
        }
        var parts: [FirmwarePart] = []
        for part in package.parts {
            let packet: InitPacket
            do throws(InitPacketError) {
                packet = try InitPacket(part.initPacket)
            } catch { throw distrust(image, error.description) }
            guard part.kind.fits(packet.type) else {
                throw distrust(
                    image,
                    "its part \(part.kind.rawValue) has the init packet of another kind of image: "
                        + packet.type.words
                )
            }
            guard packet.firmwareSize == part.firmware.count else {
                throw distrust(
                    image,
                    "its init packet is for \(packet.firmwareSize) bytes of firmware, there are "
                        + "\(part.firmware.count)"
                )
            }
            guard SHA256.digest(of: part.firmware) == packet.digest else {
                throw distrust(image, "its firmware is not the one its init packet describes")
            }
            if part.kind == .application, let packed = packet.firmwareVersion,
                let wanted = image.version.packed, packed != wanted
            {
                throw distrust(
                    image,
                    "it holds version \(FirmwareVersion(packed: packed)), the manifest says "
                        + "\(image.version)"
                )
            }
            parts.append(FirmwarePart(initPacket: part.initPacket, firmware: part.firmware))
        }
        return parts
    }

    /// The images of a file for MCUboot: the main one comes last.
    private static func mcubootParts(
        of image: PlannedImage,
        in bytes: [UInt8]
    ) throws(CommandError) -> [FirmwarePart] {
        let inspected: InspectedImage
        do throws(InspectionError) {
            inspected = try InspectedImage(bytes)
        } catch {
            throw distrust(image, (error.place.map { "\($0): " } ?? "") + error.description)
        }
        var files: [Int: [(slot: Int?, file: MCUbootFile)]] = [:]
        switch inspected {
        case .mcuboot(let file): files[0] = [(nil, file)]
        case .ncs(let package):
            for part in package.parts {
                files[part.image, default: []].append((part.slot, part.file))
            }
        case .secureDFU:
            throw distrust(image, "it is a Secure DFU package, which no mcumgr module takes")
        }
        var parts: [FirmwarePart] = []
        var main: MCUbootFile?
        for (number, variants) in files.sorted(by: { $0.key > $1.key }) {
            guard variants.count == 1 || variants.allSatisfy({ $0.slot != nil }) else {
                throw distrust(
                    image,
                    "it holds several files for image \(number) of the module, and does not say of "
                        + "each for which slot it is"
                )
            }
            guard Set(variants.map(\.file.image.version)).count == 1 else {
                throw distrust(
                    image,
                    "its files for the slots of image \(number) are of different versions"
                )
            }
            main = variants.first?.file
            let part = FirmwarePart(
                image: number,
                variants: variants.map {
                    FirmwarePart.Variant(slot: $0.slot, firmware: $0.file.bytes)
                }
            )
            parts += part.map { [$0] } ?? []
        }
        guard let main, main.image.version == image.version else {
            let held = main?.image.version.description ?? "none"
            throw distrust(image, "it holds version \(held), the manifest says \(image.version)")
        }
        return parts
    }

    private static func distrust(_ image: PlannedImage, _ cause: String) -> CommandError {
        CommandError(
            .trust,
            "the image \(image.name) cannot be used",
            because: [cause],
            hint: "get the package anew from its maker; \(image.place) names it"
        )
    }

    private static func refusal(_ error: ImageError, _ image: PlannedImage) -> CommandError {
        let kind: CommandError.Kind =
            switch error {
            case .missing, .isDirectory, .notAFile, .notPermitted, .cannotRead: .inputMissing
            case .tooLarge, .tooLong, .wrongSize, .wrongDigest, .damaged: .trust
            case .full, .readOnly, .cannotWrite: .cannotWrite
            case .cancelled: .internal
            }
        return CommandError(
            kind,
            "the image \(image.name) cannot be had",
            because: [error.description],
            hint: "it is named at \(image.place)"
        )
    }
}
