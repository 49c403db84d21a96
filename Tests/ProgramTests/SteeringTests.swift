import Foundation
import Testing
import Workbench

/// Rollouts that are paused, aborted, interrupted or edited from the shell.
@Suite struct SteeringTests {
    private func program(
        _ count: Int,
        bad: Int = 0,
        rollout: String,
        depot: String = ""
    ) throws -> Program {
        try Program.steered(count, bad: bad, rollout: rollout, depot: depot)
    }

    private func manifest(_ rollout: String) -> String { Program.steeredManifest(rollout) }

    private func run(_ program: Program, _ more: String...) throws -> Program.Result {
        try program.run(program.steeredRun + more)
    }

    private func exit(_ result: Program.Result) throws -> (Int, String) { try result.exit() }

    @Test func `a gate ends with 12 until resume, and json says the same`() throws {
        let program = try program(12, bad: 2, rollout: "{pause-when: {failed: 1}}")
        let plan = try program.run(["plan", "steered.yaml", "--state", program.state])
        #expect(plan.output.contains("gate: pauses on the 2nd failure of 12"))
        let first = try run(program, "--json")
        #expect(first.status == 12)
        let (code, reason) = try exit(first)
        #expect(code == 12)
        #expect(reason.contains("the gate: 2 of 2 attempted have failed, at most 1 may"))
        let again = try run(program)
        #expect(again.status == 12, "nobody has looked yet")
        #expect(again.lastLine.hasSuffix("exit=12"))
        let status = try program.run(["status", "--state", program.state])
        #expect(status.output.contains("paused: the gate"))
        let resume = try program.run(["resume", "--state", program.state])
        #expect(resume.status == 0)
        #expect(resume.output == "steered: goes on with the next run\n")
        let third = try run(program)
        #expect(third.status == 10, "who failed before and fails again is not counted again")
        #expect(third.lastLine.contains("failed=2"))
    }

    @Test func `an abort ends with 13 for good, and another plan begins again`() throws {
        let program = try program(3, rollout: "{waves: [1, rest], between-waves: {ask: true}}")
        #expect(try run(program).status == 12)
        let abort = try program.run(
            ["abort", "--reason", "wrong release", "--json", "--state", program.state]
        )
        #expect(abort.status == 0)
        let ended = try run(program, "--json")
        #expect(ended.status == 13)
        #expect(try exit(ended).1.contains("aborted by request: wrong release"))
        #expect(try run(program).status == 13)
        try program.write("steered.yaml", manifest("{waves: [rest]}"))
        let again = try run(program)
        #expect(again.status == 0)
        #expect(again.lastLine.contains("ok=2 current=1"))
    }

    @Test func `a window that closes with work left ends with 15`() throws {
        // Simulated depots begin at 22:00 UTC.
        let program = try program(
            6,
            rollout: "{window: {from: \"22:00\", for: 60s}}",
            depot: "link: {interval: 60ms}\n"
        )
        let result = try run(program, "--json")
        #expect(result.status == 15)
        let (code, reason) = try exit(result)
        #expect(code == 15)
        #expect(reason.contains("it opens again at 2026-01-06T22:00:00.000Z"))
        // What a timer mails says it, too.
        let quiet = try run(program, "--quiet")
        #expect(quiet.status == 15)
        let again = "it opens again at 2026-01-07T22:00:00.000Z"
        #expect(quiet.output.contains(again), "\(quiet.output)")
        // Each run then works in the next night's window, until all vehicles are done.
        var last = result
        for _ in 0..<6 where last.status == 15 { last = try run(program) }
        #expect(last.status == 0, "\(last.lastLine)")
    }

    @Test func `editing the manifest does not change a rollout that is under way`() throws {
        let program = try program(
            6,
            rollout: "{window: {from: \"22:00\", for: 60s}}",
            depot: "link: {interval: 60ms}\n"
        )
        #expect(try run(program).status == 15)
        try program.write("steered.yaml", manifest("{waves: [1, rest]}"))
        let second = try run(program)
        #expect(second.errors.contains("steered.yaml has changed since the rollout steered"))
        #expect(second.errors.contains("waits for the window"))
    }

    @Test func `a pause that was lifted is reported as lifted wherever its reason stands`() throws {
        let program = try program(
            3,
            rollout: "{waves: [rest]}",
            depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
        )
        func say(_ words: String...) throws -> String {
            let said = try program.run(words + ["--state", program.state])
            #expect(said.status == 0, "\(words): \(said.errors)")
            return said.output
        }
        // Resumed after it has ended.
        let first = try program.begin("first", program.steeredRun + ["--pace", "1"])
        #expect(first.waits(for: #""acknowledged":"#))
        _ = try say("pause", "--reason", "rain")
        #expect(first.waits(for: #""kind":"draining""#))
        first.hurries()
        let held = first.result()
        #expect(held.status == 12)
        let words = "the rollout is paused: paused by request: rain"
        #expect(held.output.contains(words + "\n"), "\(held.output)")
        let paused = try say("status")
        #expect(paused.contains("exit 12: \(words)\n"), "\(paused)")
        #expect(paused.contains("\npaused: paused by request: rain, by "), "\(paused)")
        _ = try say("resume")
        for surface in [
            ["status"], ["morning", "--since", "2026-01-01 00:00"], ["status", "--quiet"],
        ] {
            let shown = try program.run(surface + ["--state", program.state]).output
            #expect(!shown.withoutWhatWasLifted.contains("by request"), "\(surface): \(shown)")
            #expect(!shown.contains("\npaused: "), "\(surface): \(shown)")
        }
        #expect(try say("status").contains("\(words); resumed since\n"))
        let morning = try say("morning", "--since", "2026-01-01 00:00", "--json")
        #expect(morning.contains("\(words); resumed since"), "\(morning)")
        _ = try say("status", "--report", "night.html")
        let page = try String(contentsOfFile: program.folder.path + "/night.html", encoding: .utf8)
        #expect(page.contains("\(words); resumed since"))
        let story = try say("show", "v2")
        #expect(!story.contains("paused") && !story.contains("resume"), "\(story)")
        // The run itself ended with what was known then.
        #expect(try say("history", "show", "1").contains("\(words)\n"))

        // Resumed while the run finishes what it has: its closing line says so already.
        let second = try program.begin("second", program.steeredRun + ["--pace", "1"])
        #expect(second.waits(for: #""acknowledged":"#))
        _ = try say("pause")
        #expect(second.waits(for: #""kind":"draining""#))
        _ = try say("resume")
        second.hurries()
        let drained = second.result()
        #expect(drained.status == 12)
        let since = "the rollout was paused: paused by request; resumed since"
        #expect(drained.output.contains(since + "\n"), "\(drained.output)")
        #expect(try say("status").contains("exit 12: \(since)\n"))
        let last = try run(program)
        #expect(last.status == 0, "\(last.output)")
        #expect(try !say("status").contains("paused"))
    }

    @Test func `a part that obeyed a pause is not called ended by its gate`() throws {
        let program = try program(
            3,
            rollout: "{waves: [rest], pause-when: {failed: 0}}",
            depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
        )
        let part = try program.begin(
            "part",
            program.steeredRun + ["--limit", "v1", "--limit", "v2", "--pace", "1"]
        )
        #expect(part.waits(for: #""acknowledged":"#))
        #expect(try program.run(["pause", "--state", program.state]).status == 0)
        #expect(part.waits(for: #""kind":"draining""#))
        #expect(try program.run(["resume", "--state", program.state]).status == 0)
        part.hurries()
        let result = part.result()
        #expect(result.status == 12, "\(result.output)")
        #expect(result.output.contains("the rollout was paused: paused by request; resumed since"))
        #expect(!result.output.contains("a gate"), "\(result.output)")
    }

    @Test func `editing everything does not change a rollout that is paused`() throws {
        let program = try program(
            6,
            rollout: "{waves: [2, 2, rest], between-waves: {ask: true}}"
        )
        #expect(try run(program).status == 12)
        func plan() throws -> String {
            let status = try program.run(["status", "--json", "--state", program.state])
            let document = try JSONSerialization.jsonObject(with: Data(status.output.utf8))
            return try #require((document as? [String: Any])?["plan"] as? String)
        }
        let frozen = try plan()
        // Other steps, waves and vehicles, and no pause.
        let edited = manifest("{waves: [rest]}").replacingOccurrences(
            of: "[{update: city}]",
            with: "[{read: odometer}]"
        )
        try program.write("steered.yaml", edited)
        let fleet = program.folder.path + "/fleet.csv"
        let rows = try String(contentsOfFile: fleet, encoding: .utf8).split(separator: "\n")
        try program.write("fleet.csv", rows.dropLast(2).joined(separator: "\n") + "\n")
        _ = try program.run(["resume", "--state", program.state])
        let second = try run(program)
        #expect(second.status == 12, "the pause of then holds: \(second.output)")
        #expect(second.errors.contains("steered.yaml has changed since the rollout steered"))
        #expect(try plan() == frozen)
        _ = try program.run(["resume", "--state", program.state])
        let third = try run(program)
        #expect(third.status == 0)
        // All six vehicles are updated, according to the first plan.
        #expect(third.lastLine.contains("ok=2 current=4"), "\(third.lastLine)")
        #expect(try plan() == frozen)
        // The rollout is finished, so the current manifest begins.
        let again = try run(program)
        #expect(again.lastLine.contains("ok=4"), "\(again.lastLine)")
        #expect(try plan() != frozen)
    }

    @Test func `a plan tells its time by what earlier runs have measured`() throws {
        let program = try program(8, rollout: "{}", depot: "link: {interval: 45ms}\n")
        func plan(_ file: String) throws -> [String: Any] {
            let result = try program.run(
                ["plan", file, "--simulate", "depot.yaml", "--json", "--state", program.state]
            )
            let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            return try #require(document as? [String: Any])
        }
        func grounds(_ plan: [String: Any]) throws -> [String] {
            try #require(plan["vehicles"] as? [[String: Any]]).compactMap {
                $0["estimate"] as? String
            }
        }
        let before = try plan("steered.yaml")
        #expect(try Set(grounds(before)) == ["assumed"])
        // Two of eight vehicles are updated.
        #expect(try run(program, "--limit", "v1", "--limit", "v2").status == 0)
        let night = Program.repository.appending(path: "manifests/night/city-4.13.0.zip")
        try FileManager.default.copyItem(
            at: night,
            to: URL(filePath: program.folder.path + "/city-4.13.0.zip")
        )
        let next = manifest("{}").replacingOccurrences(of: "name: steered", with: "name: next")
            .replacingOccurrences(of: "demo/city-4.12.0.zip", with: "city-4.13.0.zip")
            .replacingOccurrences(
                of: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf",
                with: "940ee3f5d9a2f69758fc597633bcefdea073cd4bef89b9fad226ce5d117493b5"
            )
            .replacingOccurrences(of: "\"4.12.0\"", with: "\"4.13.0\"")
        try program.write("next.yaml", next)
        let after = try plan("next.yaml")
        #expect(
            try grounds(after)
                == ["vehicle", "vehicle", "model", "model", "model", "model", "model", "model"]
        )
        let foreseen = try #require(after["seconds"] as? Double)
        let result = try program.run([
            "run", "next.yaml", "--simulate", "depot.yaml", "--json", "--state", program.state,
        ])
        #expect(result.status == 0)
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let took = try #require((document as? [String: Any])?["seconds"] as? Double)
        #expect((0.75...1.33).contains(foreseen / took), "\(foreseen) s foreseen, \(took) s taken")
    }

    @Test func `worst wins: a failure before a window that closed`() throws {
        let program = try program(
            6,
            bad: 1,
            rollout: "{window: {from: \"22:00\", for: 60s}}",
            depot: "link: {interval: 60ms}\n"
        )
        let result = try run(program, "--json")
        #expect(result.status == 10)
        #expect(try exit(result).0 == 10)
    }

    @Test func `a check between two waves lets them go on or pauses them`() throws {
        let rollout = "{waves: [2, rest], between-waves: {check: [./check.sh, strict]}}"
        let program = try program(4, rollout: rollout)
        let script = "#!/bin/sh\necho $1 $YARDMASTER_ROLLOUT $YARDMASTER_WAVE >> asked\nexit "
        try program.write("check.sh", script + "3\n", mode: 0o700)
        let held = try run(program, "--json")
        #expect(held.status == 12)
        #expect(try exit(held).1.contains("the check after wave 1: ./check.sh ended with 3"))
        try program.write("check.sh", script + "0\n", mode: 0o700)
        #expect(try run(program).status == 12, "a person has to look")
        _ = try program.run(["resume", "--state", program.state])
        #expect(try run(program).status == 0)
        let asked = try String(contentsOfFile: program.folder.path + "/asked", encoding: .utf8)
        #expect(asked == "strict steered 1\n")

        let other = try self.program(4, rollout: rollout)
        try other.write("check.sh", script + "0\n", mode: 0o700)
        #expect(try run(other).status == 0)
    }

    @Test func `a run that is stopped during a check is not paused by it`() throws {
        let program = try program(
            3,
            rollout: "{waves: [1, rest], between-waves: {check: [./check.sh], timeout: 10m}}"
        )
        try program.write("check.sh", "#!/bin/sh\ntouch asked\nexec sleep 600\n", mode: 0o700)
        let running = try program.begin("first", program.steeredRun + ["--json"])
        let asked = program.folder.path + "/asked"
        try wait(for: "the check to begin") {
            try #require(running.process.isRunning)
            return FileManager.default.fileExists(atPath: asked)
        }
        kill(running.process.processIdentifier, SIGTERM)
        #expect(running.result().status == 143)
        try program.write("check.sh", "#!/bin/sh\n", mode: 0o700)
        #expect(try run(program).status == 0, "nobody had to say `resume`")
    }

    @Test func `a run outside its window waits for it and says when it opens`() throws {
        // Simulated depots begin at 22:00 UTC.
        let program = try program(1, rollout: "{window: {from: \"23:30\", for: 1h}}")
        let running = try program.begin("first", program.steeredRun)
        #expect(running.result().status == 0)
        #expect(
            running.events.contains(
                "waits for the window, which opens at 2026-01-05T23:30:00.000Z"
            )
        )
        let plan = try program.run(["plan", "steered.yaml", "--state", program.state])
        #expect(plan.output.contains("window: from 23:30 UTC for 1h"))
    }

    @Test func `an unknown time zone is 78 before anything is begun`() throws {
        let program = try program(
            1,
            rollout: "{window: {from: \"22:00\", for: 60s, zone: Europe/Nowhere}}"
        )
        let result = try run(program)
        #expect(result.status == 78)
        #expect(result.errors.contains("does not know the time zone Europe/Nowhere"))
    }

    @Test func `a rollout that is killed again and again ends right`() throws {
        let program = try program(8, rollout: "{waves: [2, rest]}")
        for number in 1...6 {
            let process = try program.start([
                "run", "steered.yaml", "--simulate", "depot.yaml", "--state", program.state,
                "--pace", "60", "--events", "events-\(number).jsonl",
            ])
            // At another point each time, by the number of events.
            let path = program.folder.path + "/events-\(number).jsonl"
            while process.isRunning {
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                if text.split(separator: "\n").count > 5 + number * 4 { break }
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let last = try run(program)
        #expect(last.status == 0, "\(last.errors.suffix(500))")
        #expect(last.lastLine.contains("unreachable=0 failed=0"))
        let status = try program.run(["status", "--json", "--state", program.state])
        #expect(!status.output.contains("\"in-bootloader\":true"))
    }
}
