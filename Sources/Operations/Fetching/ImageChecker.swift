import Base
package import Commands
import Images
package import Manifest
package import Radio
import Rollout
import Store

/// Checks the images of a plan, which are in the store, before any radio work.
package struct ImageChecker {
    let store: ImageStore

    /// The firmware in an image, after all checks that are possible without a module.
    func content(
        of image: PlannedImage
    ) async throws(CommandError) -> (ImageContent, ByteCount) {
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
        return (try Self.content(of: image, bytes), ByteCount(of: bytes))
    }

    /// The content of an image's bytes, after all checks that are possible without a module.
    package static func content(
        of image: PlannedImage,
        _ bytes: [UInt8]
    ) throws(CommandError) -> ImageContent {
        let content: ImageContent
        let unpacked = try Self.unpacked(image, bytes)
        do throws(InspectionError) {
            content = try InspectedImage(unpacked).content()
        } catch {
            throw Self.distrust(image, (error.place.map { "\($0): " } ?? "") + error.description)
        }
        if let cause = content.mismatch(with: image.version) {
            throw Self.distrust(image, cause)
        }
        return content
    }

    /// The image that another rollout began to send, if the store still has it.
    func image(of debt: Debt, family: Family) async -> UpdateJob? {
        guard let version = debt.version,
            let request = ImageRequest(name: debt.title, digest: debt.image, size: nil)
        else { return nil }
        do throws(ImageError) {
            let bytes = try await store.acquire(request, from: Absent()).bytes()
            guard let content = try? InspectedImage(bytes).content() else { return nil }
            return UpdateJob(
                name: debt.name,
                digest: debt.image,
                version: version,
                family: family,
                target: ModulePart(rawValue: debt.target) ?? .secondary,
                type: nil,
                variant: nil,
                allowsDowngrade: true,
                parts: content.parts
            )
        } catch { return nil }
    }

    /// A source for an image that must be in the store already.
    private struct Absent: ImageReading {
        func deliver(to sink: inout ImageSink) throws(ImageError) {
            throw .missing("the store")
        }
    }

    /// A source for an image that was removed from the store after it was fetched.
    private struct Source: ImageReading {
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

    /// The reasons why images must not be sent to the vehicles that a plan names for them; each
    /// wrong pair is listed once.
    static func check(
        _ contents: [String: ImageContent],
        of plan: FrozenPlan,
        for vehicles: [PlannedVehicle],
        _ profiles: ProfileLibrary
    ) throws(CommandError) {
        var wrong: [WrongPair] = []
        for vehicle in vehicles {
            guard let profile = profiles.profile(vehicle.profile, of: vehicle.family) else {
                continue
            }
            for update in vehicle.steps.compactMap(\.update) {
                for name in update.images {
                    // A vehicle of another family than the image's is rejected elsewhere.
                    guard let image = plan.image(named: name), let content = contents[name],
                        image.fits.family == vehicle.family
                    else { continue }
                    if let cause = content.mismatch(with: update.part, of: profile) {
                        WrongPair.note(image, vehicle, cause, in: &wrong)
                    } else if content.isConfirmed, !update.allowsConfirmed {
                        WrongPair.note(image, vehicle, Self.isConfirmed, in: &wrong)
                    }
                }
            }
        }
        guard let first = wrong.first else { return }
        let isOne = wrong.allSatisfy {
            $0.image.name == first.image.name && $0.vehicles == first.vehicles
        }
        throw CommandError(
            .trust,
            isOne
                ? "the image \(first.image.name) must not go to \(first.vehicles)"
                : "images must not go to the vehicles that they are for",
            because: wrong.map {
                isOne ? $0.cause : "\($0.image.name) to \($0.vehicles): \($0.cause)"
            },
            hint: wrong.allSatisfy { $0.cause == Self.isConfirmed }
                ? "sign it without --confirm, or write `confirmed: allow` beside `to`; "
                    + "\(first.image.place) names it"
                : "name another image or another `part`; \(first.image.place) names it"
        )
    }

    private static let isConfirmed =
        "it is already confirmed, so it would run permanently without a trial"

    /// An image and the vehicles that must not get it, for one reason.
    private struct WrongPair {
        let image: PlannedImage
        let cause: String
        /// The first of these vehicles.
        let vehicle: VehicleID
        var others: Set<VehicleID> = []

        var vehicles: String {
            "vehicle \(vehicle)" + (others.isEmpty ? "" : " and \(others.count) more")
        }

        static func note(
            _ image: PlannedImage,
            _ vehicle: PlannedVehicle,
            _ cause: String,
            in pairs: inout [WrongPair]
        ) {
            let known = pairs.firstIndex { $0.image.name == image.name && $0.cause == cause }
            guard let known else {
                pairs.append(WrongPair(image: image, cause: cause, vehicle: vehicle.id))
                return
            }
            if pairs[known].vehicle != vehicle.id { pairs[known].others.insert(vehicle.id) }
        }
    }

    private static func distrust(_ image: PlannedImage, _ cause: String) -> CommandError {
        CommandError(
            .trust,
            "the image \(image.name) cannot be used",
            because: [cause],
            hint: "get the file again from its maker; \(image.place) names it"
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
            "the image \(image.name) cannot be fetched",
            because: [error.description],
            hint: "it is named at \(image.place)"
        )
    }
}
