import Base
import Glibc
import Operations
import PrivatePostgres
import Simulation
import Store
import Synchronization
import Workbench

/// The PostgreSQL under nights of several gateways: a real one, whose clock is that of the simulation.
///
/// One server for a process; each life finds its tables empty.
package final class FleetNightGround: Sendable {
    package static let shared = Result { try FleetNightGround() }

    /// Why there is none on this machine, nil when there is.
    package static var absence: String? { PrivatePostgres.absence }

    private let server: PrivatePostgres
    private let database: String
    /// What the server's clock reads: microseconds since 1970 as text.
    private let clockPath: String
    private let clock: CInt
    private let shown = Mutex<Int64>(-1)
    private let idle = Mutex<[Idle]>([])
    private let isMade = Mutex(false)

    /// A session that has ended well goes on as another one: to make one costs more than a night.
    private struct Idle: @unchecked Sendable {
        // Whoever takes it out of the list is the only one who has it.
        let session: PostgresSession
    }

    private init() throws {
        server = try PrivatePostgres()
        database = try server.database()
        clockPath = server.scratch.path + "/clock"
        clock = open(clockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard clock >= 0 else { throw NightDepot.Mistake(description: "no file for the clock") }
        chmod(clockPath, 0o644)
    }

    /// The session of somebody to whom nothing happens.
    func database(_ simulation: Simulation) throws -> FleetDatabase {
        try database(simulation, over: FleetNightLine(simulation.time))
    }

    func database(
        _ simulation: Simulation,
        over line: FleetNightLine,
        _ watch: NightWatch? = nil
    ) throws -> FleetDatabase {
        let settings = FleetSettings(
            try FleetAddress(server.address(database)),
            name: "nights",
            connectTime: .seconds(60),
            statementTime: .seconds(60)
        )
        // On the world's own thread: no time passes while it is asked.
        return FleetDatabase(settings, on: simulation.worldLane) {
            (settings, host) throws(FleetError) in
            try line.pass("connect")
            self.show(simulation.time.wallTime)
            let session: PostgresSession
            if let idle = self.idle.withLock({ $0.popLast() }) {
                session = idle.session
            } else {
                session = try PostgresSession.open(settings, at: host) { Self.real }
            }
            return FleetNightSession(session, over: line) {
                watch?.asks()
                self.show(simulation.time.wallTime)
            } whenOver: { session in
                self.idle.withLock { $0.append(Idle(session: session)) }
            }
        }
    }

    /// Ends the sessions of a life that was stopped; it does not close them itself.
    func abandon() throws {
        idle.withLock { $0 = [] }
        try server.query(
            database,
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
    }

    private static var real: Moment {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Sets the server's clock.
    private func show(_ time: WallTime) {
        let isNew = shown.withLock { shown in
            defer { shown = time.milliseconds }
            return shown != time.milliseconds
        }
        guard isNew else { return }
        // A fixed width: what was there before is written over as a whole.
        let bytes = Array("\(time.milliseconds)000".utf8)
        _ = pwrite(clock, bytes, bytes.count, 0)
    }

    /// Makes the tables, or empties them.
    func prepare(_ admin: FleetDatabase) async throws {
        if isMade.withLock({ isMade in
            defer { isMade = true }; return !isMade
        }) {
            _ = try await admin.upgrade(from: .absent, by: "nights")
            try await admin.run(Self.watch.replacing("PATH", with: clockPath), "watch the tables")
        }
        try await admin.run(Self.empty, "empty the tables")
    }

    /// What has no rows costs no new files, as it would to truncate it.
    private static let empty =
        "SET session_replication_role = replica;"
        + [
            "module", "gateway", "verdict", "rollout", "step", "debt", "owed", "inhibit", "failure",
            "said", "execution", "missed", "hearing", "awaited",
        ].map { "DELETE FROM yardmaster.\($0);" }.joined()
            + """
            DELETE FROM night.touch; DELETE FROM night.wave;
            ALTER SEQUENCE yardmaster.verdict_number_seq RESTART;
            UPDATE yardmaster.history SET generation = 1, claims_after = yardmaster.clock();
            SET session_replication_role = origin;
            """

    /// The clock, and what becomes of rights and waves, for anyone who judges it.
    private static let watch = """
        CREATE OR REPLACE FUNCTION yardmaster.clock() RETURNS timestamptz
        LANGUAGE sql VOLATILE AS $$
          SELECT timestamptz 'epoch' + pg_read_file('PATH')::bigint * interval '1 microsecond'
        $$;
        CREATE SCHEMA night;
        CREATE TABLE night.touch (
          number bigint GENERATED ALWAYS AS IDENTITY, at timestamptz, serial text, epoch bigint,
          holder uuid, expires timestamptz, vehicle text, is_new boolean, hold text,
          owes boolean, early boolean);
        CREATE TABLE night.wave (
          number bigint GENERATED ALWAYS AS IDENTITY, at timestamptz, rollout text,
          beginning bigint, wave integer, hold text, resumed bigint, soaked bigint);
        CREATE FUNCTION night.touched() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE is_new boolean := NEW.holder IS NOT NULL
          AND (TG_OP = 'INSERT' OR OLD.epoch <> NEW.epoch);
        BEGIN
          INSERT INTO night.touch
            (at, serial, epoch, holder, expires, vehicle, is_new, hold, owes, early)
          SELECT yardmaster.clock(), NEW.serial, NEW.epoch, NEW.holder, NEW.expires, NEW.vehicle,
            is_new, CASE WHEN is_new THEN r.hold END,
            is_new AND (EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = NEW.serial)
              OR EXISTS (SELECT FROM yardmaster.owed o WHERE o.vehicle = NEW.vehicle)
              OR EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = NEW.vehicle
                AND (s.outcome IS NULL OR s.outcome = 'in-doubt'))),
            is_new AND EXISTS (SELECT FROM yardmaster.execution e
              JOIN yardmaster.execution f ON f.rollout = e.rollout AND f.beginning = e.beginning
                AND f.wave < e.wave AND f.state <> 'ended'
              WHERE e.rollout = NEW.rollout AND e.beginning = r.beginning
                AND e.vehicle = NEW.vehicle AND e.wave > r.wave)
          FROM (SELECT 1) AS one LEFT JOIN yardmaster.rollout r ON r.name = NEW.rollout;
          RETURN NEW;
        END $$;
        CREATE TRIGGER touched AFTER INSERT OR UPDATE ON yardmaster.module
        FOR EACH ROW EXECUTE FUNCTION night.touched();
        CREATE FUNCTION night.moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF TG_OP = 'INSERT' OR NEW.wave <> OLD.wave OR NEW.beginning <> OLD.beginning
            OR NEW.hold IS DISTINCT FROM OLD.hold
          THEN
            INSERT INTO night.wave (at, rollout, beginning, wave, hold, resumed, soaked)
            VALUES (yardmaster.clock(), NEW.name, NEW.beginning, NEW.wave, NEW.hold, NEW.resumed,
              CASE WHEN TG_OP = 'UPDATE' AND OLD.wave_ended IS NOT NULL
                THEN extract(epoch FROM yardmaster.clock() - OLD.wave_ended)::bigint END);
          END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER moved AFTER INSERT OR UPDATE ON yardmaster.rollout
        FOR EACH ROW EXECUTE FUNCTION night.moved();
        """
}

/// What lies between one start of a gateway and the database.
final class FleetNightLine: Sendable {
    private struct State {
        var isDead = false
        var awayUntil: Moment?
        /// Sessions of before are lost.
        var generation = 0
        var answersToLose = 0
    }

    private let state = Mutex(State())
    private let time: VirtualTime

    init(_ time: VirtualTime) { self.time = time }

    /// The process that speaks on it is gone.
    func dies() { state.withLock { $0.isDead = true } }

    /// Another one speaks on it, in sessions of its own.
    func rises() {
        state.withLock {
            $0.isDead = false
            $0.generation += 1
            $0.answersToLose = 0
        }
    }

    func cut(for seconds: Int) {
        let until = time.now.advanced(by: .seconds(seconds))
        state.withLock {
            $0.awayUntil = max($0.awayUntil ?? until, until)
            $0.generation += 1
        }
    }

    func loseAnswer() { state.withLock { $0.answersToLose += 1 } }

    var generation: Int { state.withLock { $0.generation } }

    func pass(_ operation: String) throws(FleetError) {
        let now = time.now
        let isOpen = state.withLock { state in
            !state.isDead && state.awayUntil.map { $0 <= now } ?? true
        }
        guard isOpen else { throw FleetError(.unreachable, operation, "no answer for 4 s") }
    }

    /// Whether the answer that just came is lost.
    var losesAnswer: Bool {
        state.withLock { state in
            guard state.answersToLose > 0 else { return false }
            state.answersToLose -= 1
            return true
        }
    }
}

/// A session that ends as the line does.
private final class FleetNightSession: FleetSession {
    private let session: PostgresSession
    private let line: FleetNightLine
    private let generation: Int
    private let show: () -> Void
    private let whenOver: (PostgresSession) -> Void
    private var isWell = true

    init(
        _ session: PostgresSession,
        over line: FleetNightLine,
        show: @escaping () -> Void,
        whenOver: @escaping (PostgresSession) -> Void
    ) {
        (self.session, self.line) = (session, line)
        (self.show, self.whenOver) = (show, whenOver)
        generation = line.generation
    }

    deinit { if isWell { whenOver(session) } }

    var host: FleetAddress.Host { session.host }
    var serverVersion: Int { session.serverVersion }
    var isEncrypted: Bool { session.isEncrypted }

    func rows(
        _ statement: FleetStatement,
        within time: Duration
    ) throws(FleetError) -> [DatabaseRow] {
        try begin(statement.operation)
        isWell = false
        let rows = try session.rows(statement, within: time)
        isWell = true
        try end(statement.operation)
        return rows
    }

    func run(_ statements: String, _ operation: String, within time: Duration) throws(FleetError) {
        try begin(operation)
        isWell = false
        try session.run(statements, operation, within: time)
        isWell = true
        try end(operation)
    }

    private func begin(_ operation: String) throws(FleetError) {
        do throws(FleetError) { try line.pass(operation) } catch {
            throw FleetError(.lost, operation, "no answer for 8 s")
        }
        guard generation == line.generation else {
            throw FleetError(.lost, operation, "the session has ended")
        }
        show()
    }

    private func end(_ operation: String) throws(FleetError) {
        if line.losesAnswer { throw FleetError(.lost, operation, "no answer for 8 s") }
    }
}
