import Foundation
import PrivatePostgres
import Testing
import Workbench

/// `fleet` and `gateways`, from the command line to a real PostgreSQL.
@Suite struct FleetTests {
    // MARK: Without a server

    @Test func `an address with a password is refused wherever it stands`() throws {
        let program = try Program()
        let address = "postgresql://north:hunter2@db.example/yard"
        let flag = try program.run(["fleet", "check", "--fleet", address])
        #expect(flag.status == 64)
        let variable = try program.run(
            ["gateways", "--json"],
            environment: ["YARDMASTER_FLEET": address]
        )
        #expect(variable.status == 78)
        for result in [flag, variable] {
            #expect(result.errors.contains("it has a password, which others can read there"))
            #expect(result.errors.contains("LoadCredential=fleet-password:FILE"))
            #expect(!(result.errors + result.output).contains("hunter2"))
        }
        let library = try program.run(
            ["fleet", "check", "--fleet", "postgresql://db.example/yard"],
            environment: ["PGPASSWORD": "hunter2"]
        )
        #expect(library.status == 78 && !library.errors.contains("hunter2"))
    }

    /// A rule for `localhost` must not be applied to the server that a variable of libpq names instead.
    @Test(arguments: ["PGHOSTADDR", "PGSERVICE"])
    func `a variable that leads to another server is refused`(variable: String) throws {
        let result = try Program().run(
            ["fleet", "check", "--fleet", "postgresql://localhost/yard"],
            environment: [variable: "192.0.2.7"]
        )
        #expect(result.status == 78)
        #expect(result.errors.contains("\(variable) is set: it leads to another server"))
    }

    @Test func `a password file that others can read is refused`() throws {
        let program = try Program()
        let file = try program.write("pass", "*:*:*:*:hunter2\n", mode: 0o644)
        let address = "postgresql://127.0.0.1/yard?passfile=\(file)"
        let open = try program.run(["fleet", "check", "--fleet", address])
        #expect(open.status == 78 && open.errors.contains("can be read by other users"))
        let absent = try program.run(["fleet", "check", "--fleet", address + "x"])
        #expect(absent.status == 66)
    }

    @Test func `no address is a question, and no server is named`() throws {
        let program = try Program()
        let none = try program.run(["fleet", "check"], environment: ["YARDMASTER_FLEET": ""])
        #expect(none.status == 64)
        #expect(none.errors.contains("nothing says where the fleet's database is"))
        let closed = try ClosedPort()
        let address = "postgresql://127.0.0.1:\(closed.number)/yard"
        let away = try program.run(["fleet", "check", "--fleet", address])
        #expect(away.status == 69)
        // A machine that has no libpq hears of that first.
        let why = ["connect to 127.0.0.1:\(closed.number):", "load libpq:"]
        #expect(why.contains { away.output.contains("BAD      server: " + $0) })
        let create = try program.run(["fleet", "create", "--fleet", address])
        #expect(create.status == 69 && create.errors.contains("cannot be used"))
    }

    @Test func `the statements can be read before anything is done`() throws {
        let result = try Program().run(["fleet", "create", "--sql"])
        #expect(result.status == 0)
        #expect(result.output.contains("CREATE TABLE yardmaster.module"))
        #expect(result.output.contains("CREATE ROLE yardmaster_gateway NOLOGIN"))
        #expect(result.output.hasPrefix("BEGIN;\n") && result.output.hasSuffix("\nCOMMIT;\n"))
    }

    @Test(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
    func `the printed statements make a fleet, all or none`() throws {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let program = try Program()
        let script = try program.run(["fleet", "create", "--sql"]).output
        let database = try server.database()
        let fleet = ["--fleet", server.address(database)]
        let broken = script.replacing("\nCOMMIT;\n", with: "\nSELECT nothing();\nCOMMIT;\n")
        #expect(throws: (any Error).self) { try server.query(database, broken) }
        let absent = try program.run(["fleet", "check"] + fleet)
        #expect(absent.output.contains("the tables of the fleet are not there"))
        try server.query(database, script)
        let made = try program.run(["fleet", "check"] + fleet)
        #expect(made.status == 0, "\(made.output)")
    }

    /// What the loader of programs says that it has loaded.
    private func libraries(_ program: Program, _ arguments: [String]) throws -> String {
        let folder = program.folder.path + "/loaded"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false
        )
        _ = try program.run(
            arguments,
            environment: ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder + "/by"]
        )
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            .map { try String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }.joined()
    }

    @Test func `libpq is loaded when a fleet is asked for, and never otherwise`() throws {
        let program = try Program()
        try program.copyDemo()
        for arguments in [["version"], program.demo(), ["status", "--state", program.state]] {
            let loaded = try libraries(program, arguments)
            #expect(loaded.contains("libdbus-1"), "the loader is heard")
            #expect(!loaded.contains("libpq"), "\(arguments)")
        }
        let closed = try ClosedPort()
        let address = "postgresql://127.0.0.1:\(closed.number)/yard"
        #expect(try libraries(program, ["gateways", "--fleet", address]).contains("libpq.so.5"))
    }

    // MARK: With one

    @Test(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
    func `a fleet is made, checked, restored and confirmed`() throws {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let database = try server.database()
        let program = try Program()
        let fleet = ["--fleet", server.address(database)]
        func run(_ words: String...) throws -> Program.Result { try program.run(words + fleet) }

        let before = try run("fleet", "check")
        #expect(before.status == 78)
        #expect(before.output.contains("BAD      tables: the tables of the fleet are not there"))
        #expect(before.output.contains("do: make them with 'yardmaster fleet create'"))
        #expect(try run("gateways").status == 78)
        #expect(try run("fleet", "upgrade").status == 78)

        let made = try run("fleet", "create")
        #expect(made.status == 0 && made.output.hasPrefix("made the tables of version 1 in"))
        let again = try run("fleet", "create", "--json")
        #expect(again.status == 0 && again.output.contains(#""made":false"#))
        #expect(try run("fleet", "upgrade").output.contains("nothing to do"))

        let good = try run("fleet", "check")
        #expect(good.status == 0, "\(good.errors)")
        for line in [
            "a unix socket", "ok       tables: version 1",
            "ok       user: depot: gateway, operator",
            "ok       history: rights on modules may be granted", "ok       clock: ",
        ] {
            #expect(good.output.contains(line), "\(line) in\n\(good.output)")
        }
        #expect(try run("fleet", "check", "--quiet").output == "")
        #expect(try run("gateways").output == "no gateway has signed in\n")

        try server.query(
            database,
            """
            INSERT INTO yardmaster.gateway (instance, name, program, heard) VALUES
              ('00000000-0000-4000-8000-000000000001', 'north-1', '1.0', now()),
              ('00000000-0000-4000-8000-000000000002', 'south-1', '1.0', now() - interval '1 h');
            INSERT INTO yardmaster.module (serial, epoch, holder, expires)
              VALUES ('a1', 1, '00000000-0000-4000-8000-000000000001', now() + interval '1 min')
            """
        )
        let gateways = try run("gateways").output.split(separator: "\n")
        #expect(gateways.count == 3)
        #expect(gateways.contains { $0.contains("north-1") && $0.contains("at work") })
        #expect(gateways.contains { $0.contains("south-1") && $0.contains("silent") })
        #expect(try run("gateways", "--quiet").output.contains("south-1"))

        // Yesterday's dump in place of today's tables.
        let dump = server.scratch.path + "/yesterday"
        try server.tool("pg_dump", ["-Fc", "-f", dump, database], to: "dump.log")
        try server.query(database, "DROP SCHEMA yardmaster CASCADE")
        try server.tool("pg_restore", ["-d", database, dump], to: "restore.log")
        let restored = try run("fleet", "check")
        #expect(restored.status == 78)
        #expect(
            restored.output.contains(
                "no right on a module is granted: its tables come from a dump"
            )
        )
        #expect(restored.output.contains("yardmaster fleet accept-restore"))
        let accepted = try run("fleet", "accept-restore")
        #expect(accepted.status == 0 && accepted.output.contains("generation 2"))
        let waiting = try run("fleet", "check")
        #expect(waiting.status == 0)
        #expect(waiting.output.contains("no right on a module is granted for another"))

        try server.query(database, "UPDATE yardmaster.schema SET version = 99, oldest_reader = 99")
        let newer = try run("gateways")
        #expect(newer.status == 78 && newer.errors.contains("install the newer program"))
    }
}
