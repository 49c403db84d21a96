import Foundation
import Testing
import Wire
import Workbench

/// State directories written by earlier versions of the program, with all their files.
@Suite struct UpgradeTests {
    /// A bad night of the demo, followed by a pause and an inhibited vehicle, made by the program
    /// with this journal version.
    ///
    /// `said` returns the `--json` output of that program.
    private func kept(_ version: Int) throws -> (
        program: Program, said: (String) throws -> JSONValue
    ) {
        let program = try Program()
        let archive = Program.repository
            .appending(path: "Tests/ProgramTests/Fixtures/state-\(version).tar.gz")
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/tar")
        tar.arguments = ["-xzf", archive.path, "-C", program.folder.path, "--no-same-owner"]
        try tar.run()
        tar.waitUntilExit()
        try #require(tar.terminationStatus == 0)
        return (
            program,
            { name in
                let file = program.folder.path + "/\(name).json"
                return try JSONValue(json: String(contentsOfFile: file, encoding: .utf8))
            }
        )
    }

    private func says(_ program: Program, _ words: String...) throws -> JSONValue {
        let result = try program.run(words + ["--json", "--state", program.state])
        return try JSONValue(json: result.output)
    }

    @Test(arguments: [5])
    func `an upgrade keeps all that an earlier version has written`(version: Int) throws {
        let (program, said) = try kept(version)
        // Before the first write, readers use a copy and change nothing.
        let file = program.state + "/journal.sqlite"
        let untouched = FileManager.default.contents(atPath: file)
        #expect(try says(program, "status")["debts"] == (try said("status"))["debts"])
        #expect(try says(program, "history")["runs"] == (try said("history"))["runs"])
        #expect(try says(program, "show", "bike-12")["debts"]?.array?.isEmpty == false)
        let morning = try program.run(["morning", "--state", program.state])
        #expect(morning.status == 0 && morning.output.contains("bike-12"), "\(morning.errors)")
        let serving = try Serving(program)
        for path in ["/", "/morning", "/history", "/vehicles/bike-12", "/api/v1/status"] {
            let page = try serving.get(path)
            #expect(page.status == 200 && page.text.contains("demo-4.12"), "\(path): \(page.text)")
        }
        #expect(serving.stop() == 143)
        #expect(FileManager.default.contents(atPath: file) == untouched)

        // A verb is the first to write, and it upgrades the journal.
        let verb = try program.run([
            "inhibit", "bike-04", "--reason", "survey", "--state", program.state,
        ])
        #expect(verb.status == 0, "\(verb.errors)")
        let (before, after) = (try said("status"), try says(program, "status"))
        for name in [
            "rollout", "run", "plan", "started", "ended", "exit", "state", "reason", "author",
            "debts",
        ] {
            #expect(after[name] == before[name], "\(name)")
        }
        func outcomes(_ status: JSONValue) -> [String] {
            (status["vehicles"]?.array ?? []).map {
                "\($0["id"]?.string ?? "") \($0["outcome"]?.string ?? "") \($0["message"]?.string ?? "")"
            }
        }
        #expect(outcomes(before).count == 24)
        #expect(outcomes(after) == outcomes(before))
        let inhibits = (after["inhibits"]?.array ?? []).compactMap { $0["vehicle"]?.string }
        #expect(inhibits == ["bike-03", "bike-04"])
        let runs = try #require(try said("history")["runs"]?.array)
        #expect(try says(program, "history")["runs"]?.array == runs)
        // The events of that night still make its report.
        let report = try program.run([
            "history", "show", "1", "--quiet", "--report", "night.csv", "--state", program.state,
        ])
        #expect(report.status == 0, "\(report.errors)")

        // The next run continues from that version's state: done steps stay done, and the debt is
        // paid.
        try program.copyDemo()
        for words in [["resume"], ["uninhibit", "bike-03", "bike-04"]] {
            let result = try program.run(words + ["--state", program.state])
            #expect(result.status == 0, "\(result.errors)")
        }
        let paying = try program.run(program.demo("depot", "--limit", "bike-12"))
        #expect(paying.status == 10 && paying.errors.contains("came back with 4.11.3"))
        #expect(try says(program, "status")["debts"] == .array([]))
        let run = try program.run(program.demo("depot", "--limit", "bike-12"))
        #expect(run.status == 0, "\(run.errors)")
        let now = try says(program, "status")
        #expect(now["run"] == 3)
        #expect(
            outcomes(now).filter { $0.hasPrefix("bike-01 ") } == Array(outcomes(before).prefix(1))
        )
    }
}
