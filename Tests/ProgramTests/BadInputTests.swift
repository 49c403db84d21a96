import Foundation
import Testing

/// The messages for wrong input, which must not change anything.
@Suite struct BadInputTests {
    /// Ten different mistakes.
    private static let tenMistakes = """
        name: Tallinn 4.12
        vehicels: []
        vehicles:
          - {id: v1, serial: "00a0000000000001", family: comodul, secret: "file:k"}
          - {id: v1, serial: "00a0000000000002", family: comodule, secret: "file:k"}
          - {id: v3, serial: "xyz", family: comodule, secret: "file:k"}
        images:
          city:
            url: ftp://example.com/city.zip
            sha256: "12"
            version: 4.12
            fits: {family: comodule}
        steps:
          - require: {state_of_charge: "=> 40"}
          - update: {to: citi}
        settle: {quiet: 20}
        rollout:
          retry: {transient: many}
        """

    @Test func `ten mistakes get ten placed errors with hints, and exit 65`() throws {
        let program = try Program()
        try program.write("bad.yaml", Self.tenMistakes)
        let result = try program.run(["validate", "bad.yaml"])
        #expect(result.status == 65)
        let lines = result.errors.split(separator: "\n")
        let errors = lines.filter { $0.contains(": error: ") && $0.hasPrefix("bad.yaml:") }
        #expect(errors.count >= 10, "\(result.errors)")
        for error in errors {
            let parts = error.split(separator: ":")
            #expect(Int(parts[1]) != nil && Int(parts[2]) != nil, "\(error)")
        }
        #expect(lines.count { $0.hasPrefix("  hint: ") } >= errors.count)
        let run = try program.run([
            "run", "bad.yaml", "--simulate", "none.yaml", "--state", program.state,
        ])
        #expect(run.status == 65)
        #expect(!FileManager.default.fileExists(atPath: program.state))
    }

    @Test(arguments: [
        ("empty", Data()),
        ("binary", Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 37) })),
        ("brackets", Data(repeating: UInt8(ascii: "["), count: 10_000_000)),
        ("twice", Data("name: a\nname: b\n".utf8)),
        (
            "bomb",
            Data(
                ("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
                    + (1...9).map { n in
                        "a\(n): &a\(n) ["
                            + (0..<10).map { _ in "*a\(n - 1)" }.joined(separator: ", ") + "]\n"
                    }.joined()).utf8
            )
        ),
    ])
    func `a hostile manifest is a placed error at once`(name: String, bytes: Data) throws {
        let program = try Program()
        try program.write("m.yaml", bytes)
        let result = try program.run(["validate", "m.yaml"])
        #expect(result.status == 65, "\(name)")
        #expect(result.errors.hasPrefix("m.yaml:"), "\(name): \(result.errors.prefix(200))")
    }

    @Test func `a missing manifest is 66, and so is a missing image or fleet list`() throws {
        let program = try Program()
        #expect(try program.run(["validate", "none.yaml"]).status == 66)
        try program.copyDemo()
        try FileManager.default.removeItem(
            atPath: program.folder.path + "/demo/city-4.12.0.zip"
        )
        let image = try program.run(program.demo())
        #expect(image.status == 66)
        #expect(image.errors.contains("city-4.12.0.zip"))
        try FileManager.default.removeItem(atPath: program.folder.path + "/demo/fleet.csv")
        #expect(try program.run(program.demo()).status == 66)
    }

    @Test func `a fleet list without a column is 65 and names the column`() throws {
        let program = try Program()
        try program.copyDemo()
        try program.write(
            "demo/fleet.csv",
            "id,family,secret,depot\nb1,comodule,file:keys/demo.key,tallinn-1\n"
        )
        let result = try program.run(program.demo())
        #expect(result.status == 65)
        #expect(result.errors.contains("fleet.csv:1:"))
        #expect(result.errors.contains("serial"))
    }

    @Test func `a changed image is refused before any radio use with 77`() throws {
        let program = try Program()
        try program.copyDemo()
        let path = program.folder.path + "/demo/city-4.12.0.zip"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: path))
        let result = try program.run(program.demo("depot", "--events", "events.jsonl"))
        #expect(result.status == 77)
        let events = try? String(
            contentsOfFile: program.folder.path + "/events.jsonl",
            encoding: .utf8
        )
        #expect(events?.contains("attempt-started") != true)
    }

    @Test func `a secret that others can read is refused with the command that repairs it`() throws
    {
        let program = try Program()
        try program.copyDemo()
        let key = program.folder.path + "/demo/keys/demo.key"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let result = try program.run(program.demo())
        #expect(result.status == 78)
        #expect(result.errors.contains("chmod 600 demo/keys/demo.key"))
        #expect(!result.errors.contains("d0c5"))
        let check = try program.run(["secrets", "check", "demo/rollout.yaml"])
        #expect(check.output.contains("demo/keys/demo.key can be read by other users"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount"))
    func `a read-only state directory is 73 and a full disk 74`() throws {
        let program = try Program()
        try program.copyDemo()
        try FileManager.default.createDirectory(
            atPath: program.state,
            withIntermediateDirectories: false
        )
        try mount("ro,size=8m", program.state)
        defer { unmount(program.state) }
        let readOnly = try program.run(program.demo())
        #expect(readOnly.status == 73, "\(readOnly.errors)")

        let small = try Program()
        try small.copyDemo()
        try FileManager.default.createDirectory(
            atPath: small.state,
            withIntermediateDirectories: false
        )
        try mount("size=256k", small.state)
        defer { unmount(small.state) }
        let full = try small.run(small.demo())
        #expect([73, 74].contains(full.status), "\(full.errors)")
        #expect(full.errors.contains("full"))
        #expect(full.errors.contains("hint"))
    }

    private func mount(_ options: String, _ path: String) throws {
        #expect(try tool(["mount", "-t", "tmpfs", "-o", options, "none", path]) == 0)
    }

    private func unmount(_ path: String) { _ = try? tool(["umount", "-l", path]) }

    private func tool(_ line: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = line
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test func `a step that the vehicles cannot do is refused, not left out`() throws {
        let program = try Program()
        try program.copyDemo()
        let manifest = try String(
            contentsOfFile: program.folder.path + "/demo/rollout.yaml",
            encoding: .utf8
        )
        try program.write(
            "demo/rollout.yaml",
            manifest.replacingOccurrences(
                of: "steps:\n",
                with: "steps:\n  - command: lock\n"
            )
        )
        let check = try program.run(["validate", "demo/rollout.yaml"])
        let result = try program.run(program.demo())
        for refusal in [check, result] {
            #expect(refusal.status == 65)
            // Printed once, whatever the number of vehicles.
            #expect(refusal.errors.components(separatedBy: "has no GO device").count == 2)
        }
    }

    @Test func `an adapter that is not there is 69 before anything is begun`() throws {
        let program = try Program()
        try program.copyDemo()
        let manifest = try String(
            contentsOfFile: program.folder.path + "/demo/rollout.yaml",
            encoding: .utf8
        )
        try program.write(
            "demo/rollout.yaml",
            manifest.replacingOccurrences(of: "[hci0]", with: "[hci7]")
        )
        let result = try program.run(program.demo())
        #expect(result.status == 69)
        #expect(result.errors.contains("hci7"))
        #expect(!FileManager.default.fileExists(atPath: program.state))
    }

    @Test(arguments: [
        ("name: x\nmodules: []\nadaptors: [hci0]\n", "adaptors"),
        ("name: x\nmodules:\n  - {serial: \"12\", key: \"00\"}\n", "16 hex digits"),
        ("name: x\nlink: {mtu: 9}\nmodules: []\n", "9 is out of range"),
        ("[", "depot.yaml:"),
    ])
    func `a wrong depot is placed and refused`(text: String, word: String) throws {
        let program = try Program()
        try program.copyDemo()
        try program.write("demo/depot.yaml", text)
        let result = try program.run(program.demo())
        #expect(result.status == 65)
        #expect(result.errors.contains("demo/depot.yaml:"))
        #expect(result.errors.contains(word), "\(result.errors)")
    }
}
