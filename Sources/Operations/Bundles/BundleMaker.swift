import Base
package import Commands
import Glibc
import Images
import Manifest
import Store

/// Writes a rollout into one file: manifest, lists, profiles, images, and the documents that verify
/// them.
package struct BundleMaker {
    private let manifest: String
    private let path: String
    private let profiles: String?
    private let since: String?
    private let state: String
    private let common: CommonOptions
    private let context: Context

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        path = invocation.arguments[1]
        state = try CommonOptions.stateDirectory(invocation, context)
        common = try CommonOptions(invocation, context)
        profiles = invocation[Command.profiles]
        since = invocation[Command.since]
        self.context = context
    }

    /// Makes the bundle; the code is `done` unless a signal ended it earlier.
    package func make() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(manifest, context, common)
        // A fault of it is reported before anything is fetched.
        let base = try since.map { (path) throws(CommandError) in try BundleFile(path).index }
        var parts = BundleParts()
        for file in try Self.files(of: plan) + profileFiles() {
            do throws(TrustError) {
                parts.add(
                    file.part,
                    try TrustFolder.contents(of: file.path, limit: BundleIndex.largestMember)
                )
            } catch { throw CommandError(.inputMissing, error.description) }
        }
        _ = try StateDirectory.prepared(at: state)
        let preparation = ImagePreparation(
            plan: plan,
            state: state,
            context: context,
            common: common,
            tellsLocalFiles: true
        )
        guard let images = try await preparation.bringAll() else {
            return preparation.tellCut()
        }
        _ = try await ReleaseVerifier.verdicts(images, of: plan, state: state)
        for (name, bytes) in try await recorded(plan, images) { parts.add(name, bytes) }
        for image in images {
            let stored = image.stored
            parts.add(
                "images/\(stored.digest)",
                size: Int64(stored.size.bytes),
                digest: stored.digest,
                isHeld: base?.holds(stored.digest) ?? false
            ) { () throws(CommandError) in
                do throws(ImageError) {
                    return try stored.bytes()
                } catch { throw CommandError(.trust, error.description) }
            }
        }
        try parts.write(to: path, created: RealTime().wallTime, base: base)
        do throws(CommandError) {
            // Checked here, so that a fault is not found only at the depot.
            _ = try BundlePlan(try BundleFile(path)) { _ in }
        } catch {
            try? FilePlace.remove(path)
            throw error
        }
        return .done
    }

    /// The profiles of the operator's folder that this plan was read with.
    private func profileFiles() throws(CommandError) -> [(part: String, path: String)] {
        guard let profiles else { return [] }
        return try Self.profiles(in: profiles).map { ("profiles/\($0)", "\(profiles)/\($0)") }
    }

    private static func profiles(in folder: String) throws(CommandError) -> [String] {
        do throws(StorageError) {
            return try TrustFolder(folder, isHeld: false).names()
                .filter { !$0.hasPrefix(".") && ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml")) }
        } catch { throw CommandError(.inputMissing, error.description) }
    }

    /// The documents that verify the images, exactly as they were received.
    private func recorded(
        _ plan: FrozenPlan,
        _ images: [FetchedImage]
    ) async throws(CommandError) -> [(name: String, bytes: [UInt8])] {
        let fetching = try DocumentFetching(state: state, plan.fetch)
        let supply = RecordingSupply(
            network: NetworkSupply(state: state, downloads: fetching.downloads)
        )
        let verifier = ReleaseVerifier(plan: plan, supply: supply, now: RealTime().wallTime)
        let result: Result<Void, CommandError>
        do throws(CommandError) {
            _ = try await verifier.verdicts { (image) throws(CommandError) in
                do throws(ImageError) {
                    return try images.first { $0.planned.name == image.name }?.stored.bytes() ?? []
                } catch { throw CommandError(.trust, error.description) }
            }
            for repository in plan.trust.repositories {
                let place = try supply.place(of: repository)
                let known = try? TrustedState(place, now: RealTime().wallTime).documents.first
                await supply.recordRoots(of: repository, upTo: known?.version ?? 0)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await fetching.stop()
        try result.get()
        return supply.record.all
    }

    /// The manifest and the files beside it that it names; secrets are not among them.
    private static func files(
        of plan: FrozenPlan
    ) throws(CommandError) -> [(part: String, path: String)] {
        let manifest = plan.place.file
        let folder = FileReference.directory(of: manifest)
        let start = folder.isEmpty || folder == "/" ? folder : folder + "/"
        let paths = Set(plan.vehicles.map(\.place.file)).union(plan.filesBeside)
            .subtracting([manifest])
            .union(
                try plan.profiles.map { (folder) throws(CommandError) in
                    try profiles(in: folder).map { "\(folder)/\($0)" }
                } ?? []
            )
        let name = String(manifest.utf8.dropFirst(start.utf8.count)) ?? ""
        var files = [(part: "manifest/\(name)", path: manifest)]
        for path in paths.sorted() {
            guard path.utf8.starts(with: start.utf8), start.isEmpty || path.count > start.count,
                let beside = BundlePath(
                    String(decoding: path.utf8.dropFirst(start.utf8.count), as: UTF8.self)
                )
            else {
                throw CommandError(
                    .manifest,
                    "'\(path.visible)' is not in the folder of the manifest",
                    hint: "a bundle takes only files in the folder of the manifest or below it"
                )
            }
            files.append((beside.part, path))
        }
        return files
    }
}

extension BundleIndex {
    /// Whether a depot that took the bundle over has this image.
    fileprivate func holds(_ digest: SHA256Digest) -> Bool {
        members.contains { $0.digest == digest && $0.name == "images/\(digest)" }
    }
}
