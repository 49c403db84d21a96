import Base
import Images
import Manifest
import Samples
import Servers
import Site
import Store
import Testing
import Workbench

/// Time that stands still.
struct StillTime: Timekeeper {
    var now: Moment { Moment(nanoseconds: 0) }
    var wallTime: WallTime { WallTime(milliseconds: 1_790_000_000_000) }
    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {}
}

let serversText = """
    servers:
      office:
        url: https://updates.example/DEFAULT
        controller: "bike-{serial}"
        attributes: {sw_version: "{version}", place: "{depot}"}
        artifacts:
          - {file: "*.img", trust: transport, image: {fits: {family: mcumgr}}}
    """

let manifestText = """
    name: tallinn
    vehicles:
      - {id: EE-1, serial: tag-1, family: mcumgr, depot: north}
      - {id: EE-2, serial: tag-2, family: mcumgr, depot: north}
    steps:
      - require: {signal: ">= -90"}
      - wait: 5s
    rollout: {waves: [1, rest], quarantine-after: 2}
    """

/// A gateway with two vehicles, its journal and its store, at a server in memory.
final class ServedYard {
    let scratch: Scratch
    let server: FakeServer
    let settings: ServerSettings
    let plan: FrozenPlan
    let journal: Journal
    private let threads: [ThreadExecutor]
    private let fetcher: ImageFetcher
    private let share: ServerShare?
    /// The way to the server, where it is not in memory.
    var line: (any ServerLine)?
    let image: [UInt8]

    init(
        _ servers: String = serversText,
        at server: FakeServer? = nil,
        sharing share: ServerShare? = nil
    ) async throws {
        self.share = share
        scratch = try Scratch()
        image = try MCUbootFile.sample(size: 2_000).bytes
        self.server = server ?? FakeServer(image)
        settings = try #require(
            ServersReader.read(servers.bytes, path: "servers.yaml").servers?.first
        )
        plan = try #require(try Self.plan(manifestText, at: "tallinn.yaml"))
        threads = [try .start(name: "journal"), try .start(name: "images")]
        journal = try await Journal.open(directory: scratch.path, executor: threads[0])
        fetcher = ImageFetcher(
            into: StoreFolder(stateDirectory: scratch.path),
            settings: FetchSettings(),
            time: StillTime(),
            seed: 1,
            executor: threads[1]
        )
    }

    func end() async {
        await journal.close()
        await fetcher.stop()
        for thread in threads { thread.stop() }
    }

    static func plan(_ text: String, at path: String) throws -> FrozenPlan? {
        try ManifestReader.read(text.bytes, path: path) { path, _ throws(FileError) in
            throw FileError(path: path, reason: .missing)
        }.plan
    }

    private func errand(
        _ settings: ServerSettings?,
        of plan: FrozenPlan?
    ) async throws -> ServerErrand {
        try await ServerErrand(
            to: settings ?? self.settings,
            for: plan ?? self.plan,
            journal: journal,
            over: line ?? server,
            into: fetcher,
            state: scratch.path,
            host: "gateway-1",
            time: StillTime(),
            sharing: share
        )
    }

    /// One `sync`, with the images that the next run is to bring to modules.
    @discardableResult
    func sync(_ settings: ServerSettings? = nil, of plan: FrozenPlan? = nil) async throws -> (
        rows: [SyncRow], work: [(action: ServerAction, image: SHA256Digest)]
    ) {
        let errand = try await errand(settings, of: plan)
        let rows = try await errand.run { false }
        return (rows, try await errand.work())
    }

    /// One run, in which a vehicle ended like this.
    func run(
        _ outcome: Outcome,
        _ failure: FailureClass? = nil,
        on vehicle: Int = 0,
        version: FirmwareVersion? = nil,
        of image: SHA256Digest? = nil
    ) async throws {
        let row = plan.vehicles[vehicle]
        let number = try await begin()
        var record = try await execution(of: row, in: number)
        record.state = .ended
        record.versionAfter = version
        record.image = image
        record.end = .init(outcome, failure: failure, message: "as the test says", at: at)
        try await journal.record(record, durably: true)
        try await journal.endRun(number, exitCode: 0, reason: "done", at: at)
    }

    var at: WallTime { StillTime().wallTime }

    func begin() async throws -> Int {
        try await journal.beginRun(
            rollout: "tallinn-servers",
            plan: SHA256.digest(of: []),
            at: at
        )
    }

    func execution(of vehicle: PlannedVehicle, in run: Int) async throws -> ExecutionRecord {
        let fresh = ExecutionRecord(
            rollout: "tallinn-servers",
            vehicle: vehicle.id,
            serial: vehicle.serial,
            run: run,
            started: at
        )
        return try #require(try await journal.begin(Beginning(nil, fresh: [fresh])).first)
    }

    /// Writes that a transfer of the image begins, as a run does before its first packet.
    @discardableResult
    func transfer(to vehicle: Int = 0) async throws -> (record: ExecutionRecord, debt: Debt) {
        let record = try await execution(of: plan.vehicles[vehicle], in: try await begin())
        let debt = Debt(
            serial: record.serial,
            image: SHA256.digest(of: image),
            name: "tracker",
            version: FirmwareVersion(2, 0),
            target: "secondary",
            total: image.count,
            stage: "transferring",
            of: record,
            begun: at
        )
        let intent = Intent(
            of: record,
            step: StepKey(nil),
            place: 0,
            effect: .transfer,
            description: "update",
            image: debt.image,
            begun: at
        )
        _ = try await journal.intend(intent, opening: debt)
        return (record, debt)
    }
}

/// Calls `body` with a yard, and ends it.
func withYard(
    _ servers: String = serversText,
    _ body: (ServedYard) async throws -> Void
) async throws {
    let yard = try await ServedYard(servers)
    let result: Result<Void, any Error>
    do { result = .success(try await body(yard)) } catch { result = .failure(error) }
    await yard.end()
    try result.get()
}
