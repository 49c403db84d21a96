import Base
import Foundation
import Testing

/// Reports about past runs, from the journal alone.
@Suite struct HistoryTests {
    private func object(_ result: Program.Result) throws -> [String: Any] {
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require(document as? [String: Any])
    }

    private func history(_ program: Program, _ more: String...) throws -> Program.Result {
        try program.run(["history"] + more + ["--state", program.state])
    }

    @Test func `runs are listed, the newest first, with how they ended`() throws {
        let program = try Program()
        try program.copyDemo()
        #expect(try program.run(program.demo("depot-troubled")).status == 10)
        #expect(try program.run(program.demo("depot", "--limit", "bike-13")).status == 0)
        let result = try history(program)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("run  rollout    begun"))
        #expect(lines[1].hasPrefix("2    demo-4.12  2026-01-05 22:11 UTC"))
        #expect(
            lines[2].hasSuffix(
                "20 succeeded, 1 already-current, 1 failed, 1 unreachable, 1 deferred: "
                    + "some vehicles failed"
            )
        )
        let document = try object(try history(program, "--json", "--last", "1"))
        let runs = try #require(document["runs"] as? [[String: Any]])
        #expect(runs.count == 1)
        #expect(runs.first?["run"] as? Int == 2)
        #expect((runs.first?["exit"] as? [String: Any])?["code"] as? Int == 0)
        #expect((runs.first?["counts"] as? [String: Any])?["succeeded"] as? Int == 1)
        let other = try history(program, "--rollout", "other")
        #expect(other.status == 66)
        #expect(other.errors.contains("other"))
    }

    /// A run's vehicles and their outcomes, from its report.
    private func outcomes(_ program: Program, _ run: Int) throws -> [String: String] {
        let file = program.folder.path + "/run-\(run).csv"
        _ = try history(program, "show", "\(run)", "--quiet", "--report", file)
        let lines = try String(contentsOfFile: file, encoding: .utf8)
            .split(whereSeparator: \.isNewline)
            .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        let column = try #require(lines[0].firstIndex(of: "outcome"))
        let vehicle = try #require(lines[0].firstIndex(of: "vehicle"))
        return Dictionary(
            uniqueKeysWithValues: lines.dropFirst().map { ($0[vehicle], $0[column]) }
        )
    }

    @Test func `two nights are compared as their reports have them`() throws {
        let program = try Program()
        try program.copyDemo()
        #expect(try program.run(program.demo("depot-troubled")).status == 10)
        #expect(try program.run(program.demo("depot", "--again")).status == 0)
        let again = program.demo("depot-troubled", "--again", "--limit", "bike-0*")
        _ = try program.run(again + ["--limit", "bike-12"])
        let done: Set<String> = ["succeeded", "already-current"]
        var kinds: Set<String> = []
        for (before, after) in [(1, 2), (2, 1), (2, 3), (3, 2)] {
            let (old, new) = (try outcomes(program, before), try outcomes(program, after))
            var expected: [String: String] = [:]
            for (vehicle, word) in new {
                guard let earlier = old[vehicle], earlier != word else { continue }
                switch (done.contains(earlier), done.contains(word)) {
                case (true, true): continue
                case (true, false): expected[vehicle] = "lost"
                case (false, true): expected[vehicle] = "gained"
                case (false, false): expected[vehicle] = "other"
                }
            }
            let words = ["compare", "\(before)", after == 3 ? "last" : "\(after)"]
            let result = try program.run(
                ["history"] + words + ["--json", "--state", program.state]
            )
            let document = try JSONValue(json: result.output)
            let changes = document["changes"]?.array ?? []
            let named = changes.compactMap { $0["vehicle"]?.string }
            #expect(named == expected.keys.sorted())
            for change in changes {
                let vehicle = try #require(change["vehicle"]?.string)
                #expect(change["kind"]?.string == expected[vehicle], "\(vehicle)")
                #expect(change["before"]?["state"]?.string == old[vehicle])
                #expect(change["after"]?["state"]?.string == new[vehicle])
            }
            let (all, rest) = (Set(old.keys), Set(new.keys))
            func ids(_ name: String) -> [String]? {
                document[name]?.array?.compactMap(\.string)
            }
            #expect(ids("only-before") == all.subtracting(rest).sorted())
            #expect(ids("only-after") == rest.subtracting(all).sorted())
            let same = all.intersection(rest).count - changes.count
            #expect(document["same"]?.integer == Int64(same))
            kinds.formUnion(expected.values)
            // The same in the text for people.
            let text = try program.run(["history"] + words + ["--state", program.state]).output
            for (vehicle, _) in expected {
                let line = "  \(vehicle)  \(old[vehicle] ?? "") -> \(new[vehicle] ?? ""): "
                #expect(text.contains(line), "\(text)")
            }
            #expect(text.contains("\(same) vehicle"))
        }
        // The nights were chosen so that there are such changes.
        #expect(kinds.isSuperset(of: ["lost", "gained"]))
        let unknown = try history(program, "compare", "1", "9")
        #expect(unknown.status == 66 && unknown.errors.contains("no run 9"))
        #expect(try history(program, "compare", "1", "first").status == 64)
        #expect(try history(program, "compare", "1").status == 64)
    }

    @Test func `who has said what is reported after the run`() throws {
        let program = try Program()
        try program.copyDemo()
        #expect(try program.run(program.demo("depot-troubled")).status == 10)
        for words in [
            ["pause", "--reason", "brakes"], ["resume"], ["inhibit", "bike-03"],
            ["uninhibit", "bike-03"], ["uninhibit", "bike-03"],
        ] {
            #expect(try program.run(words + ["--state", program.state]).status == 0, "\(words)")
        }
        let table = try history(program).output
        let said = table.split(separator: "\n").drop { !$0.hasPrefix("after run") }
        #expect(said.count == 5, "\(table)")
        let author = try #require(try history(program, "--json").said.first?["author"]?.string)
        #expect(!author.isEmpty)
        for (line, words) in zip(
            said.dropFirst(),
            ["uninhibit bike-03", "inhibit bike-03", "resume demo-4.12", "pause demo-4.12: brakes"]
        ) {
            #expect(line.hasPrefix("1 ") && line.hasSuffix(words), "\(line)")
            #expect(line.contains(" \(author) "), "\(line)")
        }
        // What is still set is reported as set; what was lifted is reported with its author.
        let status = try program.run(["status", "--state", program.state]).output
        for words in ["resume demo-4.12", "uninhibit bike-03"] {
            let line = status.split(separator: "\n").first { $0.hasSuffix(words) }
            #expect(line?.hasPrefix("said by \(author), ") == true, "\(status)")
        }
        #expect(!status.contains("pause demo-4.12"))
        // After the next run, these requests are not reported any more.
        #expect(try program.run(program.demo("depot", "--limit", "bike-13")).status == 0)
        #expect(
            !(try program.run(["status", "--state", program.state]).output.contains("said by"))
        )
    }

    @Test func `a run is told with every vehicle and its events`() throws {
        let program = try Program()
        try program.copyDemo()
        let run = try program.run(program.demo("depot-troubled", "--events", "events.jsonl"))
        #expect(run.status == 10)
        let one = try history(program, "show", "1", "--limit", "bike-15")
        #expect(one.output.contains("\nbike-15  succeeded\n"))
        #expect(one.output.contains("  interruption 1: "))
        #expect(one.output.contains("  transferring on hci0"))
        #expect(!one.output.contains("bike-16"))
        let document = try object(try history(program, "show", "last", "--json"))
        let vehicles = try #require(document["vehicles"] as? [[String: Any]])
        #expect(vehicles.count == 24)
        // The journal has each event of the stream as it was written, except progress.
        let stream = try String(
            contentsOfFile: program.folder.path + "/events.jsonl",
            encoding: .utf8
        ).split(separator: "\n").filter { !$0.contains("\"kind\":\"progress\"") }
        let general = try #require(document["events"] as? [Any])
        let told = vehicles.reduce(general.count) { $0 + (($1["events"] as? [Any])?.count ?? 0) }
        #expect(told == stream.count)
        #expect(vehicles.allSatisfy { $0["outcome"] is String })
    }

    @Test func `the reports of a run can be made long after it`() throws {
        let program = try Program()
        try program.copyDemo()
        let kinds = ["html", "xml", "csv", "json", "prom"]
        func flags(_ name: String) -> [String] { kinds.flatMap { ["--report", "\(name).\($0)"] } }
        #expect(try program.run(program.demo() + flags("then")).status == 0)
        let show = try program.run(
            ["history", "show", "1", "--quiet", "--state", program.state] + flags("later")
        )
        #expect(show.status == 0 && show.output == "" && show.errors == "")
        for kind in kinds {
            let then = try String(
                contentsOfFile: "\(program.folder.path)/then.\(kind)",
                encoding: .utf8
            )
            let later = try String(
                contentsOfFile: "\(program.folder.path)/later.\(kind)",
                encoding: .utf8
            )
            #expect(then.utf8.count > 500)
            #expect(then == later, "\(kind)")
        }
    }

    @Test func `status says what runs now and what fires next, history who was cut off`() throws {
        let program = try Program()
        try program.copyDemo()
        let process = try program.start(program.demo("depot", "--pace", "2"))
        defer { process.terminate() }
        var status = try program.run(["status", "--json", "--state", program.state])
        // Waits until a first vehicle is in work; the process for each reading takes the time.
        var document: [String: Any] = [:]
        for _ in 0..<500 where (document["under-way"] as? [Any] ?? []).isEmpty {
            #expect(process.isRunning)
            status = try program.run(["status", "--json", "--state", program.state])
            document = status.status == 0 ? try object(status) : [:]
        }
        #expect(document["running"] as? Bool == true)
        let working = try #require(document["under-way"] as? [String])
        #expect(working.allSatisfy { $0.hasPrefix("bike-") } && !working.isEmpty)
        var text = status.output
        for _ in 0..<500 where !text.contains("next deadline: ") {
            text = try program.run(["status", "--state", program.state]).output
        }
        #expect(text.contains("at work now: process \(process.processIdentifier)"))
        #expect(text.contains("works on bike-"))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let after = try program.run(["status", "--state", program.state])
        #expect(after.output.contains("was cut off; run it again"))
        #expect(try history(program).output.contains("was cut off"))
        let show = try history(program, "show", "last", "--report", "cut.html")
        #expect(show.output.contains("has no end: it goes on, or was cut off"))
        let page = try String(contentsOfFile: program.folder.path + "/cut.html", encoding: .utf8)
        #expect(page.contains("<b>Cut off</b>"))
        // A later run closes the record, and continues the rollout.
        #expect(try program.run(program.demo()).status == 0)
        let lines = try history(program).output.split(separator: "\n")
        #expect(lines[1].contains("23 succeeded") || lines[1].contains("already-current"))
        #expect(lines[2].hasSuffix("was cut off"))
    }

    @Test func `what is not there is said, and changes nothing`() throws {
        let program = try Program()
        let none = try history(program)
        #expect(none.status == 66)
        #expect(none.errors.contains("there is no journal in"))
        #expect(!FileManager.default.fileExists(atPath: program.state))
        try program.copyDemo()
        #expect(try program.run(program.demo("depot", "--limit", "bike-01")).status == 0)
        let missing = try history(program, "show", "7")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("there is no run 7 in"))
        for word in ["first", "-1", "99999999999999999999"] {
            #expect(try history(program, "show", word).status == 64, "\(word)")
        }
        let place = try history(program, "show", "1", "--report", "nowhere/x.html")
        #expect(place.status == 73)
    }
}

extension Program.Result {
    /// The requests of people, from the document of `history`.
    fileprivate var said: [JSONValue] {
        (try? JSONValue(json: output))?["said"]?.array ?? []
    }
}
