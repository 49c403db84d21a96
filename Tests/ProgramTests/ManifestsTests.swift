import Foundation
import Testing

/// Every shipped manifest, from its first line to its exit code, with its simulated depot.
@Suite struct ManifestsTests {
    struct Shipped: CustomTestStringConvertible, Sendable {
        let name: String
        let last: String
        /// The last line of a second run, when it does not do everything again.
        var again: String?
        var testDescription: String { name }
    }

    static let shipped = [
        Shipped(
            name: "demo",
            last: "rollout=demo-4.12 ok=23 current=1 deferred=0 unreachable=0 failed=0 exit=0",
            again: "rollout=demo-4.12 ok=0 current=24 deferred=0 unreachable=0 failed=0 exit=0"
        ),
        Shipped(
            name: "depot-wide",
            last: "rollout=depot-wide ok=45 current=1 deferred=1 unreachable=1 failed=0 exit=0",
            again: "rollout=depot-wide ok=0 current=46 deferred=1 unreachable=1 failed=0 exit=0"
        ),
        Shipped(
            name: "nightly",
            last: "rollout=nightly ok=3 current=7 deferred=1 unreachable=1 failed=0 exit=0",
            again: "rollout=nightly ok=0 current=10 deferred=1 unreachable=1 failed=0 exit=0"
        ),
        Shipped(
            name: "commands",
            last: "rollout=commands ok=7 current=0 deferred=0 unreachable=0 failed=0 exit=0"
        ),
        Shipped(
            name: "mixed",
            last: "rollout=mixed ok=4 current=0 deferred=0 unreachable=0 failed=0 exit=0",
            again: "rollout=mixed ok=0 current=4 deferred=0 unreachable=0 failed=0 exit=0"
        ),
        Shipped(
            name: "sensors",
            last: "rollout=sensors ok=2 current=0 deferred=0 unreachable=0 failed=0 exit=0",
            again: "rollout=sensors ok=0 current=2 deferred=0 unreachable=0 failed=0 exit=0"
        ),
        Shipped(
            name: "locks",
            last: "rollout=locks ok=1 current=0 deferred=0 unreachable=0 failed=0 exit=0"
        ),
        Shipped(
            name: "tags",
            last: "rollout=tags ok=3 current=0 deferred=0 unreachable=0 failed=0 exit=0",
            again: "rollout=tags ok=0 current=3 deferred=0 unreachable=0 failed=0 exit=0"
        ),
    ]

    /// A copy of the manifests as they are installed: with private keys, and a credential in its
    /// directory.
    private func copy() throws -> (Program, [String: String]) {
        let program = try Program()
        let all = URL(filePath: program.folder.path + "/manifests")
        try FileManager.default.copyItem(
            at: Program.repository.appending(path: "manifests"),
            to: all
        )
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: all, includingPropertiesForKeys: nil)
        ) where file.path.contains("/keys/") {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: file.path
            )
        }
        let directory = program.folder.path + "/credentials"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        try program.write(
            "credentials/depot_nightly.key",
            try Data(contentsOf: all.appending(path: "nightly/keys/nightly.key")),
            mode: 0o400
        )
        return (program, ["CREDENTIALS_DIRECTORY": directory])
    }

    @Test func `all that are shipped are here`() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Program.repository.appending(path: "manifests").path
        )
        // `night` is a template that a benchmark fills in.
        #expect(Set(folders) == Set(Self.shipped.map(\.name) + ["night"]))
    }

    @Test(arguments: shipped)
    func `a shipped manifest is valid, is planned, and brings its depot home`(
        shipped: Shipped
    ) throws {
        let (program, environment) = try copy()
        let (manifest, depot) = (
            "manifests/\(shipped.name)/rollout.yaml", "manifests/\(shipped.name)/depot.yaml"
        )
        let valid = try program.run(["validate", manifest], environment: environment)
        // Simulated modules may share a key, and the warning says what to do about real ones.
        let others = valid.errors.split(separator: "\n").filter { line in
            !line.contains(" is the key of ") && !line.hasPrefix(" ")
        }
        #expect(valid.status == 0 && others.isEmpty, "\(valid.errors)")
        let plan = try program.run(
            ["plan", manifest, "--simulate", depot, "--state", program.state],
            environment: environment
        )
        #expect(plan.status == 0 && plan.errors == "", "\(plan.errors)")
        let line = [
            "run", manifest, "--simulate", depot, "--state", program.state, "--report",
            "report.html",
        ]
        let first = try program.run(line, environment: environment)
        #expect(first.lastLine == shipped.last, "\(first.output) \(first.errors.suffix(600))")
        #expect(first.status == 0)
        let page = try String(contentsOfFile: program.folder.path + "/report.html", encoding: .utf8)
        #expect(page.contains("<b>Exit 0</b>"))
        guard let again = shipped.again else { return }
        let second = try program.run(line, environment: environment)
        #expect(second.lastLine == again, "\(second.output)")
        #expect(second.status == 0)
    }

    @Test func `a wave of the depot-wide rollout replaces who is away, and says so`() throws {
        let (program, environment) = try copy()
        let result = try program.run(
            [
                "run", "manifests/depot-wide/rollout.yaml", "--simulate",
                "manifests/depot-wide/depot.yaml", "--state", program.state, "--events", "e.jsonl",
            ],
            environment: environment
        )
        #expect(result.status == 0)
        #expect(result.errors.contains("bike-01: is not heard; "))
        let events = try String(contentsOfFile: program.folder.path + "/e.jsonl", encoding: .utf8)
        #expect(events.contains("\"adapter\":\"hci0\"") && events.contains("\"adapter\":\"hci1\""))
        #expect(events.contains("\"kind\":\"wave-began\""))
    }

    @Test(arguments: shipped.map(\.name))
    func `a shipped manifest and its depot begin by saying what they are for`(name: String) throws {
        for file in ["rollout", "depot"] {
            let text = try String(
                contentsOf: Program.repository.appending(path: "manifests/\(name)/\(file).yaml"),
                encoding: .utf8
            )
            let head = text.split(separator: "\n").prefix { $0.hasPrefix("#") }
            #expect((head.first?.utf8.count ?? 0) > 40, "\(file)")
            if file == "rollout" { #expect(head.joined().contains("--simulate")) }
        }
    }
}
