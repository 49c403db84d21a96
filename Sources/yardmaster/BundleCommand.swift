import Commands
import Domain
import Glibc
import Images
import Journal
import Manifest
import Marked
import Reports
import Threads
import Trust
import Wire

/// `bundle create`: a rollout in one file, for a depot without network.
struct BundleCreateCommand {
    let manifest: String
    let path: String
    let state: String
    let common: CommonOptions
    let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        path = invocation.arguments[1]
        state = try CommonOptions.stateDirectory(invocation, context)
        common = try CommonOptions(invocation, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(manifest, context, common)
        var parts = BundleParts()
        for file in try Self.files(of: plan) {
            do throws(TrustError) {
                parts.add(
                    file.part,
                    try TrustFolder.contents(of: file.path, limit: BundleIndex.largestMember)
                )
            } catch { throw CommandError(.inputMissing, error.description) }
        }
        do throws(StateDirectoryError) {
            _ = try StateDirectory.create(at: state)
        } catch { throw RunCommand.refusal(error) }
        let room = FetchRoom(
            plan: plan,
            state: state,
            context: context,
            common: common,
            tellsLocalFiles: true
        )
        guard let images = try await room.bringAll() else { return room.tellCut() }
        _ = try await TrustDesk.verdicts(images, of: plan, state: state)
        for (name, bytes) in try await recorded(plan, images) { parts.add(name, bytes) }
        for image in images {
            let stored = image.stored
            parts.add(
                "images/\(stored.digest)",
                size: Int64(stored.size.bytes),
                digest: stored.digest
            ) { () throws(CommandError) in
                do throws(ImageError) {
                    return try stored.bytes()
                } catch { throw CommandError(.trust, error.description) }
            }
        }
        try parts.write(to: path, created: RealTime().wallTime)
        if !common.isQuiet { try BundleShow.print(try BundleFile(path), common, context) }
        return .done
    }

    /// What the images are judged by, as it came.
    private func recorded(
        _ plan: FrozenPlan,
        _ images: [FetchedImage]
    ) async throws(CommandError) -> [(name: String, bytes: [UInt8])] {
        let fetching = try DocumentFetching(state: state, plan.fetch)
        let supply = RecordingSupply(
            network: NetworkSupply(state: state, downloads: fetching.downloads)
        )
        let desk = TrustDesk(plan: plan, supply: supply, now: RealTime().wallTime)
        let result: Result<Void, CommandError>
        do throws(CommandError) {
            _ = try await desk.verdicts { (image) throws(CommandError) in
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

    /// The manifest and the files beside it that it names; no secret is among them.
    private static func files(
        of plan: FrozenPlan
    ) throws(CommandError) -> [(part: String, path: String)] {
        let manifest = plan.place.file
        let folder = FileReference.directory(of: manifest)
        var paths: Set<String> = Set(plan.vehicles.map(\.place.file))
        paths.formUnion(plan.trust.repositories.map(\.root.path))
        for image in plan.images {
            if case .signature(.file(let key), _) = image.trust { paths.insert(key.path) }
        }
        paths.remove(manifest)
        let name = String(manifest.utf8.dropFirst(folder.isEmpty ? 0 : folder.utf8.count + 1)) ?? ""
        var files = [(part: "manifest/\(name)", path: manifest)]
        for path in paths.sorted() {
            let prefix = folder.isEmpty ? "" : folder + "/"
            guard path.hasPrefix(prefix), !path.hasPrefix("/") || !prefix.isEmpty,
                !path.split(separator: "/").contains("..")
            else {
                throw CommandError(
                    .manifest,
                    "'\(path.visible)' is not in the folder of the manifest",
                    hint: "a bundle takes only files that lie beside the manifest or below"
                )
            }
            files.append(("files/\(path.dropFirst(prefix.count))", path))
        }
        return files
    }
}

/// `bundle verify`: what this depot says to a bundle.
struct BundleVerifyCommand {
    let path: String
    let state: String
    let key: String?
    let target: String?
    let common: CommonOptions
    let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        path = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context)
        key = invocation.value("key")
        target = invocation.value("target-dir")
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        if let key { try checkSignature(key) }
        let bundle = try BundleFile(path)
        do throws(BundleFault) {
            for member in bundle.index.members { _ = try bundle.bytes(of: member.name) }
        } catch { throw BundleFile.refusal(path, error) }
        let plan = try BundleManifest.plan(bundle, context)
        if target != nil {
            do throws(StateDirectoryError) {
                _ = try StateDirectory.create(at: state)
            } catch { throw RunCommand.refusal(error) }
        }
        let desk = TrustDesk(
            plan: plan,
            supply: BundleSupply(bundle: bundle, state: state, keeps: target != nil),
            now: RealTime().wallTime
        )
        let verdicts = try await desk.verdicts { (image) throws(CommandError) in
            try Self.bytes(of: image, in: bundle)
        }
        if let target { try await unpack(bundle, plan, into: target) }
        if common.wantsJSON {
            context.console.result(document(plan, verdicts).text + "\n")
        } else if !common.isQuiet {
            context.console.result(text(plan, verdicts))
        }
        return .done
    }

    private static func bytes(
        of image: PlannedImage,
        in bundle: BundleFile
    ) throws(CommandError) -> [UInt8] {
        do throws(BundleFault) {
            // The part was checked against the index; the index against the manifest's digest.
            let name = "images/\(image.digest)"
            let (_, member) = try bundle.index.place(of: name)
            guard member.digest == image.digest else { throw .wrongMember(name) }
            return try bundle.bytes(of: name)
        } catch { throw BundleFile.refusal(bundle.path, error) }
    }

    private func checkSignature(_ key: String) throws(CommandError) {
        do throws(TrustError) {
            let keyText = try TrustFolder.contents(of: key, limit: 4_096)
            let text = try TrustFolder.contents(
                of: path + ".minisig",
                limit: MinisignSignature.longest
            )
            let bytes = try TrustFolder.contents(of: path, limit: 1 << 30)
            do throws(MinisignError) {
                try MinisignSignature(text).verify(bytes, by: MinisignKey(keyText))
            } catch {
                throw .storage(StorageError(.read, error.description, code: 0))
            }
        } catch {
            guard case .storage(let failure) = error, failure.code == 0 else {
                throw CommandError(
                    .trust,
                    "the bundle '\(path.visible)' is not signed",
                    because: [error.description]
                )
            }
            throw CommandError(
                .trust,
                "the bundle '\(path.visible)' is not signed by the key '\(key.visible)'",
                because: [failure.name]
            )
        }
    }

    // MARK: Taking it over

    private func unpack(
        _ bundle: BundleFile,
        _ plan: FrozenPlan,
        into target: String
    ) async throws(CommandError) {
        let executor: ThreadExecutor
        do throws(ThreadError) {
            executor = try ThreadExecutor.start(name: "images")
        } catch { throw CommandError(.unavailable, error.description) }
        let result = await store(bundle, plan, executor)
        executor.stop()
        try result.get()
        let names = bundle.names(below: "files") + bundle.names(below: "manifest")
        for name in names {
            let relative = String(name.drop { $0 != "/" }.dropFirst())
            let path = target + "/" + relative
            do throws(BundleFault) {
                let bytes = try bundle.bytes(of: name)
                try BundleManifest.write(bytes, to: path, below: target)
            } catch { throw BundleFile.refusal(bundle.path, error) }
        }
    }

    private func store(
        _ bundle: BundleFile,
        _ plan: FrozenPlan,
        _ executor: ThreadExecutor
    ) async -> Result<Void, CommandError> {
        let store = ImageStore(stateDirectory: state, executor: executor)
        do throws(CommandError) {
            for image in plan.images {
                let bytes = try Self.bytes(of: image, in: bundle)
                guard
                    let request = ImageRequest(
                        name: image.name,
                        digest: image.digest,
                        size: image.size
                    )
                else { throw CommandError(.manifest, "\(image.name) is too large") }
                do throws(ImageError) {
                    _ = try await store.acquire(request, from: BytesInMemory(bytes: bytes))
                } catch { throw CommandError(.cannotWrite, error.description) }
            }
            return .success(())
        } catch { return .failure(error) }
    }

    // MARK: Telling

    private func text(_ plan: FrozenPlan, _ verdicts: [TrustVerdict]) -> String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        for verdict in verdicts {
            lines.append("image \(verdict.image): trusted by \(verdict.words)")
        }
        lines.append(
            key.map { "the bundle itself is signed by the key \($0)" }
                ?? "nobody vouches for the manifest in it: see --key"
        )
        lines.append("verified=\(verdicts.count) refused=0 exit=0")
        return lines.joined(separator: "\n") + "\n"
    }

    private func document(_ plan: FrozenPlan, _ verdicts: [TrustVerdict]) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "plan": .string(plan.digest.description),
            "signed": .bool(key != nil),
            "images": .array(
                verdicts.map { verdict in
                    .object([
                        "name": .string(verdict.image), "trust": .string(verdict.trust.level),
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}

/// An image that is in memory already.
private struct BytesInMemory: Images.ImageSource {
    let bytes: [UInt8]

    func deliver(to sink: inout ImageSink) throws(ImageError) { try sink.take(bytes.span) }
}
