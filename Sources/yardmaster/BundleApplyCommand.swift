import Commands
import Domain
import Glibc
import Manifest
import Operations
import Reports
import Trust
import Wire

/// `bundle apply`: verify, take over, validate, plan; for a technician with a stick, or for all
/// bundles in a folder.
struct BundleApplyCommand {
    private let bundle: String?
    private let folder: String?
    private let target: String
    private let state: String
    private let signers: BundleSigners
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        bundle = invocation.arguments.first
        folder = invocation.value("from")
        state = try CommonOptions.stateDirectory(invocation, context)
        signers = try BundleSigners(invocation)
        common = try CommonOptions(invocation, context)
        self.context = context
        guard let target = invocation.value("target-dir") else {
            throw CommandError(.usage, "'bundle apply' needs '--target-dir'")
        }
        self.target = target
        guard (bundle == nil) != (folder == nil) else {
            throw CommandError(.usage, "'bundle apply' needs a bundle or '--from', one of them")
        }
        guard folder == nil || signers.demand != nil else {
            throw CommandError(
                .usage,
                "'bundle apply --from' needs '--key'",
                hint:
                    "anyone who can write into the folder could give the depot a manifest otherwise"
            )
        }
    }

    func run() async throws(CommandError) -> ExitCode {
        if let folder { return try await applyAll(in: folder) }
        guard let bundle else { return .usage }
        let applied = try await apply(bundle)
        if common.wantsJSON {
            context.console.result(applied.document.text + "\n")
        } else if !common.isQuiet {
            context.console.result(applied.text)
        }
        return .done
    }

    // MARK: One bundle

    /// What became of a bundle.
    private struct Applied {
        let manifest: String
        let text: String
        let document: JSONValue
    }

    private func apply(_ path: String) async throws(CommandError) -> Applied {
        let display = BundleDisplay(common, context)
        defer { display.end() }
        let bundle = try BundleFile(path, signedBy: signers.demand) { done, total in
            display.show("verifying the signature", done, total)
        }
        do throws(BundleFault) {
            try bundle.checkAll { done, total in display.show("verifying", done, total) }
        } catch { throw BundleFile.refusal(path, error) }
        let contents = try BundlePlan(bundle) { Inputs.tell($0, context) }
        let plan = contents.plan
        let takeover = BundleTakeover(bundle: bundle, contents: contents, state: state)
        let verdicts = try await takeover.judge()
        let place = try BundlePlace(target, of: plan.name, bundle)
        try await takeover.perform(into: place.folder, with: place.carried(for: contents))
        // Only a manifest that this program takes becomes the rollout's.
        let options = try self.options(place.folder, contents)
        _ = try Inputs.plan("\(place.folder)/\(contents.manifest)", context, options)
        try place.settle()
        let manifest = "\(place.link)/\(contents.manifest)"
        let answer = try PlanCommand(
            options: PlanOptions(
                manifest: manifest,
                state: state,
                common: try self.options(place.link, contents)
            )
        ).answer(context)
        var lines = verdicts.map { "image \($0.image): trusted by \($0.words)" }
        lines += [signers.words, "taken over into \(place.link.visible)"]
        let profiles =
            contents.profiles.isEmpty ? "" : "--profiles \(place.link.visible)/profiles "
        lines.append("to be run by: yardmaster run \(profiles)\(manifest.visible)")
        return Applied(
            manifest: manifest,
            text: lines.joined(separator: "\n") + "\n" + answer.text,
            document: .object([
                "schema": 1,
                "bundle": .string(path),
                "rollout": .string(plan.name),
                "manifest": .string(manifest),
                "signed": .bool(signers.demand != nil),
                "images": .array(
                    verdicts.map { verdict in
                        .object([
                            "name": .string(verdict.image), "trust": .string(verdict.trust.level),
                        ])
                    }
                ),
                "plan": answer.document,
                "exit": .object([
                    "code": .integer(Int64(ExitCode.done.rawValue)),
                    "reason": .string(ExitCode.done.sentence),
                ]),
            ])
        )
    }

    private func options(
        _ folder: String,
        _ contents: BundlePlan
    ) throws(CommandError) -> CommonOptions {
        guard !contents.profiles.isEmpty else { return common }
        let profiles = folder + "/profiles"
        return common.using(try ProfileFolder.library(profiles, context), in: profiles)
    }

    // MARK: A folder of bundles

    /// Every bundle of the folder leaves it: into `applied`, or into `refused` with the reason.
    ///
    /// What stands in the way of all bundles, such as a full disk, ends it and leaves them.
    private func applyAll(in folder: String) async throws(CommandError) -> ExitCode {
        let names: [String]
        do throws(StorageError) {
            names = try TrustFolder(folder, isHeld: false).names().filter {
                $0.hasSuffix(".bundle") && !$0.hasPrefix(".")
            }
        } catch {
            throw CommandError(
                .inputMissing,
                "the folder '\(folder.visible)' cannot be read",
                because: [error.description]
            )
        }
        var documents: [JSONValue] = []
        var codes: [ExitCode] = []
        for name in names {
            let path = "\(folder)/\(name)"
            do throws(CommandError) {
                let applied = try await apply(path)
                codes.append(.done)
                documents.append(applied.document)
                if !common.isQuiet, !common.wantsJSON { context.console.result(applied.text) }
                try Self.move(name, of: folder, to: "applied", because: nil)
            } catch {
                switch error.kind {
                case .usage, .manifest, .inputMissing, .trust: break
                case .unavailable, .cannotCreate, .cannotWrite, .busy, .configuration, .internal:
                    throw error
                }
                context.console.note(error.text)
                codes.append(error.exitCode)
                documents.append(error.document)
                try Self.move(name, of: folder, to: "refused", because: error)
            }
        }
        let code = ExitCode.worst(of: codes)
        let applied = codes.count { $0 == .done }
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "bundles": .array(documents),
                "exit": .object([
                    "code": .integer(Int64(code.rawValue)), "reason": .string(code.sentence),
                ]),
            ])
            context.console.result(document.text + "\n")
        } else if !common.isQuiet || code != .done {
            context.console.result(
                "applied=\(applied) refused=\(codes.count - applied) exit=\(code.rawValue)\n"
            )
        }
        return code
    }

    /// Moves a bundle and its signatures out of the way.
    private static func move(
        _ name: String,
        of folder: String,
        to place: String,
        because error: CommandError?
    ) throws(CommandError) {
        let away = "\(folder)/\(place)"
        do throws(StorageError) {
            let here = try TrustFolder(folder, isHeld: false)
            let there = try TrustFolder(away, isHeld: false)
            if let error {
                let reason = "\(name).reason"
                try there.write(reason, Array(error.text.utf8))
                try there.sync(reason)
            }
            // The bundle last: until then the next attempt finds all of it.
            for beside in try here.names() where beside.hasPrefix(name + ".") {
                try here.rename(beside, to: beside, in: there)
            }
            try here.rename(name, to: name, in: there)
            try there.syncFolder()
            try here.syncFolder()
        } catch {
            throw CommandError(
                .cannotWrite,
                "the bundle '\(name.visible)' cannot be moved to '\(away.visible)'",
                because: [error.description],
                hint: "the folder must be one that this user may write"
            )
        }
    }
}

/// Where a depot keeps the bundles of a rollout that it took over.
///
/// Each has a folder of its own; a link by the rollout's name leads to the latest, and is changed in one step.
private struct BundlePlace {
    let link: String
    let folder: String
    private let target: String
    private let name: String

    init(_ target: String, of rollout: String, _ bundle: BundleFile) throws(CommandError) {
        guard BundlePath(rollout)?.parts == [rollout], rollout.first != "." else {
            throw CommandError(.manifest, "'\(rollout.visible)' is no name for a folder")
        }
        self.target = target
        link = "\(target)/\(rollout)"
        name = "\(rollout)-\(bundle.index.digest.description.prefix(16))"
        folder = "\(target)/\(name)"
        guard mkdir(target, 0o755) == 0 || errno == EEXIST else { throw failure(target, errno) }
        var status = stat()
        guard lstat(link, &status) != 0 || status.st_mode & S_IFMT == S_IFLNK else {
            throw failure(link, EEXIST)
        }
    }

    /// Files of the depot that the latest bundle's folder has and no bundle brings.
    func carried(for contents: BundlePlan) -> [FolderDelivery.File] {
        let brought = contents.files.map(\.path)
        return contents.plan.filesOfTheDepot.compactMap { text in
            guard let path = BundlePath(text)?.parts, !brought.contains(path),
                let bytes = try? TrustFolder.contents(
                    of: "\(link)/\(path.joined(separator: "/"))",
                    limit: 1 << 20
                )
            else { return nil }
            return FolderDelivery.File(path: path, bytes: bytes, mode: 0o600)
        }
    }

    /// Makes the folder the rollout's.
    func settle() throws(CommandError) {
        let fresh = "\(target)/.\(name)-\(UInt64.random(in: .min ... .max))"
        guard symlink(name, fresh) == 0 else { throw failure(link, errno) }
        guard rename(fresh, link) == 0 else {
            let code = errno
            unlink(fresh)
            throw failure(link, code)
        }
        let parent = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        fsync(parent)
        close(parent)
    }

    private func failure(_ path: String, _ code: CInt) -> CommandError {
        CommandError(
            .cannotCreate,
            "the bundle cannot be taken over into '\(target.visible)'",
            because: ["\(path.visible): \(Descriptor.text(of: code))"],
            hint: "name a folder that this user may write, for bundles alone"
        )
    }
}

/// How far the reading of a bundle is, on a terminal.
final class BundleDisplay {
    private let isLive: Bool
    private let context: Context
    private var shown = -1

    init(_ common: CommonOptions, _ context: Context) {
        isLive = !common.isQuiet && context.style(noColor: common.noColor).isLive
        self.context = context
    }

    func show(_ what: String, _ done: Int64, _ total: Int64) {
        guard isLive, total > 0 else { return }
        let percent = Int(done * 100 / total)
        guard percent != shown else { return }
        shown = percent
        context.console.note("\r\(what): \(percent) %\u{1B}[K")
    }

    func end() {
        if shown >= 0 { context.console.note("\r\u{1B}[K") }
        shown = -1
    }
}
