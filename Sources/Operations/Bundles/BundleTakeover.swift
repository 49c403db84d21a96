import Base
package import Commands
import Families
import Images
import Manifest
import Radio
import Store

/// Takes a bundle over at a depot: all of it or nothing.
///
/// It is verified before anything is written. Then everything is written into a hidden folder, and
/// moved to its place in an order that allows the next attempt to finish after an interruption at
/// any moment: images, the documents that verify them, files, the manifest.
package struct BundleTakeover {
    let bundle: BundleFile
    let contents: BundlePlan
    let state: String
    /// The wish to go back to an older bundle.
    private let older: OlderBundle?

    package init(
        bundle: BundleFile,
        contents: BundlePlan,
        state: String,
        older: OlderBundle? = nil
    ) {
        self.older = older
        self.bundle = bundle
        self.contents = contents
        self.state = state
    }

    private var plan: FrozenPlan { contents.plan }

    /// Verifies each image by the rules of this depot; nothing is kept.
    package func judge() async throws(CommandError) -> [TrustVerdict] {
        try checkPrograms()
        _ = try record.check(mayBeOlder: older != nil)
        // Also unsigned images: each must be present with the promised digest and size.
        for image in plan.images { _ = try bytes(of: image) }
        return try await verdicts(keeps: false)
    }

    private var record: BundleRecord {
        BundleRecord(bundle: bundle, rollout: plan.name, state: state)
    }

    /// A manifest decides which programs run here: somebody whose key this depot knows must have signed it.
    private func checkPrograms() throws(CommandError) {
        let programs = plan.programs
        guard !programs.isEmpty, bundle.signers.isEmpty else { return }
        throw CommandError(
            .trust,
            "the bundle '\(bundle.path.visible)' would start programs, and no key vouches for it",
            because: programs.map { "\($0.purpose.visible): \($0.line)" },
            hint: "sign it, and give the key with --key"
        )
    }

    private func verdicts(keeps: Bool) async throws(CommandError) -> [TrustVerdict] {
        let verifier = ReleaseVerifier(
            plan: plan,
            supply: BundleSupply(bundle: bundle, state: state, keeps: keeps),
            now: RealTime().wallTime
        )
        return try await verifier.verdicts { (image) throws(CommandError) in try bytes(of: image) }
    }

    private func bytes(of image: PlannedImage) throws(CommandError) -> [UInt8] {
        do throws(BundleFault) {
            // The part was checked against the index; the index is checked here against the
            // manifest's digest.
            let name = "images/\(image.digest)"
            let (_, member) = try bundle.index.place(of: name)
            guard member.digest == image.digest else { throw .wrongMember(name) }
            // The store checks this, too, when an image is fetched over the network.
            if let size = image.size, Int64(size.bytes) != member.size {
                throw .wrongSize(name, expected: Int64(size.bytes), found: member.size)
            }
            guard member.isHeld else { return try bundle.bytes(of: name) }
        } catch { throw BundleFile.refusal(bundle.path, error) }
        return try heldBytes(of: image)
    }

    /// An image that the bundle leaves out because the depot has it from an earlier one.
    private func heldBytes(of image: PlannedImage) throws(CommandError) -> [UInt8] {
        let store = StoreFolder(stateDirectory: state)
        do throws(ImageError) {
            let request = ImageRequest(name: image.name, digest: image.digest, size: image.size)
            if let request, let stored = try store.image(request) { return try stored.bytes() }
        } catch { throw FetchFailure.refusal(ofStore: error) }
        throw CommandError(
            .inputMissing,
            "the image \(image.name) is neither in the bundle nor in the store of this depot",
            because: ["the bundle only adds to an earlier one, which contains it"],
            hint: "take that one over first, or make one without --since"
        )
    }

    /// Takes over the verified bundle, with the depot's own files beside it.
    package func perform(
        into target: String,
        with own: [FolderDelivery.File] = []
    ) async throws(CommandError) {
        let delivery = try FolderDelivery(own + (try files()), into: target)
        try delivery.stage()
        _ = try StateDirectory.prepared(at: state)
        let folder = StoreFolder(stateDirectory: state)
        let lock = try ImagePreparation.lockedStore(folder, for: plan)
        let executor = try ThreadExecutor.working("images")
        let result = await store(executor)
        executor.stop()
        try result.get()
        let kept = try await verdicts(keeps: true)
        let name = bundle.path.split(separator: "/").last.map(String.init) ?? bundle.path
        let images = plan.images.map { image in
            let isHere =
                (try? bundle.index.place(of: "images/\(image.digest)").member.isHeld) == false
            return (
                digest: image.digest,
                origin: isHere ? "the bundle \(name), \(bundle.index.digest)" : nil
            )
        }
        kept.note(images, state: state)
        lock.release()
        if try record.check(mayBeOlder: older != nil) != nil {
            try await older?.note(plan.name, state: state)
        }
        try record.keep()
        try delivery.publish()
    }

    private func files() throws(CommandError) -> [FolderDelivery.File] {
        var files: [FolderDelivery.File] = []
        do throws(BundleFault) {
            for file in contents.files {
                // A rollout has no files at places where programs look for their settings.
                let name = file.path.joined(separator: "/")
                guard !bundle.signers.isEmpty || !file.path.contains(where: { $0.first == "." })
                else { throw .hidden(name) }
                let bytes = try bundle.bytes(of: file.part)
                if file.isProfile, !Self.isProfile(bytes, name) {
                    throw .badProfile(name)
                }
                files.append(FolderDelivery.File(path: file.path, bytes: bytes))
            }
        } catch { throw BundleFile.refusal(bundle.path, error) }
        return files
    }

    private static func isProfile(_ bytes: [UInt8], _ name: String) -> Bool {
        Profile.parse(bytes, file: name, Diagnostics(main: name)) != nil
    }

    private func store(_ executor: ThreadExecutor) async -> Result<Void, CommandError> {
        let store = ImageStore(stateDirectory: state, executor: executor)
        do throws(CommandError) {
            for image in plan.images {
                let bytes = try bytes(of: image)
                guard
                    let request = ImageRequest(
                        name: image.name,
                        digest: image.digest,
                        size: image.size
                    )
                else { throw CommandError(.manifest, "\(image.name) is too large") }
                do throws(ImageError) {
                    _ = try await store.acquire(request, from: BytesInMemory(bytes: bytes))
                } catch { throw FetchFailure.refusal(ofStore: error) }
            }
            return .success(())
        } catch { return .failure(error) }
    }
}

/// An image that is in memory.
private struct BytesInMemory: ImageReading {
    let bytes: [UInt8]

    func deliver(to sink: inout ImageSink) throws(ImageError) { try sink.take(bytes.span) }
}
