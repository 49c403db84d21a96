import Foundation
import PrivatePostgres
import Testing
import Workbench

/// Runs of several gateways over one yard, each the built program, over a real PostgreSQL.
///
/// Each gateway has the yard in a simulation of its own, so what one must not do is judged by the
/// database's own record of who had the right to which module.
@Suite(
    .serialized,
    .enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed")
)
struct FleetRunTests {
    static let shared = Result { try PrivatePostgres() }

    /// A fleet that writes down every change of a right.
    struct Yard {
        let server: PrivatePostgres
        let database: String

        init() throws { try self.init(FleetRunTests.shared.get()) }

        init(_ server: PrivatePostgres) throws {
            self.server = server
            database = try server.database()
            let made = try Program().run(["fleet", "create", "--fleet", server.address(database)])
            try #require(made.status == 0, "\(made.errors)")
            try ask(
                """
                CREATE TABLE watch (number serial, serial text, epoch bigint, before uuid, after uuid);
                CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  INSERT INTO public.watch (serial, epoch, before, after)
                  VALUES (NEW.serial, NEW.epoch, CASE TG_OP WHEN 'UPDATE' THEN OLD.holder END, NEW.holder);
                  RETURN NULL;
                END $$;
                CREATE TRIGGER look AFTER INSERT OR UPDATE ON yardmaster.module
                FOR EACH ROW EXECUTE FUNCTION look();
                """
            )
        }

        @discardableResult
        func ask(_ statement: String) throws -> String { try server.query(database, statement) }

        /// Grants that took a right from another holder, and epochs that were granted twice.
        func faults() throws -> String {
            try ask(
                """
                SELECT * FROM watch WHERE before <> after;
                SELECT serial, epoch FROM watch GROUP BY serial, epoch
                HAVING count(DISTINCT after) > 1
                """
            )
        }

        /// With links on which an image takes many minutes: a paced run stays where it is wanted.
        func gateway(_ name: String, _ count: Int = 2) throws -> Gateway {
            let program = try Program.steered(
                count,
                rollout: "{waves: [rest]}",
                depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
            )
            return Gateway(program: program, name: name, address: server.address(database))
        }
    }

    struct Gateway {
        let program: Program
        let name: String
        let address: String

        private var environment: [String: String] { ["YARDMASTER_GATEWAY": name] }

        func run(_ more: String...) throws -> Program.Result {
            try program.run(
                program.steeredRun + ["--fleet", address] + more,
                environment: environment
            )
        }

        func begin(_ more: String...) throws -> Program.Running {
            try program.begin(
                "first",
                program.steeredRun + ["--fleet", address] + more,
                environment: environment
            )
        }
    }

    /// Until one gateway has the right to the first module and works with it.
    func working(_ running: Program.Running) throws {
        try #require(running.waits(for: #""acknowledged":"#), "\(running.result().errors)")
    }

    @Test func `one gateway takes each right and gives it back`() throws {
        let yard = try Yard()
        let north = try yard.gateway("north")
        let result = try north.run()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lastLine.contains("ok=2"))
        let left = try yard.ask(
            "SELECT count(*), count(holder), min(epoch), max(epoch) FROM yardmaster.module"
        )
        #expect(left == "2|0|1|1\n")
        #expect(try yard.faults() == "")
        let gone = try yard.ask("SELECT name, gone IS NOT NULL FROM yardmaster.gateway")
        #expect(gone == "north|t\n")
        let metrics = try Program().run([
            "gateways", "--metrics", "--fleet", yard.server.address(yard.database),
        ]).output
        for line in [
            #"yardmaster_gateway_up{gateway="north"} 0"#,
            #"yardmaster_gateway_links{gateway="north"} 1"#,
            #"yardmaster_gateway_rights_lost{gateway="north"} 0"#,
            #"yardmaster_gateway_unreported{gateway="north"} 0"#,
            "# TYPE yardmaster_gateway_clock_offset_seconds gauge",
        ] { #expect(metrics.contains(line), "\(metrics)") }
        // From any machine that reaches it.
        let fleet = ["--fleet", yard.server.address(yard.database)]
        let status = try Program().run(["fleet", "status"] + fleet)
        #expect(status.status == 0 && status.output.contains("\nrollout steered, begun "))
        #expect(status.output.contains("finished\ngate: 0 of 2 attempted have failed\n"))
        let lines = status.output.split(separator: "\n").filter { $0.hasPrefix("v") }.dropFirst()
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains("succeeded") && $0.contains("4.12.0") })
        #expect(lines.allSatisfy { $0.contains("north") })
        let quiet = try Program().run(["status", "--quiet"] + fleet).output
        #expect(quiet.contains("2 succeeded") && !quiet.contains("v1"))
        let document = try Program().run(["status", "--json"] + fleet).output
        #expect(document.contains(#""outcome":"succeeded""#))
        #expect(try Program().run(["fleet", "status", "--rollout", "none"] + fleet).status == 66)
        // The same once more: what has ended well is not looked at again.
        #expect(try north.run().status == 0)
        #expect(try yard.ask("SELECT max(epoch) FROM yardmaster.module") == "1\n")
    }

    @Test func `two gateways never have the right to one module`() throws {
        let yard = try Yard()
        let (north, south) = (try yard.gateway("north", 3), try yard.gateway("south", 3))
        let first = try north.begin("--pace", "1")
        try working(first)
        let second = try south.begin()
        #expect(second.waits(for: "north, for vehicle v1 of steered has the right to touch"))
        let fleet = ["--fleet", yard.server.address(yard.database)]
        // Beside a machine full of other work the server may be asked more than once.
        try wait(for: "the status of the fleet") {
            let during = try Program().run(["fleet", "status"] + fleet)
            guard during.status == 0 else { return false }
            #expect(during.output.contains("works on v1"), "\(during.output)")
            #expect(during.output.contains("north since "), "\(during.output)")
            return true
        }
        first.hurries()
        #expect(first.result().status == 0)
        // What the other one has done is told here with its name.
        let result = second.result()
        #expect(result.status == 0 && result.lastLine.contains("ok=3"), "\(result.errors)")
        #expect(second.events.contains("north: runs 4.12.0"))
        #expect(try yard.faults() == "")
    }

    @Test func `orders and inventories of the flag's fleet keep to what its gateways have`() throws
    {
        let yard = try Yard()
        let (north, south) = (try yard.gateway("north", 2), try yard.gateway("south", 2))
        let first = try north.begin("--pace", "1")
        try working(first)
        let rest = [
            "--manifest", "steered.yaml", "--simulate", "depot.yaml", "--fleet", south.address,
            "--state", south.program.state,
        ]
        let environment = ["YARDMASTER_GATEWAY": "south"]
        let looked = try south.program.run(["inventory"] + rest, environment: environment)
        #expect(looked.status == 11, "\(looked.errors)\(looked.output)")
        #expect(
            looked.output.contains("left alone: north, for vehicle v1 of steered has the right")
        )
        #expect(looked.output.contains("4.11.3"))
        // An order waits for a vehicle that another gateway works on.
        let order = try south.program.begin(
            "order",
            ["exec", "v*", "read speed"] + rest,
            environment: environment
        )
        #expect(order.waits(for: "north, for vehicle v1 of steered has the right to touch"))
        first.hurries()
        #expect(first.result().status == 0)
        let done = order.result()
        #expect(done.status == 0 && done.lastLine.contains("ok=2"), "\(done.errors)")
        let away = ["--fleet", "postgresql://127.0.0.1:1/yard"]
        let lost = try south.program.run(
            ["inventory", "--manifest", "steered.yaml", "--simulate", "depot.yaml"] + away
        )
        #expect(lost.status == 69, "\(lost.errors)")
        #expect(try yard.faults() == "")
    }

    @Test func `a gateway that was stopped past its right does nothing more`() throws {
        let yard = try Yard()
        let (north, south) = (try yard.gateway("north", 1), try yard.gateway("south", 1))
        let first = try north.begin("--pace", "1")
        try working(first)
        kill(first.process.processIdentifier, SIGSTOP)
        // As if it had stood still for an hour.
        try yard.ask(
            "UPDATE yardmaster.module SET expires = expires - interval '1 h' WHERE holder IS NOT NULL"
        )
        let second = try south.run()
        #expect(second.status == 0, "\(second.errors)")
        kill(first.process.processIdentifier, SIGCONT)
        first.hurries()
        let result = first.result()
        #expect(result.errors.contains("is over: its link is closed"), "\(result.errors)")
        // The verdict of the gateway that took over is the verdict here, too.
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("south: runs 4.12.0"), "\(result.output)")
        let taken = try yard.ask(
            "SELECT count(*) FROM watch WHERE before <> after AND epoch = 2"
        )
        #expect(taken == "1\n")
        // What it told too late stands in nobody's way.
        let told = try yard.ask(
            "SELECT gateway, outcome, counts FROM yardmaster.verdict ORDER BY 1"
        )
        #expect(told == "north|failed|f\nsouth|succeeded|t\n")
        // Nothing is owed here any more.
        let next = try north.run()
        #expect(next.status == 0, "\(next.output)")
    }

    @Test func `a gateway that was killed gives back when it starts again`() throws {
        let yard = try Yard()
        let north = try yard.gateway("north", 1)
        let first = try north.begin("--pace", "1")
        try working(first)
        kill(first.process.processIdentifier, SIGKILL)
        _ = first.result()
        #expect(try yard.ask("SELECT count(holder) FROM yardmaster.module") == "1\n")
        // Nobody else may have it yet, though its right is over.
        try yard.ask("UPDATE yardmaster.module SET expires = expires - interval '61 s'")
        let other = try yard.gateway("south", 1).run()
        #expect(other.status == 11)
        #expect(other.output.contains("has vanished"))
        let second = try north.run()
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.errors.contains("gave back 1 module "))
        #expect(try yard.faults() == "")
    }

    @Test func `a gateway that is drained finishes what it has and begins nothing more`() throws {
        let yard = try Yard()
        let fleet = ["--fleet", yard.server.address(yard.database)]
        let north = try yard.gateway("north")
        let running = try north.begin("--pace", "60")
        try working(running)
        let asked = try Program().run(["gateway", "drain", "north"] + fleet)
        #expect(asked.status == 0, "\(asked.errors)")
        #expect(asked.output.hasPrefix("north: finishes what it has and begins nothing more"))
        #expect(try Program().run(["gateways"] + fleet).output.contains("draining"))
        let drained = running.result()
        #expect(drained.status == 15, "\(drained.errors)")
        #expect(drained.errors.contains("asked this gateway to take nothing more"))
        let executions = "SELECT state, outcome FROM yardmaster.execution ORDER BY vehicle"
        #expect(try yard.ask(executions) == "ended|succeeded\nqueued|\n")
        #expect(try yard.ask("SELECT count(*) FROM watch WHERE before IS NULL") == "1\n")

        // Who is not at work, or not known, is named and not answered for.
        let ended = try Program().run(["gateway", "drain", "north"] + fleet)
        #expect(ended.status == 64 && ended.errors.contains("its run has ended"))
        let unknown = try Program().run(["gateway", "drain", "nroth"] + fleet)
        #expect(unknown.status == 64 && unknown.errors.contains("there are: north"))

        let next = try north.run()
        #expect(next.status == 0, "\(next.errors)")
        #expect(try yard.ask(executions) == "ended|succeeded\nended|succeeded\n")
        #expect(try yard.faults() == "")
    }

    @Test func `a database that dies under a run holds it up and does not end it`() throws {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let yard = try Yard(server)
        let north = try yard.gateway("north", 3)
        let first = try north.begin("--pace", "5")
        try working(first)
        try server.kill()
        #expect(first.says("the fleet's database does not answer"))
        try server.start()
        first.hurries()
        let result = first.result()
        // How long it was away decides whether the vehicle at work was brought to an end in time.
        #expect([0, 10, 11].contains(result.status), "\(result.errors)")
        let next = try north.run()
        #expect(next.status == 0, "\(next.output)")
        #expect(try yard.faults() == "")
    }

    /// Many gateways that begin in the same minute with a long list enter one after the other.
    @Test func `a run whose entry waits for others longer than a statement may enters after them`()
        throws
    {
        let yard = try Yard()
        let (north, south) = (try yard.gateway("north"), try yard.gateway("south"))
        #expect(try north.run().status == 0)
        let other = try yard.server.session(of: yard.database)
        try other.say("BEGIN; SELECT FROM yardmaster.rollout FOR UPDATE;")
        try wait(for: "the other one to have the row") {
            try yard.ask("SELECT count(*) FROM pg_locks WHERE mode = 'RowShareLock' AND granted")
                != "0\n"
        }
        let running = try south.begin()
        #expect(running.says("this run waits for it"), "\(running.result().errors)")
        other.end()
        let result = running.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("the fleet's database is busy"), "\(result.errors)")
    }

    @Test func `a run whose session is lost as it enters enters again`() throws {
        let yard = try Yard()
        let north = try yard.gateway("north")
        try yard.ask(
            """
            CREATE SEQUENCE cuts;
            CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              IF nextval('public.cuts') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
              RETURN NULL;
            END $$;
            CREATE TRIGGER cut AFTER INSERT ON yardmaster.execution
            FOR EACH STATEMENT EXECUTE FUNCTION cut();
            """
        )
        let result = try north.run()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lastLine.contains("ok=2"))
        #expect(try yard.ask("SELECT last_value > 1 FROM cuts") == "t\n", "it was not cut")
        #expect(result.errors.contains("this run waits for it"), "\(result.errors)")
        let rows = try yard.ask("SELECT max(beginning), max(epoch) FROM yardmaster.execution")
        #expect(rows == "1|1\n")
    }

    @Test func `a run ends though its database never comes back`() throws {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let yard = try Yard(server)
        let north = try yard.gateway("north", 3)
        let running = try north.begin("--pace", "1")
        try working(running)
        try server.kill()
        running.hurries()
        let result = running.result()
        // The update that was begun on the first one is not proven; the others are deferred after half an hour.
        #expect(result.status == 10, "\(result.errors)\(result.output)")
        #expect(result.lastLine.contains("deferred=2"), "\(result.lastLine)")
        #expect(result.lastLine.contains("failed=1"), "\(result.lastLine)")
        #expect(result.output.contains("the fleet's database does not answer"), "\(result.output)")
    }

    @Test func `a run begins nothing where it could not be right`() throws {
        let yard = try Yard()
        let north = try yard.gateway("north")
        func isUntouched() throws {
            #expect(try yard.ask("SELECT count(*) FROM yardmaster.module") == "0\n")
        }
        // Somebody else goes by its name.
        try yard.ask(
            """
            INSERT INTO yardmaster.gateway (instance, name, program)
            VALUES ('00000000-0000-4000-8000-000000000001', 'north', 'another')
            """
        )
        let twin = try north.run()
        #expect(twin.status == 75 && twin.errors.contains("as north"))
        try yard.ask("UPDATE yardmaster.gateway SET gone = now()")
        // The tables come from a dump.
        try yard.ask("UPDATE yardmaster.history SET module_table = 1")
        let restored = try north.run()
        #expect(restored.status == 78 && restored.errors.contains("accept-restore"))
        try yard.ask("UPDATE yardmaster.history SET module_table = 'yardmaster.module'::regclass")
        try isUntouched()
        // Nobody answers.
        let away = try north.program.run(
            north.program.steeredRun + ["--fleet", "postgresql://127.0.0.1:1/yard"]
        )
        #expect(away.status == 69)
        #expect(try north.run().status == 0)
    }
}
