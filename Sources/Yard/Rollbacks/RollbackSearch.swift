import Base
package import Commands
import Glibc
import Images
package import Manifest
package import Operations
import Radio
import Rollout
import Show
package import Store

/// What `rollback` would do: its plan, and a line for each vehicle.
package struct Rollback: Sendable {
    package let plan: FrozenPlan
    /// What the plan is made from; nil for a plan that is kept already.
    package let sources: PlanSources?
    /// The state of the rollout that is brought back, from the beginning on.
    package let hold: Hold
    /// Whether a rollout of this name is begun again.
    package let isAgain: Bool
    let rows: [WayBackSearch.Row]

    /// How many vehicles must stay as they are.
    package var refused: Int { rows.count { $0.fate.refusal != nil } }

    /// How many vehicles are brought back.
    package var count: Int { rows.count { $0.fate.image != nil } }
}

/// Finds what the vehicles of a rollout ran before it, and proposes to bring them back.
package struct RollbackSearch: Sendable {
    private let rollout: String
    /// Image files of people, for vehicles of which no image is known.
    private let files: [String]
    private let version: FirmwareVersion?
    private let reason: String?
    private let author: String
    private let options: RunOptions
    private let context: Context

    package init(
        _ invocation: Invocation,
        by author: String,
        _ options: RunOptions,
        _ context: Context
    ) {
        rollout = invocation.arguments[0]
        files = invocation[Command.returnImage]
        version = invocation[Command.imageVersion]
        reason = invocation[Command.reason]
        (self.author, self.options, self.context) = (author, options, context)
    }

    /// What is known of the rollout, its vehicles and their modules.
    private struct Known: Sendable {
        var plan: SHA256Digest?
        var executions: [ExecutionRecord] = []
        var hold: Hold?
        var transfers: [Transfer] = []
        var recalls: [Recall] = []
        /// The plan of the last run that brought its vehicles back.
        var last: SHA256Digest?
    }

    private var archive: PlanArchive { PlanArchive(state: options.state) }
    private var store: StoreFolder { StoreFolder(stateDirectory: options.state) }

    /// Images that are missing are fetched with `isFetching`, because they may contain a reason against it.
    package func proposal(isFetching: Bool) async throws(CommandError) -> Rollback {
        let known = try await known()
        guard let begun = known.plan, let plan = archive.plan(begun, of: rollout) else {
            throw CommandError(
                .inputMissing,
                "the plan of \(rollout.visible) is not kept here",
                hint: known.plan == nil
                    ? "'yardmaster status' shows the rollouts; name its directory with --state"
                    : "say it on a gateway that has run the rollout, or write a manifest"
            )
        }
        let from = plan.following(known.executions)
        let common = try options.common.looking(
            in: KnownVehicles(state: options.state).ground(of: from)
        )
        var answer = try search(from, known)
        if isFetching, try await fetch(from, answer.way) { answer = try search(from, known) }
        let rows = answer.fates.filter { common.takes($0.vehicle.id) }
        guard !rows.isEmpty else {
            throw CommandError(.usage, "\(rollout.visible) has no such vehicle")
        }
        let isRecalled = known.hold?.kind == .recalled
        let (way, name) = (answer.way, FrozenPlan.rollback(of: rollout))
        // It goes on with the plan that it was begun with.
        let goesOn = isRecalled && files.isEmpty
        let kept = goesOn ? known.last.flatMap { archive.plan($0, of: name) } : nil
        return Rollback(
            plan: beside(kept ?? from.returning(way)),
            sources: kept == nil ? archive.sources(of: rollout, adding: way) : nil,
            hold: Hold(
                .recalled,
                rollout,
                reason: "rolled back by \(name)" + (reason.map { ": \($0)" } ?? ""),
                author: author,
                at: RealTime().wallTime
            ),
            isAgain: !isRecalled && known.last != nil,
            rows: rows
        )
    }

    /// The plan with secrets and devices where the files have them now.
    private func beside(_ plan: FrozenPlan) -> FrozenPlan {
        guard let path = archive.manifest(of: rollout),
            let now = (try? ManifestReader.read(path: path, files: TextFile.read))?.plan
        else { return plan }
        return plan.beside(now)
    }

    private func known() async throws(CommandError) -> Known {
        let (rollout, name) = (rollout, FrozenPlan.rollback(of: rollout))
        var known = Known()
        do throws(JournalError) {
            known = try JournalReader(directory: options.state).read { view throws(JournalError) in
                let plan = try view.rollout(rollout)?.plan
                return Known(
                    plan: plan == nil ? try view.lastRun(rollout: rollout)?.plan : plan,
                    executions: try view.executions(rollout: rollout),
                    hold: try view.hold(on: rollout),
                    transfers: try view.transfers(),
                    recalls: try view.recalls(),
                    last: try view.lastRun(rollout: name)?.plan
                )
            }
        } catch { throw CommandError(reading: error, in: options.state) }
        guard let fleet = options.fleet else { return known }
        let shared = try await fleet.withTables { fleet throws(FleetError) in
            (
                rollout: try await fleet.rollout(rollout), back: try await fleet.rollout(name),
                transfers: try await fleet.transfers(), recalls: try await fleet.recalls()
            )
        }
        guard let found = shared.rollout else { return known }
        known.plan = SHA256Digest(found.plan)
        (known.hold, known.transfers) = (found.hold, shared.transfers)
        known.recalls += shared.recalls
        known.last = shared.back.flatMap { SHA256Digest($0.plan) }
        return known
    }

    // MARK: Images

    /// The images that modules may have run: files of people, those of kept plans, and what is in the store.
    private func candidates(
        of plan: FrozenPlan,
        _ known: Known,
        _ profiles: ProfileLibrary
    ) throws(CommandError) -> [WayBackSearch.Candidate] {
        let families = Set(plan.vehicles.map(\.family)).sorted { $0.rawValue < $1.rawValue }
        var candidates: [WayBackSearch.Candidate] = []
        for file in files {
            let given = try UpdateFile(file, version: version)
            let fitting = families.filter { family in
                plan.vehicles.contains { vehicle in
                    vehicle.family == family
                        && profiles.profile(vehicle.profile, of: family)
                            .map { given.mismatch(with: $0) == nil } == true
                }
            }
            guard fitting.count < 2 else {
                let names = fitting.map(\.rawValue).joined(separator: ", ")
                throw CommandError(
                    .usage,
                    "\(file) may be for modules of several families: \(names)",
                    hint: "write a manifest, which says of each image what it fits"
                )
            }
            candidates += fitting.map { family in
                WayBackSearch.Candidate(given.image.planned(for: family), isGiven: true)
            }
        }
        let proven = Set(known.transfers.filter(\.isProven).map(\.image))
        for name in archive.names {
            let images = archive.plan(nil, of: name)?.images ?? []
            candidates += images.filter { image in
                (image.trust == .digest || proven.contains(image.digest)) && isHere(image)
            }.map { WayBackSearch.Candidate($0) }
        }
        var seen: Set<String> = []
        for transfer in known.transfers {
            guard let version = transfer.version,
                seen.insert("\(transfer.image) \(version)").inserted,
                case let path = store.path(of: transfer.image), access(path, R_OK) == 0
            else { continue }
            candidates += families.map { family in
                WayBackSearch.Candidate(
                    PlannedImage(
                        name: transfer.name,
                        path: path,
                        digest: transfer.image,
                        version: version,
                        for: family
                    ),
                    isOwn: true
                )
            }
        }
        return candidates
    }

    /// Whether the image is in the store, or can be fetched.
    private func isHere(_ image: PlannedImage) -> Bool {
        guard case .file = image.source else { return true }
        return places(of: image).contains { access($0, R_OK) == 0 }
    }

    private func places(of image: PlannedImage) -> [String] {
        var paths = [store.path(of: image.digest)]
        if case .file(let file) = image.source { paths.append(file.path) }
        return paths
    }

    private func search(
        _ plan: FrozenPlan,
        _ known: Known
    ) throws(CommandError) -> WayBackSearch.Answer {
        let profiles = try ProfileFolder.library(of: plan, options.common, context)
        let candidates = try candidates(of: plan, known, profiles)
        var contents: [SHA256Digest: ImageContent] = [:]
        let own = Set(plan.images.map(\.digest))
        let versions = Set(known.transfers.compactMap { own.contains($0.image) ? $0.before : nil })
        let wanted = candidates.map(\.image).filter { versions.contains($0.version) }
        for image in plan.images + wanted where contents[image.digest] == nil {
            contents[image.digest] = content(of: image)
        }
        let read = contents
        return WayBackSearch(
            from: plan,
            known.transfers,
            among: candidates,
            recalls: known.recalls
        ) { vehicle, sent, image in
            guard let profile = profiles.profile(vehicle.profile, of: vehicle.family) else {
                return nil
            }
            if !profile.takesDowngrade, let now = sent.version, image.version < now {
                return "modules of its profile \(profile.name) take no earlier version than theirs"
            }
            guard let content = read[image.digest] else { return nil }
            return content.mismatch(with: sent.part, of: profile)
                ?? read[sent.image].flatMap { content.refusal(after: $0) }
        }.answer()
    }

    /// Nil for an image that is not here, and for a file that is not the image.
    private func content(of image: PlannedImage) -> ImageContent? {
        for path in places(of: image) {
            guard let bytes = try? InspectedImage.read(path),
                SHA256.digest(of: bytes) == image.digest
            else { continue }
            return try? ImageChecker.content(of: image, bytes)
        }
        return nil
    }

    /// Fetches what is missing; false when all of it was here.
    private func fetch(_ plan: FrozenPlan, _ way: WayBack) async throws(CommandError) -> Bool {
        let missing = way.images.filter { content(of: $0) == nil }
        guard !missing.isEmpty else { return false }
        let images = ImagePreparation(
            plan: plan.returning(way),
            state: try context.reach.prepare(options.state).path,
            context: context,
            common: options.common,
            tellsLocalFiles: false
        )
        return try await images.bringAll() != nil
    }
}
