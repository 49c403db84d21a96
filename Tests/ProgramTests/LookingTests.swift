import Foundation
import Testing

/// `scan` and `watch` on a simulated depot.
@Suite struct LookingTests {
    private static let demo = Program.repository.appending(path: "manifests/demo").path

    @Test func `a scan in a pipe has a line for each module and counts them`() throws {
        let program = try Program()
        let scan = try program.run([
            "scan", "--for", "5s", "--simulate", Self.demo + "/depot.yaml",
        ])
        #expect(scan.status == 0)
        let lines = scan.output.split(separator: "\n")
        #expect(lines.count == 24)
        #expect(lines.allSatisfy { $0.contains(" found 00a0000000000") && $0.contains("-60 dBm") })
        #expect(scan.errors == "24 modules in 5s\n")
        #expect(!scan.output.contains("\u{1B}"))
    }

    @Test func `a scan for programs is one document`() throws {
        let program = try Program()
        let scan = try program.run([
            "scan", "--for", "5s", "--json", "--simulate", Self.demo + "/depot.yaml",
        ])
        let document = try JSONSerialization.jsonObject(with: Data(scan.output.utf8))
        let fields = try #require(document as? [String: Any])
        #expect((fields["modules"] as? [Any])?.count == 24)
        #expect(scan.errors.isEmpty && scan.status == 0)
    }

    @Test func `a scan as a fleet list is accepted by validate as it is`() throws {
        let program = try Program()
        let scan = try program.run([
            "scan", "--for", "5s", "--csv", "--simulate", Self.demo + "/depot.yaml",
        ])
        #expect(scan.status == 0 && scan.errors == "24 modules in 5s\n")
        #expect(scan.output.split(separator: "\r\n").count == 25)
        let folder = program.folder.path
        try Data(scan.output.utf8).write(to: URL(filePath: folder + "/yard.csv"))
        let manifest = "name: n\nvehicles: {from: yard.csv}\nsteps: [{wait: 1s}]\n"
        try Data(manifest.utf8).write(to: URL(filePath: folder + "/m.yaml"))
        let check = try program.run(["validate", "--without-files", folder + "/m.yaml"])
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test func `a watch prints a value for each property that was asked for`() throws {
        let program = try Program()
        let folder = try Self.copy(of: "demo", in: program)
        let watch = try program.run([
            "watch", "--manifest", folder + "/rollout.yaml", "--simulate", folder + "/depot.yaml",
            "--property", "lights", "--property", "speed", "bike-02",
        ])
        #expect(watch.status == 0, "\(watch.errors)")
        let lines = watch.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.contains { $0.hasSuffix("Z lights disabled") })
        #expect(lines.contains { $0.hasSuffix("Z speed 0 kilometer_per_hour") })
    }

    @Test(arguments: [
        (["scan", "--bus", "unix:path=/nonexistent"], 69, "doctor"),
        (["scan", "--for", "5"], 64, "a time above 0"),
        (["scan", "--simulate", "nowhere.yaml"], 66, "nowhere.yaml"),
        (["scan", "--profiles", "nowhere", "--simulate", "x"], 66, "nowhere"),
        (["watch", "bike-02"], 64, "--manifest"),
        (["watch", "--manifest", "DEMO/rollout.yaml", "bike-99"], 64, "bike-99"),
        (
            ["watch", "--manifest", "DEMO/rollout.yaml", "--property", "sped", "bike-02"], 64,
            "did you mean `speed`?"
        ),
    ])
    func `what cannot be looked at is reported with a hint`(
        line: [String],
        status: Int32,
        words: String
    ) throws {
        let program = try Program()
        let folder = try Self.copy(of: "demo", in: program)
        let result = try program.run(line.map { $0.replacing("DEMO", with: folder) })
        #expect(result.status == status)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains("hint: "))
        #expect(result.output.isEmpty)
    }

    /// A copy of the shipped manifest whose key only its owner can read, as `watch` requires.
    private static func copy(of name: String, in program: Program) throws -> String {
        let folder = program.folder.path + "/" + name
        try FileManager.default.copyItem(atPath: demo, toPath: folder)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: folder + "/keys/demo.key"
        )
        return folder
    }
}
