import Domain
import Glibc
import Postgres
import PrivatePostgres
import Testing
import Workbench

/// Sessions, tables, roles and the guard, with a real PostgreSQL.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct DatabaseTests {
    @Test func `a statement answers, collides, and is refused by name`() async throws {
        try await Cluster.withFleet { fleet, _, _ in
            let row = try await fleet.rows(
                FleetStatement("ask", "SELECT $1, $2::bigint + 1, NULL, true", ["a'\\b ü", "41"])
            )
            #expect(row == [DatabaseRow(["a'\\b ü", "42", nil, "t"])])
            let error = await #expect(throws: FleetError.self) {
                try await fleet.rows(FleetStatement("divide", "SELECT 1/0"))
            }
            #expect(error?.kind == .refused && error?.code == "22012")
            #expect(error?.description == "divide: division by zero (22012)")
            // The session still works.
            #expect(try await fleet.rows(FleetStatement("ask", "SELECT 1")) == [DatabaseRow(["1"])])
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
            try await fleet.rows(FleetStatement("ask", "SELECT current_user"))
        }
        #expect(user == [DatabaseRow([role])])
        let wrong = try Cluster.settings(address, password: "sesame")
        let error = await #expect(throws: FleetError.self) {
            try await Cluster.with(wrong) { try await $0.server() }
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.words.contains("password authentication failed") == true)
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

    @Test func `a role may do what it is for and no more`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            #expect(try await fleet.grantRights() == [])
            // Granting is safe to repeat.
            #expect(try await fleet.grantRights() == [])
            let mark = UInt32.random(in: .min ... .max)
            for (name, role) in [("g", "gateway"), ("o", "operator"), ("r", "reader")] {
                try server.query(
                    database,
                    "CREATE ROLE \(name)_\(mark) LOGIN IN ROLE yardmaster_\(role)"
                )
            }
            func may(_ user: String, _ statement: String) -> Bool {
                (try? server.query(database, statement, user: "\(user)_\(mark)")) != nil
            }
            let claim = "INSERT INTO yardmaster.module (serial, epoch) VALUES ('x', 1)"
            #expect(!may("r", claim) && !may("o", claim) && may("g", claim))
            for user in ["r", "o", "g"] {
                #expect(may(user, "SELECT * FROM yardmaster.module, yardmaster.history"))
                #expect(!may(user, "DELETE FROM yardmaster.module"))
                #expect(!may(user, "UPDATE yardmaster.schema SET version = 2"))
                #expect(!may(user, "CREATE TABLE yardmaster.mine (a int)"))
            }
            let raise = "UPDATE yardmaster.history SET generation = generation + 1"
            #expect(!may("r", raise) && !may("g", raise) && may("o", raise))
            let run = """
                INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began)
                VALUES (gen_random_uuid(), 'g', 1, 'r', 1, 'p', false, now())
                """
            #expect(!may("r", run) && !may("o", run) && may("g", run))
            #expect(
                !may("r", "DELETE FROM yardmaster.run") && !may("g", "DELETE FROM yardmaster.plan")
            )
            for user in ["r", "o", "g"] {
                #expect(may(user, "SELECT * FROM yardmaster.run, yardmaster.plan"))
            }
            let moveOn = "UPDATE yardmaster.history SET timeline = timeline"
            #expect(!may("r", moveOn) && may("g", moveOn))
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
                "UPDATE yardmaster.module SET serial = 'b'",
            ] {
                #expect(throws: PrivatePostgres.Failure.self) {
                    try server.query(database, statement)
                }
            }
            try server.query(database, "UPDATE yardmaster.module SET epoch = 8")
        }
    }
}
