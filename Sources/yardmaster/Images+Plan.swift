import Commands
import Digests
import Domain
import Images
import Journal
import Manifest
import Rollout
import Sessions
import Wire

/// Fetches and checks the images of a plan before any radio is used.
struct ImageRoom {
    let store: ImageStore

    /// The firmware in an image, after everything that can be checked without a module.
    func parts(of image: PlannedImage) async throws(CommandError) -> ([FirmwarePart], ByteCount) {
        guard case .file(let file) = image.source else {
            throw CommandError(.unavailable, "images are not fetched over the network yet")
        }
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
            bytes = try await store.acquire(request, from: LocalFile(path: file.path)).bytes()
        } catch { throw Self.refusal(error, image) }
        return (try Self.parts(of: image, in: bytes), ByteCount(of: bytes))
    }

    private static func parts(
        of image: PlannedImage,
        in bytes: [UInt8]
    ) throws(CommandError) -> [FirmwarePart] {
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
