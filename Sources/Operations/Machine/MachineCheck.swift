package import Base
package import Commands
import Glibc
import Images
package import Manifest
package import Radio

/// Checks whether this machine has everything that a plan names: keys, tokens, images, a time zone,
/// a program.
///
/// `validate`, `plan`, `run` and `exec` call it before anything else, so that all of them find the
/// same faults.
package struct MachineCheck {
    let plan: FrozenPlan
    let context: Context
    let profiles: ProfileLibrary
    /// The state directory in which images may already be; nil when none is known.
    let state: String?
    /// Whether this process is the run itself, and not a preparation for a service with credentials
    /// of its own.
    let isRun: Bool
    /// Whether the plan is complete, so that no part is missing because of errors in the manifest.
    private let isWhole: Bool

    package init(
        plan: FrozenPlan,
        context: Context,
        profiles: ProfileLibrary,
        state: String?,
        isRun: Bool,
        isWhole: Bool = true
    ) {
        self.plan = plan
        self.context = context
        self.profiles = profiles
        self.state = state
        self.isRun = isRun
        self.isWhole = isWhole
    }

    /// One fault.
    package struct Finding {
        let kind: CommandError.Kind
        package let diagnostic: Diagnostic
    }

    /// Throws when one of these vehicles could not be worked on; all faults are reported.
    func demand(for vehicles: [PlannedVehicle]) throws(CommandError) {
        let findings = findings(for: vehicles)
        guard !findings.isEmpty else { return }
        Inputs.tell(findings.map(\.diagnostic), context)
        if let refusal = Self.refusal(findings, plan.place.file) { throw refusal }
    }

    /// Prints the faults that would end a run as warnings: a command that only reads goes on.
    func warn(for vehicles: [PlannedVehicle]) {
        let findings = findings(for: vehicles)
        Inputs.tell(findings.map { $0.diagnostic.asWarning }, context)
        if let refusal = Self.refusal(findings, plan.place.file) {
            context.console.note(
                "yardmaster: warning: a run would end with \(refusal.exitCode.rawValue)\n"
            )
        }
    }

    /// Nil when they are only warnings.
    package static func refusal(_ findings: [Finding], _ manifest: String) -> CommandError? {
        let errors = findings.filter { $0.diagnostic.severity == .error }
        let order: [CommandError.Kind] = [.trust, .manifest, .inputMissing, .configuration]
        guard let kind = order.first(where: { kind in errors.contains { $0.kind == kind } }) else {
            return nil
        }
        let count = errors.count
        return CommandError(
            kind,
            "\(counted(count, "error")) in files and programs that \(manifest) names",
            hint: "nothing was touched; fix what is listed above and try again"
        )
    }

    package func findings(for vehicles: [PlannedVehicle]) -> [Finding] {
        let findings = zone() + secrets(vehicles) + rotations(vehicles) + programs()
        // A run itself checks images and their signers next, and fetches the images.
        if isRun, findings.isEmpty { return [] }
        return inOrder(findings + images(vehicles) + trust())
    }

    /// Faults of the manifest first, and those of each file in the order of their lines.
    private func inOrder(_ findings: [Finding]) -> [Finding] {
        findings.enumerated().sorted { left, right in
            let places = (left.element.diagnostic.place, right.element.diagnostic.place)
            let isOwn = (places.0.file == plan.place.file, places.1.file == plan.place.file)
            if isOwn.0 != isOwn.1 { return isOwn.0 }
            return places.0 == places.1 ? left.offset < right.offset : places.0 < places.1
        }.map(\.element)
    }

    // MARK: Checks

    private func zone() -> [Finding] {
        do throws(CommandError) {
            _ = try ZoneSource.zone(of: plan, context)
            return []
        } catch { return [finding(error, at: plan.zonePlace ?? plan.place)] }
    }

    private func secrets(_ vehicles: [PlannedVehicle]) -> [Finding] {
        let source = SecretSource(context: context, profiles: profiles)
        return vehicles.flatMap { vehicle in
            source.checks(of: vehicle).compactMap { check in
                check.fault.map { fault in
                    finding(
                        fault,
                        at: check.place,
                        isWarning: !isRun && check.mayBeElsewhere(context),
                        // Other rows name other files, but the fault is the same.
                        topic: fault.causes.reduce(fault.sentence, +)
                            .without(vehicle.id.text).without(check.reference?.path ?? "")
                    )
                }
            }
        }
    }

    /// Checks that another secret can be written beside the current one, and that no other vehicle
    /// needs the current one.
    private func rotations(_ vehicles: [PlannedVehicle]) -> [Finding] {
        let rotating = vehicles.filter { vehicle in
            vehicle.steps.contains { $0.action == .rotate }
        }
        guard !rotating.isEmpty else { return [] }
        let shared = SharedSecrets(plan.holders, context)
        return rotating.compactMap { vehicle in
            guard case .file(let file)? = vehicle.secret,
                let step = vehicle.steps.first(where: { $0.action == .rotate })
            else { return nil }
            let others = shared.others(than: vehicle.id, at: file.path)
            guard others.isEmpty else {
                return finding(
                    CommandError(
                        .manifest,
                        "the key of \(vehicle.id) is not its own",
                        because: [
                            "\(file.text) is also the key of \(others.text)"
                        ],
                        hint: SharedSecrets.remedy
                    ),
                    at: vehicle.secretPlace ?? step.place,
                    topic: "shared keys"
                )
            }
            // A rehearsal replaces copies.
            guard context.reach.stage == nil else { return nil }
            let folder = FilePlace.folder(of: file.path)
            do throws(CommandError) { try RootRule.demand(folder) } catch {
                return finding(error, at: step.place, topic: folder)
            }
            guard access(folder, W_OK) != 0 else { return nil }
            return finding(
                CommandError(
                    .configuration,
                    "the secret of \(vehicle.id) cannot be replaced",
                    because: ["\(folder): \(Descriptor.text(of: errno))"],
                    hint: "run the command as the owner of that folder"
                ),
                at: step.place,
                topic: folder
            )
        }
    }

    /// Warnings about keys that open the modules of several vehicles.
    package func shares() -> [Finding] {
        SharedSecrets(plan.holders, context).groups.map { group in
            let first = group[0]
            return finding(
                CommandError(
                    .manifest,
                    "\(first.secret) is the key of \(group.count) vehicles: "
                        + "\(SharedSecrets.text(group.map(\.vehicle)))",
                    hint: "who has one of them can open all; `yardmaster secrets rotate "
                        + "\(plan.place.file) --split` gives each its own"
                ),
                at: first.place,
                isWarning: true
            )
        }
    }

    /// Checks images on this machine, as far as that is possible without a module.
    private func images(_ vehicles: [PlannedVehicle]) -> [Finding] {
        var findings: [Finding] = []
        var contents: [String: ImageContent] = [:]
        for image in plan.images {
            let files = ([image.source] + image.mirrors).map { source -> FileReference? in
                if case .file(let file) = source { return file }
                return nil
            }
            // Images on the network are not checked here.
            guard let file = files.first ?? nil, !isStored(image) else { continue }
            do throws(CommandError) {
                contents[image.name] = try content(of: image, file.path)
            } catch {
                let hasOthers = files.contains(nil) || files.compactMap(\.self).count > 1
                if hasOthers, error.kind == .inputMissing { continue }
                findings.append(finding(error, at: image.place))
            }
        }
        guard isWhole else { return findings }
        do throws(CommandError) {
            try ImageChecker.check(contents, of: plan, for: vehicles, profiles)
        } catch { findings.append(finding(error, at: plan.place)) }
        return findings
    }

    private func isStored(_ image: PlannedImage) -> Bool {
        guard let state else { return false }
        return ImagePresence(
            of: image,
            under: plan.trust,
            in: StoreFolder(stateDirectory: state)
        ) == .usable
    }

    private func content(
        of image: PlannedImage,
        _ path: String
    ) throws(CommandError) -> ImageContent {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: path, limit: ImageRequest.largest.bytes)
        } catch {
            throw CommandError(
                .inputMissing,
                "the image \(image.name) cannot be fetched",
                because: [error.description],
                hint: "put it there, or write in its `url` where it is"
            )
        }
        let digest = SHA256.digest(of: bytes)
        guard digest == image.digest else {
            throw CommandError(
                .trust,
                "the image \(image.name) is not what the manifest promises",
                because: ["\(path) has the SHA-256 \(digest)"],
                hint: "get the file again from its maker; never change the digest to fit"
            )
        }
        if let size = image.size, size != ByteCount(of: bytes) {
            throw CommandError(
                .trust,
                "the image \(image.name) is not what the manifest promises",
                because: ["\(path) has \(ByteCount(of: bytes)), and `size` says \(size)"],
                hint: "write its true size, or leave `size` out"
            )
        }
        return try ImageChecker.content(of: image, bytes)
    }

    /// Checks the keys of signers, and the roots of repositories that this machine does not know
    /// yet.
    private func trust() -> [Finding] {
        var files: [(file: FileReference, what: String, place: Place)] = []
        for image in plan.images {
            if case .signature(.file(let file), _) = image.trust {
                files.append((file, "the key of the image \(image.name)", image.place))
            }
            for attachment in image.attachments {
                guard case .attestation(let file?) = attachment.kind else { continue }
                files.append(
                    (file, "the attestation key of the image \(image.name)", attachment.place)
                )
            }
        }
        for repository in plan.trust.repositories where !isKnown(repository) {
            files.append(
                (repository.root, "the root of the repository \(repository.name)", repository.place)
            )
        }
        return files.compactMap { file in
            guard let reason = Self.unreadable(file.file.path) else { return nil }
            return Finding(
                kind: .inputMissing,
                diagnostic: Diagnostic(
                    .error,
                    file.place,
                    "\(file.what) cannot be read: \(file.file.path): \(reason)",
                    hint: "the path is relative to the manifest"
                )
            )
        }
    }

    private func isKnown(_ repository: PlannedRepository) -> Bool {
        guard let state else { return false }
        return access("\(state)/trust/\(repository.folder)", F_OK) == 0
    }

    /// Checks the programs that decide between two waves and about images on trial: in the middle
    /// of the night it would be too late.
    private func programs() -> [Finding] {
        var asked: [(name: String, place: Place, purpose: String)] = []
        if let name = plan.rollout.between.check.first {
            asked.append((name, plan.checkPlace ?? plan.place, "between the waves"))
        }
        for step in plan.vehicles.flatMap(\.steps) {
            guard let name = step.update?.judge.first,
                !asked.contains(where: { $0.name == name && $0.place == step.place })
            else { continue }
            asked.append((name, step.place, "to judge the new image"))
        }
        for vehicle in plan.vehicles where vehicle.tokenReference == nil {
            guard let issuer = vehicle.issuer, case .command(let words) = issuer.way,
                let name = words.first,
                !asked.contains(where: { $0.name == name && $0.place == issuer.place })
            else { continue }
            asked.append((name, issuer.place, "to hand out tokens"))
        }
        if plan.notify?.namesPrograms == true { asked.append(("", plan.place, "to send notices")) }
        return asked.compactMap { doubt($0.place, $0.purpose) }
            + asked.filter { !$0.name.isEmpty }
            .compactMap { program in
                let path = context.variable("PATH")
                guard let reason = Self.unusable(program: program.name, path: path) else {
                    return nil
                }
                return Finding(
                    kind: .inputMissing,
                    diagnostic: Diagnostic(
                        // The service may have another PATH.
                        program.name.utf8.contains(0x2F) ? .error : .warning,
                        program.place,
                        "the program \(quoted(program.name)) cannot be run \(program.purpose): "
                            + reason,
                        hint: "write its full path, and make it executable"
                    )
                )
            }
    }

    /// The finding about a file that names a program, when somebody else could have written it.
    private func doubt(_ place: Place, _ purpose: String) -> Finding? {
        guard let doubt = Authorship.doubt(place.file) else { return nil }
        return finding(
            CommandError(
                .configuration,
                "a program is named \(purpose), and somebody else could have written its name",
                because: [doubt.cause],
                hint: doubt.remedy
            ),
            at: place,
            topic: place.file
        )
    }

    private static func unusable(program: String, path: String?) -> String? {
        if program.utf8.contains(0x2F) {
            return access(program, X_OK) == 0 ? nil : Descriptor.text(of: errno)
        }
        let folders = (path ?? "/usr/bin:/bin").split(separator: ":")
        let isThere = folders.contains { access("\($0)/\(program)", X_OK) == 0 }
        return isThere ? nil : "it is not in a folder of PATH"
    }

    private static func unreadable(_ path: String) -> String? {
        access(path, R_OK) == 0 ? nil : Descriptor.text(of: errno)
    }

    private func finding(
        _ error: CommandError,
        at place: Place,
        isWarning: Bool = false,
        topic: String? = nil
    ) -> Finding {
        Finding(
            kind: error.kind,
            diagnostic: Diagnostic(
                isWarning ? .warning : .error,
                place,
                ([error.sentence] + error.causes).joined(separator: ": "),
                hint: error.hint,
                topic: topic
            )
        )
    }
}

extension SecretReference {
    /// The path of a file; nil for other references.
    fileprivate var path: String? {
        if case .file(let file) = self { return file.path }
        return nil
    }
}

extension String {
    fileprivate func without(_ part: String) -> String {
        part.isEmpty ? self : replacing(part, with: "")
    }
}
