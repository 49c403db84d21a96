import Base
import Glibc
import Operations
import PrivatePostgres
import Rollout
import Show
import Store
import Synchronization
import Testing
import Workbench

/// Who can say which execution may touch a module: each is held to the same tests.
enum Store: CaseIterable, Sendable {
    case journal, postgres

    /// Those that this machine has.
    static var present: [Store] {
        allCases.filter { $0 == .journal || PrivatePostgres.absence == nil }
    }

    static let server = Result { try PrivatePostgres() }

    /// Lends the rights of one run, and its journal.
    func withRights(
        _ clock: StoodClock = StoodClock(),
        plan vehicles: FleetPlan? = nil,
        part change: (inout FleetPart) -> Void = { _ in },
        _ body: (any Coordinator, Journal, Ground) async throws -> Void
    ) async throws {
        let scratch = try Scratch()
        let files = try ThreadExecutor.start(name: "files")
        defer { files.stop() }
        let lane = try ThreadExecutor.start(name: "fleet")
        defer { lane.stop() }
        let journal = try await Journal.open(directory: scratch.path, executor: files)
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let run = try await journal.beginRun(
            rollout: "city",
            plan: digest,
            at: WallTime(milliseconds: 0)
        )
        let local = LocalCoordinator(journal: journal, rollout: "city", run: run)
        let ground = Ground()
        let result: Result<Void, any Error>
        switch self {
        case .journal:
            do { result = .success(try await body(local, journal, ground)) } catch {
                result = .failure(error)
            }
        case .postgres:
            let server = try Self.server.get()
            ground.server = server
            ground.database = try server.database()
            let settings = FleetSettings(
                try FleetAddress(server.address(ground.database)),
                name: "test",
                connectTime: .seconds(60),
                statementTime: .seconds(60)
            )
            let fleet = FleetDatabase(settings, on: lane) { StoodClock.real }
            _ = try await fleet.upgrade(from: .absent, by: "test")
            ground.fleet = fleet
            let holder = FleetHolder(
                gateway: "north",
                random: (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            )
            let (beginning, _) = try await fleet.enter(
                "city",
                plan: digest,
                begins: false,
                seen: 0,
                as: holder
            )
            _ = try await fleet.enlist(
                try vehicles ?? FleetPlan.sample(),
                in: "city",
                beginning: beginning,
                as: holder
            )
            var part = FleetPart(beginning: beginning)
            change(&part)
            let coordinator = FleetCoordinator(
                local: local,
                journal: journal,
                fleet: fleet,
                holder: holder,
                rollout: "city",
                run: run,
                part: part,
                time: clock
            ) { ground.said($0) }
            // All on the database's thread: no time passes while it is asked.
            result = await withTaskExecutorPreference(lane) {
                do { return .success(try await body(coordinator, journal, ground)) } catch {
                    return .failure(error)
                }
            }
            await fleet.close()
        }
        await journal.close()
        try result.get()
    }
}

/// What lies under a store of PostgreSQL, for tests that change it behind its back.
final class Ground: Sendable {
    private let state = Mutex(State())

    private struct State {
        var server: PrivatePostgres?
        var fleet: FleetDatabase?
        var database = ""
        var words: [String] = []
        var asked: [String: Int] = [:]
    }

    var server: PrivatePostgres? {
        get { state.withLock { $0.server } }
        set { state.withLock { $0.server = newValue } }
    }

    var fleet: FleetDatabase? {
        get { state.withLock { $0.fleet } }
        set { state.withLock { $0.fleet = newValue } }
    }

    var database: String {
        get { state.withLock { $0.database } }
        set { state.withLock { $0.database = newValue } }
    }

    func said(_ text: String) { state.withLock { $0.words.append(text) } }
    var words: [String] { state.withLock { $0.words } }

    /// How often gateways have sent each statement.
    var asked: [String: Int] {
        get { state.withLock { $0.asked } }
        set { state.withLock { $0.asked = newValue } }
    }

    @discardableResult func ask(_ statement: String) throws -> String {
        try server?.query(database, statement) ?? ""
    }
}

/// A session that counts its statements by name.
struct CountedSession: FleetSession {
    let session: PostgresSession
    let ground: Ground

    var host: FleetAddress.Host { session.host }
    var serverVersion: Int { session.serverVersion }
    var isEncrypted: Bool { session.isEncrypted }

    func rows(
        _ statement: FleetStatement,
        within time: Duration
    ) throws(FleetError) -> [DatabaseRow] {
        ground.asked[statement.operation, default: 0] += 1
        return try session.rows(statement, within: time)
    }

    func run(_ statements: String, _ operation: String, within time: Duration) throws(FleetError) {
        ground.asked[operation, default: 0] += 1
        try session.run(statements, operation, within: time)
    }
}

/// A clock that goes on only when the test says so; anyone who waits by it has no time to lose.
final class StoodClock: Timekeeper {
    private let moment = Mutex(Moment(nanoseconds: 0))
    private let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)

    /// Anyone who waits does this first.
    func whenWaiting(_ body: @escaping @Sendable () async -> Void) {
        meanwhile.withLock { $0 = body }
    }

    static var real: Moment {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    var now: Moment { moment.withLock { $0 } }
    var wallTime: WallTime { WallTime(milliseconds: now.nanoseconds / 1_000_000) }

    func pass(_ time: Duration) { moment.withLock { $0 = $0.advanced(by: time) } }

    /// To wait is to let the time pass.
    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        await meanwhile.withLock { $0 }?()
        moment.withLock { $0 = max($0, deadline) }
        await Task.yield()
    }
}

extension Verdict {
    /// A verdict as a run gives it; every one but a success is a failure of the device.
    static func given(_ outcome: Outcome) -> Verdict {
        Verdict(
            outcome: outcome,
            failure: outcome == .succeeded ? nil : .device,
            message: "it does not answer",
            versionBefore: nil,
            versionAfter: nil,
            attempts: 1,
            interruptions: 0,
            bytesSent: .zero,
            took: .zero
        )
    }
}

extension FleetPlan {
    /// Two vehicles that have one module: anyone who has the right to it keeps the other away.
    static func sample() throws -> FleetPlan {
        let serial = try #require(Serial("a1"))
        return FleetPlan(
            try ["bus", "tram"].map {
                FleetPlan.Vehicle(try #require(VehicleID($0)), serial, wave: 0)
            },
            waves: 1
        )
    }
}
