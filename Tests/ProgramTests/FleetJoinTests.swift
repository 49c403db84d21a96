import Foundation
import PrivatePostgres
import Testing
import Workbench

/// From a bare PostgreSQL to gateways by `fleet create`, `fleet invite` and `fleet join`, over TLS.
///
/// Gateways reach the server as 0.0.0.0, which this machine takes for itself and the program for another one.
@Suite(.serialized, .enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct FleetJoinTests {
    private let server: PrivatePostgres
    private let program: Program
    private var admin: [String] { ["--fleet", server.address("yard")] }

    init() throws {
        server = try PrivatePostgres()
        program = try Program()
    }

    @discardableResult
    private func create() throws -> Program.Result {
        let made = try program.run(["fleet", "create", "--host", "0.0.0.0"] + admin)
        try #require(made.status == 0, "\(made.errors)")
        // The server obeys a moment after it was told to.
        try wait(for: "TLS") {
            try server.query("yard", "SHOW ssl") == "on\n"
        }
        return made
    }

    private func invite(_ words: String...) throws -> String {
        let made = try program.run(["fleet", "invite"] + words + admin)
        try #require(made.status == 0, "\(made.errors)")
        return made.output
    }

    private func join(
        _ token: String,
        _ folder: String,
        _ more: String...
    ) throws -> Program.Result {
        let path = program.folder.path + "/" + folder
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return try program.run(["fleet", "join", "-", "--folder", path] + more, input: token)
    }

    private func path(_ folder: String, _ name: String) -> String {
        program.folder.path + "/\(folder)/\(name)"
    }

    private func text(_ folder: String, _ name: String) throws -> String {
        String(decoding: try contents(path(folder, name)), as: UTF8.self)
    }

    private func check(_ folder: String) throws -> Program.Result {
        let lines = try text(folder, "fleet.conf").split(separator: "\n")
        let fleet = try #require(lines.first { $0.hasPrefix("fleet = ") }).dropFirst(8)
        return try program.run(["fleet", "check", "--fleet", String(fleet)])
    }

    @Test func `a server is set up, invites a gateway, and the gateway joins`() throws {
        defer { server.stop() }
        let made = try create()
        for line in [
            "made the database, of yardmaster_owner",
            "made the tables of version 1", "made a certificate for 0.0.0.0",
            "let the fleet's members in", "to do: restart the server",
            "gateways reach it at 0.0.0.0:\(server.port)",
        ] { #expect(made.output.contains(line), "\(line) in\n\(made.output)") }
        let owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'yardmaster'"
        #expect(try server.query("yard", owners) == "yardmaster_owner\n")
        #expect(try create().output.contains("the tables exist already"))
        let file = try server.query("postgres", "SELECT pg_read_file('pg_hba.conf')")
        #expect(file.split(separator: "\n").filter { $0.hasPrefix("hostssl") }.count == 1)

        let token = try invite("north-1")
        #expect(token.hasPrefix("yardmaster-fleet-1.") && token.hasSuffix("\n"))
        let joined = try join(token, "north")
        #expect(joined.status == 0, "\(joined.errors)")
        #expect(joined.output.contains("this machine is the gateway north-1 of"))
        #expect(joined.output.contains("answers over TLS, its certificate verified by"))
        for (name, mode) in [("fleet-password", 0o600), ("fleet.conf", 0o640)] {
            let facts = try FileManager.default.attributesOfItem(atPath: path("north", name))
            #expect(facts[.posixPermissions] as? Int == mode, "\(name)")
        }
        let good = try check("north")
        #expect(good.status == 0, "\(good.output)")
        #expect(good.output.contains("TLS, its name verified"))
        #expect(good.output.contains("user: north-1: gateway\n"))
        // What anybody who has seen the token could try.
        let document = try #require(
            Data(base64Encoded: String(token.dropFirst(19).dropLast())).map {
                String(decoding: $0, as: UTF8.self)
            }
        )
        let secret = document.split(separator: "\"")[7]
        #expect(secret.count == 40)
        for result in [made, joined, good] {
            #expect(!(result.output + result.errors).contains(secret))
        }
        #expect(try !text("north", "fleet-password").contains(secret))
    }

    @Test func `an invitation works once, for one machine, however often that repeats it`() throws {
        defer { server.stop() }
        try create()
        let token = try invite("north-1")
        #expect(try join(token, "north").status == 0)
        #expect(try join(token, "north").status == 0)
        let other = try join(token, "other")
        #expect(other.status == 78)
        #expect(other.errors.contains("it was used already, here or on another machine"))
        #expect(!FileManager.default.fileExists(atPath: path("other", "fleet.conf")))

        // Killed after the server had the new password, and before the file had its name.
        try FileManager.default.moveItem(
            atPath: path("north", "fleet-password"),
            toPath: path("north", "fleet-password.new")
        )
        try FileManager.default.removeItem(atPath: path("north", "fleet.conf"))
        #expect(try join(token, "north").status == 0)
        #expect(try check("north").status == 0)

        // A new password ends the present one, and is asked for by name.
        let twice = try program.run(["fleet", "invite", "north-1"] + admin)
        #expect(twice.status == 64 && twice.errors.contains("--renew gives it a new password"))
        let renewal = try invite("--renew", "north-1")
        #expect(try check("north").status == 78)
        #expect(try join(renewal, "north").status == 0)
        #expect(try check("north").status == 0)
    }

    @Test func `a machine of another gateway keeps its configuration unless it is told`() throws {
        defer { server.stop() }
        try create()
        #expect(try join(try invite("north-1"), "north").status == 0)
        let before = try text("north", "fleet.conf")
        let token = try invite("--operator", "south-2")
        let refused = try join(token, "north")
        #expect(refused.status == 78 && refused.errors.contains("as north-1"))
        #expect(try text("north", "fleet.conf") == before)
        #expect(try check("north").status == 0)
        let replaced = try join(token, "north", "--replace")
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(try text("north", "fleet.conf.before") == before)
        #expect(try check("north").output.contains("user: south-2: gateway, operator"))
    }

    @Test func `what cannot be joined says why, and is not used up`() throws {
        defer { server.stop() }
        try create()
        let token = try invite("north-1")
        let cut = try join(String(token.dropLast(9)), "north")
        #expect(cut.status == 78 && cut.errors.contains("a part of it is missing or was changed"))
        // Another server stands where that of the token was.
        for name in ["yardmaster-ca.crt", "yardmaster-ca.key"] {
            try FileManager.default.removeItem(atPath: server.scratch.path + "/data/" + name)
        }
        try create()
        // Its next start certainly reads the new files.
        try server.kill()
        try server.start()
        let stranger = try join(token, "north")
        #expect(stranger.status == 69)
        #expect(stranger.errors.contains("certificate verify failed"), "\(stranger.errors)")
        let next = try join(try invite("north-1"), "north")
        #expect(next.status == 0, "\(next.errors)")

        let short = try invite("--valid", "1s", "south-2")
        var late: Program.Result?
        try wait(for: "the invitation to expire") {
            let result = try join(short, "late-\(UUID().uuidString)")
            late = result
            return result.errors.contains("expired at")
        }
        #expect(late?.status == 78)
        for (name, why) in [("a b", "cannot be called"), (PrivatePostgres.superuser, "no gateway")]
        {
            let wrong = try program.run(["fleet", "invite", name] + admin)
            #expect(wrong.status == 64 && wrong.errors.contains(why), "\(wrong.errors)")
        }
    }
}
