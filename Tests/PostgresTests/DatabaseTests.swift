import Base
import Glibc
import PrivatePostgres
import Store
import Testing
import Workbench

/// Sessions, tables, roles and the guard, with a real PostgreSQL.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct DatabaseTests {
    @Test func `a statement answers, collides, and is refused by name`() async throws {
        try await Cluster.withFleet { fleet, _, _ in
            let row = try await fleet.rows(
                "ask",
                "SELECT $1, $2::bigint + 1, NULL, true",
                ["a'\\b ü", "41"]
            )
            #expect(row == [DatabaseRow(["a'\\b ü", "42", nil, "t"])])
            let error = await #expect(throws: FleetError.self) {
                try await fleet.rows("divide", "SELECT 1/0")
            }
            #expect(error?.kind == .refused && error?.code == "22012")
            #expect(error?.description == "divide: division by zero (22012)")
            // The session still works.
            #expect(try await fleet.rows("ask", "SELECT 1") == [DatabaseRow(["1"])])
            let server = try await fleet.server()
            #expect(server.version >= 130_000 && !server.isEncrypted)
        }
    }

    @Test func `a password comes from a credential, and a wrong one is no password`() async throws {
        let server = try Cluster.server
        let database = try server.database()
        let role = "north_\(UInt32.random(in: .min ... .max))"
        try server.query("postgres", "CREATE ROLE \(role) LOGIN PASSWORD 'open sesame'")
        let address = "postgresql://\(role)@127.0.0.1:\(server.port)/\(database)"
        let right = try Cluster.settings(address, password: "open sesame\n")
        let user = try await Cluster.with(right) { fleet in
            try await fleet.rows("ask", "SELECT current_user")
        }
        #expect(user == [DatabaseRow([role])])
        let wrong = try Cluster.settings(address, password: "sesame")
        let error = await #expect(throws: FleetError.self) {
            try await Cluster.with(wrong) { try await $0.server() }
        }
        #expect(error?.kind == .denied)
        #expect(
            error?.words.contains("FATAL: password authentication failed for user") == true,
            "\(error?.words ?? "")"
        )
        #expect(error?.words.contains("LOCATION") == false)
        #expect(error?.description.contains("sesame") == false)
    }

    @Test func `of several servers the one that answers is taken`() async throws {
        let server = try Cluster.server
        let database = try server.database()
        let closed = try ClosedPort()
        let host = server.socket.replacing("/", with: "%2F")
        let address =
            "postgresql://\(PrivatePostgres.superuser)@127.0.0.1:\(closed.number),"
            + "\(host):\(server.port)/\(database)"
        let found = try await Cluster.with(try Cluster.settings(address)) { try await $0.server() }
        #expect(found.host.isSocket)
        let none = try Cluster.settings(
            "postgresql://127.0.0.1:\(closed.number),[::1]:\(closed.number)/x"
        )
        let error = await #expect(throws: FleetError.self) {
            try await Cluster.with(none) { try await $0.server() }
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.operation == "connect to one of 2 servers")
    }

    @Test func `a server that says nothing is not waited for`() async throws {
        // The server accepts the connection and does nothing else.
        let silent = try HostileServer { _, connection in
            var byte: UInt8 = 0
            _ = recv(connection.socket, &byte, 1, 0)
        }
        let settings = FleetSettings(
            try FleetAddress("postgresql://127.0.0.1:\(silent.port)/yard"),
            name: "test",
            connectTime: .milliseconds(50)
        )
        let error = await #expect(throws: FleetError.self) {
            try await Cluster.with(settings) { try await $0.server() }
        }
        #expect(error?.words == "no answer for 50ms")
    }

    @Test func `a session that the server ends is made again`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            let ask = FleetStatement("ask", "SELECT pg_backend_pid()")
            let first = try await fleet.rows(ask)
            try server.query(
                database,
                "SELECT pg_terminate_backend(\(first[0].text(0) ?? "0"), 60000)"
            )
            let error = await #expect(throws: FleetError.self) { try await fleet.rows(ask) }
            #expect(error?.kind == .lost)
            let second = try await fleet.rows(ask)
            #expect(second != first)
        }
    }

    @Test func `a session whose last answer has no end is not used again`() async throws {
        // A full disk, as a statement that may be repeated is told of it.
        let server = try HalfServer(error: "53100")
        let settings = FleetSettings(
            try FleetAddress("postgresql://127.0.0.1:\(server.port)/yard"),
            name: "test",
            connectTime: .seconds(60),
            statementTime: .milliseconds(50)
        )
        try await Cluster.with(settings) { fleet in
            for number in 1...2 {
                let error = await #expect(throws: FleetError.self) {
                    try await fleet.rows(FleetStatement("ask", "SELECT 1"))
                }
                #expect(error?.kind == .lost)
                #expect(error?.words == "no answer for 50ms")
                #expect(server.sessions == number)
            }
        }
    }

    @Test func `a pooler is refused, and what to do is said`() async throws {
        // It gives its own number first, and the server gives another.
        let server = try HalfServer(error: "53100", said: "8")
        let address = try FleetAddress("postgresql://127.0.0.1:\(server.port)/yard")
        try await Cluster.with(FleetSettings(address, name: "test")) { fleet in
            let error = await #expect(throws: FleetError.self) {
                try await fleet.rows(FleetStatement("ask", "SELECT 1"))
            }
            #expect(error?.kind == .denied)
            #expect(error?.code == FleetError.pooled)
        }
    }

    @Test func `a statement that is given up leaves no session on the server`() async throws {
        // A server of its own: it waits for a standby that there is not.
        let server = try PrivatePostgres()
        defer { server.stop() }
        let database = try server.database()
        let settings = FleetSettings(
            try FleetAddress(server.address(database)),
            name: "given-up",
            connectTime: .seconds(60),
            statementTime: .milliseconds(500)
        )
        try server.query(database, "CREATE TABLE public.seen (a int)")
        try server.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try server.query("postgres", "SELECT pg_reload_conf()")
        try await Cluster.with(settings) { fleet in
            // The server obeys a moment after it was told to.
            var given: [String] = []
            for _ in 0..<10_000 where given.count < 3 {
                do throws(FleetError) {
                    _ = try await fleet.rows(
                        "write",
                        "INSERT INTO public.seen VALUES (1)"
                    )
                } catch { given.append(error.words) }
            }
            #expect(given == Array(repeating: "no answer for 500ms", count: 3))
        }
        try wait(for: "the sessions to end") {
            try server.query(
                "postgres",
                "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'given-up%'"
            ) == "0\n"
        }
        // Each write was carried out here, as a lost answer may mean.
        #expect(try server.query(database, "SELECT count(*) FROM public.seen") == "3\n")
    }

    // MARK: Tables

    @Test func `tables are made once, and nothing is changed unasked`() async throws {
        let server = try Cluster.server
        let database = try server.database()
        try await Cluster.with(try Cluster.settings(server.address(database))) { fleet in
            #expect(try await fleet.standing() == .absent)
            #expect(try await fleet.upgrade(from: .absent, by: "it's 1.0"))
            #expect(try await fleet.standing() == .same)
            #expect(try await !fleet.upgrade(from: .same, by: "test"))
            let made = try server.query(
                database,
                "SELECT max(version), min(program) FROM yardmaster.migration"
            )
            #expect(made == "\(FleetSchema.current.version)|it's 1.0\n")
            // A second upgrade changes nothing.
            let error = await #expect(throws: FleetError.self) {
                try await fleet.upgrade(from: .absent, by: "test")
            }
            #expect(error?.kind == .refused)
            #expect(try await fleet.standing() == .same)
        }
    }

    @Test func `an upgrade is whole or not at all, and older programs know whether they may go on`()
        async throws
    {
        try await Cluster.withFleet { fleet, server, database in
            let version = FleetSchema.current.version
            let good = FleetSchema.Migration(
                version: version + 1,
                oldestReader: 1,
                statements: "CREATE TABLE yardmaster.more (a int);"
            )
            let bad = FleetSchema.Migration(
                version: version + 2,
                oldestReader: version + 2,
                statements: "CREATE TABLE yardmaster.third (a int); SELECT 1/0;"
            )
            let broken = FleetSchema(FleetSchema.current.migrations + [good, bad])
            #expect(try await fleet.standing(of: broken) == .older(version))
            await #expect(throws: FleetError.self) {
                try await fleet.upgrade(to: broken, from: .older(version), by: "test")
            }
            #expect(try await fleet.standing() == .same)
            let next = FleetSchema(FleetSchema.current.migrations + [good])
            #expect(try await fleet.upgrade(to: next, from: .older(version), by: "test"))
            #expect(try await fleet.standing(of: next) == .same)
            #expect(try await fleet.standing() == .ahead(version + 1))
            // Another upgrade came first.
            await #expect(throws: FleetError.self) {
                try await fleet.upgrade(to: next, from: .older(version), by: "test")
            }
            try server.query(
                database,
                "UPDATE yardmaster.schema SET version = 99, oldest_reader = 99"
            )
            #expect(try await fleet.standing() == .newer(99))
        }
    }

    @Test func `an upgrade may take longer than a statement of a run`() async throws {
        try await Cluster.withFleet { _, server, database in
            let version = FleetSchema.current.version
            let slow = FleetSchema(
                FleetSchema.current.migrations + [
                    FleetSchema.Migration(
                        version: version + 1,
                        oldestReader: 1,
                        statements: "SELECT pg_sleep(2.5);"
                    )
                ]
            )
            let settings = FleetSettings(
                try FleetAddress(server.address(database)),
                name: "hurried",
                connectTime: .seconds(60),
                statementTime: .milliseconds(1_600)
            )
            try await Cluster.with(settings) { fleet in
                await #expect(throws: FleetError.self) {
                    try await fleet.rows("sleep", "SELECT pg_sleep(2.5)")
                }
                #expect(try await fleet.upgrade(to: slow, from: .older(version), by: "test"))
                #expect(try await fleet.standing(of: slow) == .same)
                // The session has its limit again.
                let limit = try await fleet.rows(
                    "ask",
                    "SHOW statement_timeout"
                )
                #expect(limit.first?.text(0) == "1s")
            }
        }
    }

    /// What a role may change, by the server's own words: a line for each table, and one of functions.
    private static func rights(of role: String) -> String {
        """
        SELECT c.relname || ': ' || concat_ws(' ',
          CASE WHEN has_table_privilege('\(role)', c.oid, 'INSERT') THEN 'insert' END,
          CASE WHEN has_table_privilege('\(role)', c.oid, 'UPDATE') THEN 'update'
            ELSE (SELECT 'update(' || string_agg(a.attname, ' ' ORDER BY a.attnum) || ')'
              FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
                AND has_column_privilege('\(role)', c.oid, a.attnum, 'UPDATE')) END,
          CASE WHEN has_table_privilege('\(role)', c.oid, 'DELETE') THEN 'delete' END,
          CASE WHEN has_table_privilege('\(role)', c.oid, 'TRUNCATE') THEN 'truncate' END)
        FROM pg_class c WHERE c.relnamespace = 'yardmaster'::regnamespace AND c.relkind = 'r'
          AND (has_table_privilege('\(role)', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
            OR has_any_column_privilege('\(role)', c.oid, 'UPDATE'))
        ORDER BY c.relname
        """
    }

    /// Functions with the rights of the owner that a role may call.
    private static func functions(of role: String) -> String {
        """
        SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p
        WHERE p.pronamespace = 'yardmaster'::regnamespace AND p.prosecdef
          AND has_function_privilege('\(role)', p.oid, 'EXECUTE')
        """
    }

    @Test func `a role may do what it is for and no more`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            #expect(try await fleet.grantRights() == [])
            // Granting is safe to repeat, and takes back what an earlier program has granted.
            try server.query(database, "GRANT UPDATE ON yardmaster.rollout TO yardmaster_gateway")
            #expect(try await fleet.grantRights() == [])
            func rights(_ role: String) throws -> [String] {
                try server.query(database, Self.rights(of: "yardmaster_\(role)"))
                    .split(separator: "\n").map(String.init)
            }
            func functions(_ role: String) throws -> String {
                try server.query(database, Self.functions(of: "yardmaster_\(role)"))
            }
            #expect(try rights("reader") == [])
            #expect(try functions("reader") == "is_others worked_on\n")
            #expect(
                try rights("operator") == [
                    "awaited: delete", "debt: delete",
                    "execution: update(state outcome failure sentence version attempted failed forgiven changed)",
                    "failure: delete", "gateway: update(login drain)", "history: update",
                    "inhibit: insert update delete", "missed: delete", "owed: delete",
                    "recall: insert update delete",
                    "rollout: update(state updated hold hold_reason hold_author hold_made stopped_after resumed "
                        + "wave wave_ended attempted failed room changes)",
                    "said: insert", "step: update(outcome settled author)",
                ]
            )
            #expect(try functions("operator") == "is_others worked_on\n")
            #expect(
                try rights("gateway") == [
                    "awaited: delete",
                    "debt: insert update(acknowledged in_bootloader seen_gateway seen_run seen_epoch) delete",
                    "execution: update(state outcome failure sentence version)",
                    "gateway: update(heard clock_offset_ms gone rollout beginning draining adapters links "
                        + "rights_lost waited_ms untold)",
                    "hearing: insert update(beginning signal failures at)",
                    "missed: insert update(gateway outcome failure sentence)",
                    "module: update(holder rollout vehicle expires doing acknowledged total)",
                    "owed: insert delete",
                    "plan: insert update(quarantine_after zone view mark brought)",
                    "rollout: update(state updated hold hold_reason hold_author hold_made stopped_after wave "
                        + "looked room checker)",
                    "run: insert update(ended exit_code reason counts closed)",
                    "served: insert update(open sentence)",
                    "step: insert update(epoch instance gateway outcome settled)",
                    "transfer: update(proven)",
                ]
            )
            #expect(
                try functions("gateway")
                    == "claim come_back end_aborted end_left end_wave enlist enter intend is_others move_on settle "
                    + "sign_in wear worked_on\n"
            )
            for role in FleetRole.allCases {
                for right in ["CREATE", "USAGE"] {
                    let words = try server.query(
                        database,
                        "SELECT has_schema_privilege('\(role.rawValue)', 'yardmaster', '\(right)')"
                    )
                    #expect(words == (right == "USAGE" ? "t\n" : "f\n"))
                }
            }
            // Everything that runs with the rights of the owner finds its tables by their full names only.
            let loose = """
                SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'yardmaster'::regnamespace
                AND p.prosecdef
                AND p.proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp']
                """
            #expect(try server.query(database, loose) == "0\n")
        }
    }

    @Test func `a gateway writes its own rows and no other's`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            _ = try await fleet.grantRights()
            let mark = UInt32.random(in: .min ... .max)
            let (north, south) = (FleetHolder.random("north"), FleetHolder.random("south"))
            let (own, other) = ("g1_\(mark)", "g2_\(mark)")
            for user in [own, other] {
                try server.query(database, "CREATE ROLE \(user) LOGIN IN ROLE yardmaster_gateway")
            }
            let start = WallTime(milliseconds: 0)
            let vehicle = try #require(VehicleID("bus-1"))
            let serial = try #require(Serial("a"))
            // North works on a vehicle, and has begun an update and a command on it.
            let lease = try await Cluster.with(
                try Cluster.settings(server.address(database, user: own))
            ) { mine in
                _ = try await mine.signIn(north, program: "1", at: start)
                let wish = LeaseWish(serial, rollout: "city", vehicle: vehicle, known: nil)
                guard
                    case .granted(let lease, _) = try await mine.claim(
                        wish,
                        by: north,
                        terms: .standard
                    )
                else { throw FleetError(.refused, "claim", "not granted") }
                return lease
            }
            try server.query(
                database,
                """
                INSERT INTO yardmaster.rollout (name, plan, hold, hold_made) VALUES ('city', 'p', 'aborted', now());
                INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, instance)
                VALUES ('city', 1, 'bus-1', 'a', 0, 'claimed', '\(north.instance)'),
                  ('city', 1, 'bus-2', 'b', 0, 'queued', NULL);
                INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action,
                  epoch, instance, gateway, begun)
                VALUES ('city', 1, 'bus-1', 'd', 0, 'a', 'open-trunk', 1, '\(north.instance)', 'north', now());
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target, total)
                VALUES ('a', 'bus-1', 'city', 1, 'north', 'i', 'n', 'secondary', 9);
                INSERT INTO yardmaster.owed (rollout, vehicle, digest, ordinal, epoch, gateway, action)
                VALUES ('city', 'bus-1', 'd', 0, 1, 'north', 'lock');
                """
            )
            let image = {
                try server.query(
                    database,
                    """
                    SELECT g.name, g.gone, g.drain, g.rollout FROM yardmaster.gateway g WHERE g.name = 'north';
                    SELECT serial, holder, epoch, vehicle FROM yardmaster.module;
                    SELECT * FROM yardmaster.verdict; SELECT * FROM yardmaster.step;
                    SELECT * FROM yardmaster.debt; SELECT * FROM yardmaster.owed;
                    SELECT * FROM yardmaster.execution; SELECT * FROM yardmaster.missed;
                    SELECT * FROM yardmaster.run; SELECT * FROM yardmaster.hearing;
                    SELECT hold, most_failed, failed, wave FROM yardmaster.rollout;
                    """
                )
            }
            let before = try image()
            try await Cluster.with(
                try Cluster.settings(server.address(database, user: other))
            ) { theirs in
                _ = try await theirs.signIn(south, program: "1", at: start)
                // The name and the process of another gateway.
                for holder in [
                    FleetHolder.random("north"), north,
                    FleetHolder(instance: north.instance, gateway: "south"),
                ] {
                    let refused = await #expect(throws: FleetError.self) {
                        try await theirs.signIn(holder, program: "1", at: start)
                    }
                    #expect(refused?.kind == .forbidden)
                }
                var report = FleetWord(
                    .verdict,
                    under: lease,
                    of: north,
                    rollout: "city",
                    beginning: 0,
                    vehicle: vehicle,
                    run: 1
                )
                (report.outcome, report.sentence) = (Outcome.succeeded.rawValue, "done")
                let word = report
                let refused = await #expect(throws: FleetError.self) {
                    try await theirs.accept(word)
                }
                #expect(refused?.kind == .forbidden)
                #expect(try await !theirs.release(lease, of: north))
                #expect(try await theirs.renew([lease], of: north, terms: .standard) == [])
            }
            for statement in [
                "UPDATE yardmaster.gateway SET gone = now()",
                "UPDATE yardmaster.gateway SET drain = true",
                "UPDATE yardmaster.gateway SET name = 'north', login = session_user",
                "INSERT INTO yardmaster.gateway (instance, name, program) VALUES (gen_random_uuid(), 'north', '1')",
                "UPDATE yardmaster.module SET holder = NULL, expires = NULL",
                "UPDATE yardmaster.module SET holder = '\(south.instance)'",
                "UPDATE yardmaster.module SET epoch = 900000",
                "INSERT INTO yardmaster.module (serial, epoch) VALUES ('b', 9000000)",
                "TRUNCATE yardmaster.module", "DELETE FROM yardmaster.module",
                "UPDATE yardmaster.step SET outcome = 'done', settled = now()",
                "UPDATE yardmaster.step SET instance = '\(south.instance)', gateway = 'south', outcome = 'done'",
                "DELETE FROM yardmaster.debt", "DELETE FROM yardmaster.owed",
                "DELETE FROM yardmaster.step", "DELETE FROM yardmaster.execution",
                """
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target, total)
                VALUES ('b', 'bus-2', 'city', 1, 'north', 'i', 'n', 'secondary', 9)
                """,
                """
                INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began)
                VALUES ('\(north.instance)', 'north', 1, 'city', 1, 'p', false, now())
                """,
                """
                INSERT INTO yardmaster.verdict (instance, serial, epoch, rollout, vehicle, gateway, run, outcome,
                  sentence, counts)
                VALUES ('\(north.instance)', 'a', 1, 'city', 'bus-1', 'north', 1, 'succeeded', '', true)
                """,
                """
                INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance, gateway)
                VALUES ('city', 1, 'bus-1', '\(north.instance)', 'north')
                """,
                """
                INSERT INTO yardmaster.hearing (rollout, vehicle, gateway, beginning)
                VALUES ('city', 'bus-1', 'north', 1)
                """,
                "UPDATE yardmaster.execution SET state = 'ended', outcome = 'succeeded'",
                "UPDATE yardmaster.rollout SET hold = NULL, hold_made = NULL",
                "UPDATE yardmaster.rollout SET resumed = 9",
                "UPDATE yardmaster.rollout SET failed = 0",
                "UPDATE yardmaster.rollout SET most_failed = 99",
                "UPDATE yardmaster.rollout SET wave = 9",
                "SELECT yardmaster.settle('a', 1, '\(north.instance)', 'north', 'city', 'bus-1', 1, "
                    + "'succeeded', NULL, '', NULL, NULL, 1, 1, 0)",
                "SELECT yardmaster.end_left('city', 1, '{bus-1}', '{succeeded}', '{NULL}', '{x}', '{x}', '{t}', "
                    + "'{1}', '{0}')",
                "UPDATE yardmaster.history SET claims_after = now() + interval '9 years'",
            ] {
                // What is not refused changes nothing.
                _ = try? server.query(database, statement, user: other)
                #expect(try image() == before, "\(statement)")
            }
            // The same hand does all of it for its own gateway.
            try server.query(
                database,
                "UPDATE yardmaster.step SET outcome = 'in-doubt', settled = now(); DELETE FROM yardmaster.debt",
                user: own
            )
            #expect(
                try server.query(database, "SELECT outcome FROM yardmaster.step") == "in-doubt\n"
            )
            #expect(try server.query(database, "SELECT count(*) FROM yardmaster.debt") == "0\n")
        }
    }

    @Test func `nobody lifts an abort, and nobody speaks as another user`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            _ = try await fleet.grantRights()
            let user = "o_\(UInt32.random(in: .min ... .max))"
            try server.query(database, "CREATE ROLE \(user) LOGIN IN ROLE yardmaster_operator")
            try server.query(
                database,
                """
                INSERT INTO yardmaster.rollout (name, plan, waves, hold, hold_made)
                VALUES ('city', 'p', 3, 'aborted', now()), ('town', 'p', 3, 'paused', now())
                """
            )
            for statement in [
                "UPDATE yardmaster.rollout SET hold = NULL, hold_made = NULL",
                "UPDATE yardmaster.rollout SET hold = 'paused' WHERE name = 'city'",
                "UPDATE yardmaster.rollout SET hold = NULL, hold_made = NULL, resumed = resumed + 1",
                "UPDATE yardmaster.rollout SET wave = 1 WHERE name = 'town'",
                "UPDATE yardmaster.rollout SET wave = 2, wave_ended = now() WHERE name = 'town'",
            ] {
                #expect(throws: PrivatePostgres.Failure.self) {
                    try server.query(database, statement)
                }
            }
            try await Cluster.with(
                try Cluster.settings(server.address(database, user: user))
            ) { theirs in
                guard case .done = try await theirs.resume("town", by: "mia") else {
                    Issue.record("not resumed")
                    return
                }
                let said = try await theirs.sayings(
                    of: nil,
                    since: WallTime(milliseconds: 0),
                    limit: 9
                )
                #expect(said.map(\.author) == ["mia (\(user))"])
            }
            try server.query(
                database,
                "INSERT INTO yardmaster.said (verb, reason, author, login) VALUES ('pause', '', 'mia', 'mia')",
                user: user
            )
            #expect(
                try server.query(database, "SELECT DISTINCT login FROM yardmaster.said")
                    == "\(user)\n"
            )
        }
    }

    @Test func `no hand takes an epoch back`() async throws {
        try await Cluster.withFleet { _, server, database in
            try server.query(
                database,
                "INSERT INTO yardmaster.module (serial, epoch) VALUES ('a', 7)"
            )
            for statement in [
                "UPDATE yardmaster.module SET epoch = 6", "DELETE FROM yardmaster.module",
                "UPDATE yardmaster.module SET serial = 'b'", "TRUNCATE yardmaster.module",
                "UPDATE yardmaster.module SET epoch = 1000008",
                "INSERT INTO yardmaster.module (serial, epoch) VALUES ('c', 1000001)",
            ] {
                #expect(throws: PrivatePostgres.Failure.self) {
                    try server.query(database, statement)
                }
            }
            try server.query(database, "UPDATE yardmaster.module SET epoch = 8")
        }
    }
}
