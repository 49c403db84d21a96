import Foundation
import Testing

/// A real end of the program for each row of the table of exit codes, with the document of
/// `--json`.
@Suite struct ExitTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let code: Int32
        let what: String
        let run: @Sendable () throws -> Program.Result

        init(
            _ code: Int32,
            _ what: String,
            _ run: @escaping @Sendable () throws -> Program.Result
        ) {
            (self.code, self.what, self.run) = (code, what, run)
        }

        var testDescription: String { "\(code): \(what)" }
    }

    private static func steered(
        _ count: Int,
        bad: Int = 0,
        away: Int = 0,
        _ rollout: String,
        _ more: String...
    ) throws -> Program.Result {
        let program = try Program.steered(count, bad: bad, away: away, rollout: rollout)
        return try program.run(program.steeredRun + ["--json"] + more)
    }

    private static func signalled(_ signal: Int32) throws -> Program.Result {
        let program = try Program.steered(4, rollout: "{waves: [rest]}")
        let run = try program.begin("cut", program.steeredRun + ["--json", "--pace", "3"])
        #expect(run.waits(for: "transferring"))
        kill(run.process.processIdentifier, signal)
        return run.result()
    }

    /// Runs with a limit on the size of files, as on a full disk.
    private static func onFullDisk() throws -> Program.Result {
        let program = try Program.steered(
            30,
            rollout: "{waves: [rest]}",
            depot: "image-capacity: 100KiB\n"
        )
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/bash")
        let words = ([Program.path] + program.steeredRun + ["--json", "--quiet"])
            .map { "'\($0)'" }.joined(separator: " ")
        // More than the depot's memory needs, and less than the journal's log before it is
        // truncated.
        process.arguments = ["-c", "trap '' XFSZ; ulimit -f 3500; exec \(words)"]
        process.currentDirectoryURL = URL(filePath: program.folder.path)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Program.Result(
            status: process.terminationStatus,
            output: String(decoding: bytes, as: UTF8.self),
            errors: ""
        )
    }

    static let cases: [Case] = [
        Case(0, "all is well") { try steered(2, "{waves: [rest]}") },
        Case(0, "nothing to do") {
            let program = try Program.steered(1, rollout: "{waves: [rest]}")
            _ = try program.run(program.steeredRun)
            return try program.run(program.steeredRun + ["--json"])
        },
        Case(10, "a vehicle fails") { try steered(3, bad: 1, "{waves: [rest]}") },
        Case(10, "one fails and one is away") {
            try steered(4, bad: 1, away: 1, "{waves: [rest], tolerate: {unreachable: 0}}")
        },
        Case(11, "one is away") {
            try steered(3, away: 1, "{waves: [rest], tolerate: {unreachable: 0}}")
        },
        Case(12, "a gate pauses") { try steered(4, bad: 2, "{pause-when: {failed: 1}}") },
        Case(12, "a gate pauses, and one is away") {
            try steered(5, bad: 2, away: 1, "{pause-when: {failed: 1}}")
        },
        Case(13, "a gate aborts") {
            try steered(4, bad: 2, "{pause-when: {failed: 1, then: abort}}")
        },
        Case(15, "the airtime is used up") { try steered(9, "{airtime: {total: 60s}}") },
        Case(64, "an unknown flag") {
            try Program().run(["run", "m.yaml", "--json", "--simulat", "d.yaml"])
        },
        Case(65, "a manifest with a mistake") {
            try steered(1, "{waves: [rest], wavez: 1}")
        },
        Case(65, "nobody is selected") {
            let program = try Program.steered(2, rollout: "{waves: [rest]}")
            let text = Program.steeredManifest("{waves: [rest]}").replacingOccurrences(
                of: "{from: fleet.csv}",
                with: "{from: fleet.csv, select: {family: lrdevice}}"
            )
            try program.write("steered.yaml", text)
            return try program.run(program.steeredRun + ["--json"])
        },
        Case(66, "no manifest") {
            try Program().run(["run", "m.yaml", "--json", "--simulate", "d.yaml"])
        },
        Case(69, "no such adapter") {
            let program = try Program.steered(1, rollout: "{}\nradio: {adapters: [hci9]}")
            return try program.run(program.steeredRun + ["--json"])
        },
        Case(73, "a state directory below a file") {
            let program = try Program.steered(1, rollout: "{waves: [rest]}")
            return try program.run(
                ["run", "steered.yaml", "--simulate", "depot.yaml", "--json"]
                    + ["--state", program.folder.path + "/key/state"]
            )
        },
        Case(74, "a journal that cannot grow") { try onFullDisk() },
        Case(75, "another run is at work") {
            let program = try Program.steered(4, rollout: "{waves: [rest]}")
            let first = try program.begin("first", program.steeredRun + ["--pace", "3"])
            #expect(first.waits(for: "transferring"))
            let second = try program.run(program.steeredRun + ["--json"])
            kill(first.process.processIdentifier, SIGKILL)
            _ = first.result()
            return second
        },
        Case(77, "an image that was changed") {
            let program = try Program.steered(1, rollout: "{waves: [rest]}")
            let path = program.folder.path + "/demo/city-4.12.0.zip"
            var bytes = try Data(contentsOf: URL(filePath: path))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: path))
            return try program.run(program.steeredRun + ["--json"])
        },
        Case(78, "an unknown time zone") {
            try steered(
                1,
                "{window: {from: \"22:00\", for: 60s, zone: Europe/Nowhere}}"
            )
        },
        Case(130, "INT") { try signalled(SIGINT) },
        Case(143, "TERM") { try signalled(SIGTERM) },
    ]

    @Test(arguments: cases) func `the program ends with the code, and json says the same`(
        row: Case
    ) throws {
        let result = try row.run()
        #expect(result.status == row.code, "\(result.output.suffix(300))\(result.errors)")
        let (code, reason) = try result.exit()
        #expect(code == Int(row.code))
        #expect(!reason.isEmpty)
    }

    @Test func `every row of the table but our own bugs has a case`() {
        let codes = Set(Self.cases.map(\.code))
        #expect(
            codes == [0, 10, 11, 12, 13, 15, 64, 65, 66, 69, 73, 74, 75, 77, 78, 130, 143]
        )
    }

    @Test func `the last line of a run says the code`() throws {
        let program = try Program.steered(3, bad: 1, rollout: "{waves: [rest]}")
        let result = try program.run(program.steeredRun)
        #expect(
            result.lastLine
                == "rollout=steered ok=2 current=0 deferred=0 unreachable=0 failed=1 exit=10"
        )
    }
}
