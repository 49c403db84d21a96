import Base
package import Commands
import Glibc
import Images
import Manifest
package import Operations
import Rollout
import Servers
import Store

/// Everything that `sync` does: from the files and the journal to the server, and back to the manifest
/// of the night.
package struct SyncErrand {
    private let manifest: String
    private let state: String
    private let wish: String?
    private let context: Context
    private let common: CommonOptions
    private let fleet: FleetAccess?
    private let progress: @Sendable (Int, Int) -> Void

    /// `progress` is told how many of how many vehicles the server was asked about.
    package init(
        _ manifest: String,
        at server: String?,
        state: String,
        in fleet: FleetAccess?,
        _ common: CommonOptions,
        _ context: Context,
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) {
        self.manifest = manifest
        wish = server
        self.state = state
        self.fleet = fleet
        self.common = common
        self.context = context
        self.progress = progress
    }

    package func run() async throws(CommandError) -> SyncAnswer {
        guard let world = context.reach.world else {
            throw CommandError(.internal, "a rehearsal was about to ask a server")
        }
        var sources = PlanSources()
        let plan = try Inputs.plan(manifest, context, common, &sources)
        let served = try ServedManifest(sources.bytes(manifest) ?? [], at: manifest, plan)
        try Self.demandFolder(of: served.target)
        let directory = try context.reach.prepare(state)
        let server = try ServersFile.server(named: wish, in: directory.path)
        let lock = try Self.lock(directory, plan)
        let time = FetchTime()
        let line = try WebLine(
            to: server,
            with: try ServersFile.tokens(of: server, for: plan.vehicles, context),
            time: time,
            seed: time.seed,
            until: { Signals.exitCode != nil }
        ) { settings throws(DownloadError) in try world.session(settings) }
        let result: Result<(SyncAnswer, String?), CommandError>
        do throws(CommandError) {
            result = .success(try await share(server, plan, served, over: line, time))
        } catch { result = .failure(error) }
        await line.end()
        lock.release()
        let (answer, text) = try result.get()
        try write(text, to: served.target, state: directory.path)
        return answer
    }

    /// The manifest of the night is beside the given one.
    private static func demandFolder(of path: String) throws(CommandError) {
        let folder = FilePlace.folder(of: path)
        try RootRule.demand(folder)
        guard access(folder, W_OK) != 0 else { return }
        throw CommandError(
            .cannotWrite,
            "\(path) could not be written",
            because: ["\(folder): \(Descriptor.text(of: errno))"],
            hint: "keep the manifest in a folder that the user of the runs can write"
        )
    }

    /// How long a gateway waits for another one that speaks to the server.
    private static let patience = Duration.seconds(600)

    /// The conversation, in a fleet when no other gateway has one about this rollout.
    private func share(
        _ server: ServerSettings,
        _ plan: FrozenPlan,
        _ served: ServedManifest,
        over line: WebLine,
        _ time: FetchTime
    ) async throws(CommandError) -> (SyncAnswer, String?) {
        guard let fleet else { return try await converse(server, plan, served, over: line, time) }
        let rollout = ServedManifest.rollout(of: plan)
        let result = try await fleet.withTables(as: .gateway) {
            fleet throws(FleetError) -> Result<(SyncAnswer, String?), CommandError> in
            let end = time.now.advanced(by: Self.patience)
            while try await fleet.holdServer(of: rollout) == nil {
                guard time.now < end else {
                    return .failure(
                        CommandError(
                            .busy,
                            "another gateway speaks to the server \(server.name) about \(plan.name)",
                            hint: "wait until it has ended"
                        )
                    )
                }
                await time.sleep(until: time.now.advanced(by: .seconds(1)), for: "another gateway")
            }
            let share = ServerShare(fleet, rollout: rollout)
            do throws(CommandError) {
                return .success(
                    try await converse(server, plan, served, over: line, time, sharing: share)
                )
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Asks the server about all vehicles; the text is the manifest of the night, nil for none.
    private func converse(
        _ server: ServerSettings,
        _ plan: FrozenPlan,
        _ served: ServedManifest,
        over line: WebLine,
        _ time: FetchTime,
        sharing share: ServerShare? = nil
    ) async throws(CommandError) -> (SyncAnswer, String?) {
        let thread = try ThreadExecutor.working("journal")
        defer { thread.stop() }
        let disk = try ThreadExecutor.working("images")
        defer { disk.stop() }
        let fetcher = ImageFetcher(
            into: StoreFolder(stateDirectory: state),
            settings: FetchSettings(),
            time: time,
            seed: time.seed,
            executor: disk
        )
        let stop = Signals.catchThem()
        let result: Result<(SyncAnswer, String?), CommandError>
        do throws(JournalError) {
            let journal = try await Journal.open(directory: state, executor: thread)
            let errand = try await ServerErrand(
                to: server,
                for: plan,
                journal: journal,
                over: line,
                into: fetcher,
                state: state,
                host: NoticeSender.host,
                time: time,
                sharing: share
            )
            let rows = try await errand.run(until: { stop.isRequested }, progress)
            let work = try await errand.work()
            let answer = SyncAnswer(
                server: server.name,
                rollout: ServedManifest.rollout(of: plan),
                manifest: work.isEmpty ? nil : served.target,
                rows: rows,
                fetched: await errand.fetched,
                signal: Signals.exitCode
            )
            result = .success(
                (answer, work.isEmpty ? nil : served.text(work, store: AbsolutePath.of(state)))
            )
            await journal.close()
        } catch { result = .failure(CommandError(error)) }
        await fetcher.stop()
        return try result.get()
    }

    /// The right to speak to servers from this state directory.
    private static func lock(
        _ directory: StateDirectory,
        _ plan: FrozenPlan
    ) throws(CommandError) -> StateLock {
        do throws(StateDirectoryError) {
            return try directory.lockServers(rollout: plan.name, started: RealTime().wallTime)
        } catch {
            guard case .busy(let holder) = error else { throw CommandError(error) }
            throw CommandError(
                .busy,
                "another 'yardmaster sync' is at work" + (holder.map { ": \($0)" } ?? ""),
                hint: "wait until it has ended"
            )
        }
    }

    /// Writes the manifest of the night after it was read back; removes it when there is nothing to do.
    private func write(
        _ text: String?,
        to path: String,
        state: String
    ) throws(CommandError) {
        guard let text else {
            do throws(FileFault) { try FilePlace(path).remove() } catch {
                guard error.code == ENOENT else {
                    throw CommandError(.cannotWrite, "\(path) is out of date, and stays there")
                }
            }
            return
        }
        let bytes = Array(text.utf8)
        let read = try Inputs.read(path, common) { (file, limit) throws(FileError) in
            file == path ? bytes : try TextFile.read(path: file, limit: limit)
        }
        guard let plan = read.plan else {
            throw CommandError(
                .manifest,
                "the manifest of the night is not right, and was not written",
                because: read.diagnostics.filter { $0.severity == .error }.map { "\($0)" },
                hint: "`image` and `update` in servers.yaml are written into it as they are"
            )
        }
        // From now on the images are needed, whatever is removed from the store.
        try ImagePreparation.lockedStore(StoreFolder(stateDirectory: state), for: plan).release()
        try Draft.demand(bytes, to: path, mode: 0o644, .cannotWrite, "\(path) was not written")
    }
}
