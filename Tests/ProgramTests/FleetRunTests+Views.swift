import Base
import Foundation
import PrivatePostgres
import Testing
import Workbench

/// What those who only look are answered on any machine that reaches the fleet's database.
extension FleetRunTests {
    /// A machine on which nothing has run.
    private struct Office {
        let program: Program
        let address: String

        init(_ yard: Yard) throws {
            program = try Program()
            address = yard.server.address(yard.database)
        }

        func say(_ words: String...) throws -> Program.Result { try say(words) }

        func say(_ words: [String]) throws -> Program.Result {
            try program.run(
                words + ["--state", program.state],
                environment: ["YARDMASTER_FLEET": address]
            )
        }

        /// The answer, which is as the interface is described.
        func document(_ words: String...) throws -> [String: Any] {
            let text = try say(words + ["--json"]).output
            let names = [
                "status": "Status", "morning": "Morning", "history": "History", "show": "Vehicle",
            ]
            let name = try #require(names[words[0]])
            let description = try InterfaceDescription()
            var seen: Set<String> = []
            let faults = description.faults(
                try JSONValue(json: text),
                description.schema(name),
                name,
                &seen
            )
            #expect(faults.isEmpty, "\(words): \(faults)")
            return try FleetRunTests.document(text)
        }
    }

    fileprivate static func document(_ text: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            "\(text)"
        )
    }

    /// What each vehicle of a document is, by its outcome or else its state.
    private func words(_ document: [String: Any]) -> [String: String] {
        var words: [String: String] = [:]
        for vehicle in document["vehicles"] as? [[String: Any]] ?? [] {
            let id = (vehicle["id"] ?? vehicle["vehicle"]) as? String ?? ""
            words[id] = (vehicle["outcome"] ?? vehicle["state"]) as? String
        }
        return words
    }

    private func tasks(_ document: [String: Any], _ list: String) -> [String] {
        (document[list] as? [[String: Any]] ?? []).compactMap { task in
            guard let vehicle = task["vehicle"] as? String, let work = task["work"] as? String
            else { return nil }
            return "\(vehicle) \(work)"
        }.sorted()
    }

    private func gateways(
        _ yard: Yard,
        _ count: Int,
        bad: Int = 0,
        away: Int = 0,
        _ rollout: String,
        slow: Bool = false
    ) throws -> [Gateway] {
        try ["north", "south"].map { name in
            Gateway(
                program: try Program.steered(
                    count,
                    bad: bad,
                    away: away,
                    rollout: rollout,
                    depot: slow ? "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n" : ""
                ),
                name: name,
                address: yard.server.address(yard.database)
            )
        }
    }

    @Test func `any machine shows every vehicle as it stands, by the same values as a gateway`()
        throws
    {
        let yard = try Yard()
        let office = try Office(yard)
        for words in [["status"], ["history"], ["morning"], ["show", "v1"]] {
            let nothing = try office.say(words)
            #expect(nothing.status == 66 && nothing.output == "", "\(words): \(nothing.output)")
            #expect(nothing.errors.contains("'yardmaster run'"), "\(words): \(nothing.errors)")
        }
        let early = try office.say("pause")
        #expect(
            early.status == 66
                && early.errors.contains("nothing has run here, and the fleet knows no rollout"),
            "\(early.errors)"
        )
        let all = try gateways(
            yard,
            7,
            bad: 1,
            away: 1,
            "{waves: [2, rest], pause-when: {failed: 3}, retry: {device: 0}}",
            slow: true
        )
        let first = try all[0].begin("--pace", "2")
        try working(first)
        // While it is at work: who, on what, since when, and what the others wait for.
        let during = try office.say("status")
        #expect(during.status == 0, "\(during.errors)")
        for words in [
            "fleet \(office.address), all gateways\nrollout steered, begun ",
            "north: at work since ", ", run 1\n", "7 unfinished\nunder way in wave 1 of 2\n",
            "gate: 0 of 0 attempted have failed, at most 3 may; 1 under way",
            "not begun; waits for a gateway with a free link", "not begun; waits for wave 2",
        ] { #expect(during.output.contains(words), "\(words) in\n\(during.output)") }
        try wait(for: "its progress to be reported") {
            try office.say("status").output.contains("north since ")
                && yard.ask("SELECT count(acknowledged) FROM yardmaster.module") == "1\n"
        }
        let at = try office.document("status")
        let row = (at["vehicles"] as? [[String: Any]])?.first { $0["id"] as? String == "v1" }
        #expect(row?["at-work"] as? String == "north" && row?["acknowledged"] is Int)
        #expect(at["under-way"] as? [String] == ["v1"])
        // A vehicle that nobody has ended is of no run of which the number would mean anything.
        let waiting = try office.say("show", "v2")
        #expect(waiting.output.contains("  steered: not-begun, "), "\(waiting.output)")
        let active = try office.say("show", "v1")
        #expect(active.output.contains("  steered: transferring, "), "\(active.output)")
        #expect(active.output.contains("    north works on it since "))
        let night = try office.say("morning").output
        #expect(
            night.hasPrefix("fleet ") && night.contains(", at work now: 7 unfinished\n"),
            "\(night)"
        )
        #expect((at["source"] as? [String: Any])?["kind"] as? String == "fleet")
        first.hurries()
        let second = try all[1].begin()
        for running in [first, second] {
            let result = running.result()
            #expect(result.status == 10, "\(result.errors)\(result.output)")
        }

        // One definition for each number: from the fleet and from the journals of both gateways.
        let status = try office.document("status")
        let counts = status["counts"] as? [String: Int]
        #expect(counts?["succeeded"] == 5 && counts?["failed"] == 1 && counts?["unreachable"] == 1)
        let next = tasks(status, "next")
        #expect(next == ["v1 mechanic", "v7 bring-in"])
        let morning = tasks(try office.document("morning"), "tasks")
        #expect(morning == next)
        for gateway in all {
            let own = try FleetRunTests.document(
                try gateway.program.run([
                    "status", "--json", "--journal", "--state", gateway.program.state,
                ]).output
            )
            #expect(own["source"] == nil)
            #expect(own["counts"] as? [String: Int] == counts, "\(gateway.name)")
            #expect(words(own) == words(status), "\(gateway.name)")
            #expect(tasks(own, "next") == next, "\(gateway.name)")
            #expect(own["state"] as? String == status["state"] as? String)
            // The same gateway as a machine of the fleet says what the office says.
            let shared = try gateway.program.run(
                ["status", "--json", "--state", gateway.program.state],
                environment: ["YARDMASTER_FLEET": gateway.address]
            )
            let shown = try FleetRunTests.document(shared.output)
            #expect(words(shown) == words(status) && shown["counts"] as? [String: Int] == counts)
        }
        let brief = (status["rollouts"] as? [[String: Any]])?.first
        #expect(brief?["counts"] as? [String: Int] == counts)

        let text = try office.say("status").output
        #expect(text.contains("ended, run 1, exit 10: some vehicles failed"))
        #expect(text.contains("the module came back with 4.11.3 (run north/1)"), "\(text)")
        #expect(!text.contains("$ yardmaster retry"), "the next run takes it")
        // A run is begun on a gateway, which has another state directory than this machine.
        #expect(text.contains("$ yardmaster run steered.yaml   # on a gateway"), "\(text)")
        let show = try office.say("show", "v1")
        #expect(show.status == 0 && show.output.contains("steered, run north/1: failed"))
        #expect(show.output.contains("serial 00f0000000000001, family comodule"), "\(show.output)")
        #expect(try office.say("show", "v99").status == 66)
        #expect(try office.say("fleet", "status").status == 64, "it reads no state directory")
    }

    @Test func `runs of all gateways are listed and shown, with reports of every vehicle`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let all = try gateways(yard, 4, bad: 1, "{waves: [rest], retry: {device: 0}}")
        for gateway in all { #expect(try gateway.run().status == 10) }
        let history = try office.document("history")
        let runs = history["runs"] as? [[String: Any]] ?? []
        #expect(runs.map { $0["gateway"] as? String } == ["south", "north"])
        #expect(runs.allSatisfy { $0["run"] as? Int == 1 })
        #expect(
            runs.allSatisfy {
                ($0["exit"] as? [String: Any])?["code"] as? Int == 10
                    && ($0["counts"] as? [String: Int])?["succeeded"] == 3
            }
        )
        let list = try office.say("history").output
        #expect(list.contains("north/1") && list.contains("3 succeeded, 1 failed"), "\(list)")
        let show = try office.say("history", "show", "north/1")
        #expect(show.status == 0, "\(show.errors)")
        for words in [
            "run north/1 of rollout steered", "exit 10", "in the journal of north", "v1  failed",
        ] {
            #expect(show.output.contains(words), "\(words) in\n\(show.output)")
        }
        // The rest was ended by the other run: it is as it stands now, and not as at that run's end.
        let second = try office.say("history", "show", "south/1")
        #expect(second.output.contains("shown as they stand now"), "\(second.output)")
        #expect(second.output.contains("read twice after its restart (run north/1)"))
        // At its own gateway it is told in full.
        let own = try all[0].program.run(
            ["history", "show", "north/1", "--state", all[0].program.state],
            environment: ["YARDMASTER_FLEET": office.address]
        )
        #expect(own.output.contains("transferring") || own.output.contains("%"), "\(own.output)")
        #expect(try office.say("history", "show", "west/1").status == 66)
        #expect(try office.say("history", "show", "no/thing").status == 64)

        for (line, name) in [
            (["status"], "now"), (["history", "show", "last"], "last"),
            (["history", "show", "north/1"], "north"),
        ] {
            let folder = office.program.folder.path
            let reports = ["html", "csv", "json", "xml", "prom"].flatMap {
                ["--report", "\(folder)/\(name).\($0)"]
            }
            let result = try office.say(line + ["--quiet"] + reports)
            #expect(result.status == 0 && result.output == "", "\(result.errors)\(result.output)")
            func text(_ ending: String) -> String {
                (try? String(contentsOfFile: "\(folder)/\(name).\(ending)", encoding: .utf8)) ?? ""
            }
            let document = try FleetRunTests.document(text("json"))
            #expect(
                words(document) == [
                    "v1": "failed", "v2": "succeeded", "v3": "succeeded", "v4": "succeeded",
                ],
                "\(name)"
            )
            for vehicle in 1...4 {
                for ending in ["html", "csv", "xml"] {
                    #expect(text(ending).contains("v\(vehicle)"), "\(name).\(ending)")
                }
            }
            #expect(text("prom").contains("yardmaster_run_exit_code{rollout=\"steered\"} 10"))
            // Both gateways have a run 1.
            let lines = text("csv").split(separator: "\r\n").dropFirst()
            #expect(lines.count == 4, "\(name)")
            for line in lines {
                // The second run took v1 up again.
                let own = line.hasPrefix("v1,") && name != "north" ? ",south" : ",north"
                #expect(line.hasSuffix(own), "\(name): \(line)")
            }
        }

        // One that was killed has its end once its gateway begins again.
        let cut = try gateways(yard, 4, "{waves: [rest]}", slow: true)[0]
        let again = Gateway(program: cut.program, name: "west", address: cut.address)
        let running = try again.begin("--again", "--pace", "1")
        try working(running)
        kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
        #expect(try office.say("history").output.contains("\nwest/1 "))
        try yard.ask("UPDATE yardmaster.gateway SET heard = heard - interval '40 s'")
        let quiet = try office.say("status").output
        #expect(quiet.contains(" on 1 module, run 1, not heard for "), "\(quiet)")
        try yard.ask("UPDATE yardmaster.gateway SET heard = heard - interval '5 min'")
        #expect(try office.say("history").output.contains(/silent for [5-9]m/))
        let open = try office.say("history", "show", "west/1").output
        #expect(open.contains(/\nhas no end: silent for [5-9]m/), "\(open)")
        let silent = try office.say("status").output
        #expect(silent.contains(/west: silent for [5-9]m/), "\(silent)")
        #expect(silent.contains("it has the right to 1 module\n"))
        _ = try again.run()
        let after = try office.document("history")["runs"] as? [[String: Any]] ?? []
        let killed = after.first { $0["gateway"] as? String == "west" && $0["run"] as? Int == 1 }
        let end = killed?["exit"] as? [String: Any]
        #expect(end?["reason"] as? String == "interrupted" && end?["code"] is NSNull)
    }

    @Test
    func `what is owed by a gateway that was killed is seen with its share and the same advice`()
        throws
    {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try yard.gateway("north", 2)
        let running = try north.begin("--pace", "2")
        try working(running)
        try wait(for: "its progress to be reported") {
            try yard.ask(
                "SELECT count(*) FROM yardmaster.debt WHERE in_bootloader AND acknowledged > 0"
            ) == "1\n"
        }
        kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
        try yard.ask(
            """
            UPDATE yardmaster.gateway SET heard = heard - interval '5 min';
            UPDATE yardmaster.module SET expires = expires - interval '61 s' WHERE holder IS NOT NULL
            """
        )
        let status = try office.say("status")
        #expect(status.output.contains("in bootloader at "), "\(status.output)")
        #expect(status.output.contains(" % of city 4.12.0, begun in run north/1"))
        #expect(status.output.contains("Rescue from the bootloader (1)"))
        #expect(
            status.output.contains(
                "waits for north, which has vanished with the right to its module"
            )
        )
        let own = try FleetRunTests.document(
            try north.program.run([
                "status", "--json", "--journal", "--state", north.program.state,
            ]).output
        )
        let shown = try office.document("status")
        #expect(words(shown) == words(own))
        #expect(tasks(shown, "next") == tasks(own, "next"))
        let debt = (shown["debts"] as? [[String: Any]])?.first
        #expect(debt?["gateway"] as? String == "north" && debt?["run"] as? Int == 1)
        #expect(
            debt?["seen-gateway"] as? String == "north" && debt?["in-bootloader"] as? Bool == true
        )
        #expect(tasks(try office.document("morning"), "tasks").contains("v1 rescue"))
        let story = try office.say("show", "v1").output
        #expect(story.contains("\n  seen 20") && !story.contains("never seen"), "\(story)")
    }

    @Test func `what the fleet does not have is the journal's, and each answer says whose it is`()
        throws
    {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let yard = try Yard(server)
        let office = try Office(yard)
        let north = try gateways(yard, 2, "{waves: [rest]}")[0]
        #expect(try north.run().status == 0)
        // A rollout that no fleet knows, in the same state directory.
        let manifest = Program.steeredManifest("{waves: [rest]}")
        try north.program.write(
            "alone.yaml",
            manifest.replacingOccurrences(of: "name: steered", with: "name: alone")
        )
        let alone = try north.program.run([
            "run", "alone.yaml", "--simulate", "depot.yaml", "--state", north.program.state,
        ])
        #expect(alone.status == 0, "\(alone.errors)")
        func say(_ words: String...) throws -> Program.Result {
            try north.program.run(
                words + ["--state", north.program.state],
                environment: ["YARDMASTER_FLEET": north.address]
            )
        }
        let status = try say("status")
        #expect(status.output.hasPrefix("fleet "), "\(status.output)")
        #expect(status.output.contains("alone: finished, run 2 "), "\(status.output)")
        #expect(status.output.contains("2 already-current (this machine's journal only)"))
        let own = try say("status", "--rollout", "alone")
        #expect(own.status == 0)
        #expect(
            own.output.hasPrefix("this machine's journal only: the fleet knows no rollout alone\n"),
            "\(own.output)"
        )
        let lines = try say("history").output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("2 ") && $0.contains("alone") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("north/1") }, "\(lines)")
        let show = try say("show", "v1").output
        #expect(show.contains("steered, run north/1: succeeded"), "\(show)")
        #expect(show.contains("alone, run 2: already-current"), "\(show)")

        // Nobody answers: what there is, with whose it is, and 69.
        try server.kill()
        for words in [
            ["status"], ["history"], ["show", "v1"], ["morning"], ["history", "show", "1"],
        ] {
            let result = try north.program.run(
                words + ["--state", north.program.state],
                environment: ["YARDMASTER_FLEET": north.address]
            )
            #expect(result.status == (words.last == "1" ? 0 : 69), "\(words): \(result.errors)")
            guard words.last != "1" else { continue }
            #expect(result.output.contains("this machine's journal only: no server of the fleet"))
            #expect(result.output.contains("v1") || result.output.contains("steered"))
        }
        let document = try FleetRunTests.document(try say("status", "--json").output)
        #expect((document["source"] as? [String: Any])?["whole"] as? Bool == false)
        // A journal in which nothing has run, as requests leave one, is no answer.
        #expect(try office.say("pause").status == 69)
        for words in [["status"], ["history"], ["morning"], ["show", "v1"], ["status", "--json"]] {
            let nothing = try office.say(words)
            #expect(nothing.status == 69, "\(words): \(nothing.output)")
            #expect(nothing.errors.contains("no server of the fleet answers"))
            let document = nothing.output.hasPrefix("{\"schema\":1,\"error\":{")
            #expect(words.contains("--json") ? document : nothing.output == "", "\(words)")
        }
        let fleet = try Program().run(["fleet", "status", "--fleet", north.address])
        #expect(fleet.status == 69 && fleet.output == "")
        #expect(try say("status", "--journal").status == 0)
        #expect(try say("status", "--journal", "--fleet", north.address).status == 64)
        try server.start()
        #expect(try office.say("status").status == 0)
    }

    @Test func `a rehearsal beside the fleet is not taken for it`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try gateways(yard, 2, "{waves: [rest]}")[0]
        #expect(try north.run().status == 0)
        let rehearsal = try Program.steered(3, rollout: "{waves: [rest]}")
        let environment = ["YARDMASTER_FLEET": office.address]
        #expect(try rehearsal.run(rehearsal.steeredRun, environment: environment).status == 0)
        let line = ["status", "--state", rehearsal.state]
        let status = try rehearsal.run(line, environment: environment)
        #expect(status.output.contains("3 succeeded") && !status.output.contains("fleet"))
        let paused = try rehearsal.run(
            ["pause", "--state", rehearsal.state],
            environment: environment
        )
        #expect(paused.output.contains("the next run begins nothing"), "\(paused.output)")
        #expect(try yard.ask("SELECT count(hold) FROM yardmaster.rollout") == "0\n")
        let asked = try rehearsal.run(line + ["--fleet", office.address])
        #expect(asked.output.contains("2 succeeded") && asked.output.hasPrefix("fleet "))
    }

    @Test func `what people set is seen from any machine, with its author`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try gateways(yard, 3, bad: 1, "{waves: [1, rest], retry: {device: 0}}")[0]
        _ = try north.run()
        #expect(try office.say("inhibit", "v3", "--reason", "workshop").status == 0)
        #expect(try office.say("pause", "--rollout", "steered", "--reason", "rain").status == 0)
        let paused = try office.say("status").output
        #expect(paused.contains("paused: paused by request: rain, by "), "\(paused)")
        #expect(paused.contains("left alone: v3, workshop, by "))
        let held = try office.document("status")
        #expect(held["state"] as? String == "paused" && held["author"] is String)
        #expect(try office.say("resume", "--rollout", "steered").status == 0)
        #expect(
            try office.say("retry", "v1").output.contains(
                "taken again by the next run of any gateway: v1"
            )
        )
        let resumed = try office.say("status").output
        #expect(resumed.contains("resume steered"), "\(resumed)")
        #expect(resumed.contains("v1") && resumed.contains("begun, without a verdict yet"))
        let said = try office.document("history")["said"] as? [[String: Any]] ?? []
        #expect(
            said.map { $0["request"] as? String } == ["retry", "resume", "pause", "inhibit"]
        )
        #expect(said.allSatisfy { $0["gateway"] as? String == "north" && $0["run"] as? Int == 1 })
    }

    @Test func `what an abort leaves is the same for a gateway and for the fleet`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try gateways(yard, 4, "{waves: [1, 1, rest]}", slow: true)[0]
        let running = try north.begin("--pace", "2", "--quiet")
        try working(running)
        #expect(try office.say("inhibit", "v4").status == 0)
        #expect(try office.say("abort", "--rollout", "steered", "--reason", "recall").status == 0)
        running.hurries()
        let end = running.result()
        #expect(end.status == 13)
        #expect(
            end.output.contains(
                "next: yardmaster run --again --state \(north.program.state) --fleet \(office.address)"
            ),
            "\(end.output)"
        )
        let status = try office.document("status")
        #expect(
            words(status)
                == ["v1": "succeeded", "v2": "aborted", "v3": "aborted", "v4": "aborted"]
        )
        let own = try FleetRunTests.document(
            try north.program.run([
                "status", "--json", "--journal", "--state", north.program.state,
            ]).output
        )
        #expect(words(own) == words(status))
        #expect(own["counts"] as? [String: Int] == status["counts"] as? [String: Int])
        let text = try office.say("status").output
        #expect(text.contains("'yardmaster run --again steered.yaml' begins it again"), "\(text)")
    }

    @Test func `a database that forgot runs is told of them again`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try gateways(yard, 2, "{waves: [rest]}")[0]
        for _ in 0..<2 { #expect(try north.run().status == 0) }
        func runs() throws -> String {
            try yard.ask("SELECT number, exit_code FROM yardmaster.run ORDER BY id")
        }
        #expect(try runs() == "1|0\n2|0\n")
        // What is not delivered is on the own disk: the end of this one is refused.
        try yard.ask(
            """
            CREATE FUNCTION deaf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              RAISE EXCEPTION 'not now' USING ERRCODE = 'disk_full';
            END $$;
            CREATE TRIGGER deaf BEFORE UPDATE ON yardmaster.run
            FOR EACH ROW EXECUTE FUNCTION deaf();
            """
        )
        let third = try north.run()
        #expect(third.status == 0 && third.errors.contains("the end of this run is in its journal"))
        #expect(try runs() == "1|0\n2|0\n3|\n")
        #expect(try office.say("history").output.contains("its end is not reported yet"))
        try yard.ask(
            "DROP TRIGGER deaf ON yardmaster.run; DELETE FROM yardmaster.run WHERE number < 3"
        )
        #expect(try office.say("fleet", "accept-restore").status == 64, "it has no state directory")
        _ = try Program().run(["fleet", "accept-restore", "--fleet", office.address])
        try yard.ask("UPDATE yardmaster.history SET claims_after = now()")
        #expect(try north.run().status == 0)
        #expect(try runs() == "3|0\n1|0\n2|0\n4|0\n")
        #expect(try north.run().status == 0)
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.run") == "5\n")
    }

    @Test func `a rollout is watched from any machine`() throws {
        let yard = try Yard()
        let office = try Office(yard)
        let north = try gateways(yard, 3, "{waves: [1, rest]}", slow: true)[0]
        let running = try north.begin("--pace", "5")
        try working(running)
        let path = office.program.folder.path + "/watch.out"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let watch = Process()
        watch.executableURL = URL(filePath: Program.path)
        watch.arguments = [
            "status", "--watch", "--fleet", office.address, "--state", office.program.state,
        ]
        watch.standardInput = FileHandle.nullDevice
        watch.standardOutput = try FileHandle(forWritingTo: URL(filePath: path))
        watch.standardError = FileHandle.nullDevice
        try watch.run()
        defer { if watch.isRunning { watch.terminate() } }
        func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        try wait(for: "the watch to begin") { text().contains("north/1 at work") }
        running.hurries()
        #expect(running.result().status == 0)
        try wait(for: "the end to be seen") { text().contains("north/1 exit 0") }
        #expect(text().contains("v3: succeeded, runs 4.12.0"), "\(text())")
        #expect(text().contains("under way in wave 2 of 2") || text().contains("finished"))
        kill(watch.processIdentifier, SIGINT)
        watch.waitUntilExit()
        #expect(watch.terminationStatus == 0)
    }

    @Test func `pages and metrics on any machine say what status says`() throws {
        let server = try PrivatePostgres()
        defer { server.stop() }
        let yard = try Yard(server)
        let office = try Office(yard)
        let north = try gateways(yard, 3, bad: 1, "{waves: [1, rest], retry: {device: 0}}")[0]
        try FileManager.default.createDirectory(
            atPath: north.program.state,
            withIntermediateDirectories: true
        )
        let pager = north.program.folder.path + "/pager"
        try north.program.write(
            "state/notify.yaml",
            "targets: {pager: {program: [/bin/sh, -c, \"cat >> \(pager)\"]}}\n"
        )
        _ = try north.run("--notify")
        // Without the address, a command in the notice would go to the journal only.
        let notice = try JSONValue(json: String(contentsOfFile: pager, encoding: .utf8))
        let commands = (notice["vehicles"]?.array ?? [])
            .flatMap { $0["commands"]?.array ?? [] }.compactMap(\.string)
        #expect(!commands.isEmpty)
        for line in commands {
            #expect(line.contains(" --fleet ") && line.contains(north.address), "\(line)")
        }
        let serving = try Serving(
            office.program,
            ["--listen", "127.0.0.1:0", "--fleet", office.address]
        )
        let status = try office.document("status")
        let served = try FleetRunTests.document(try serving.get("/api/v1/status").text)
        #expect(words(served) == words(status))
        #expect(served["counts"] as? [String: Int] == status["counts"] as? [String: Int])
        let page = try serving.get("/").text
        for words in ["all gateways", "north: ended, run 1", "data-vehicle=\"v1\""] {
            #expect(page.contains(words), "\(words) in\n\(page)")
        }
        #expect(try serving.get("/history").text.contains("data-run=\"north/1\""))
        let trends = try serving.get("/trends")
        #expect(trends.status == 200)
        for words in ["this machine's journal only", "Nothing has run here yet"] {
            #expect(trends.text.contains(words), "\(words) in\n\(trends.text)")
        }
        #expect(try serving.get("/vehicles/v1").text.contains("the module came back with 4.11.3"))
        #expect(try serving.get("/morning").text.contains("Inspect the vehicle"))
        let metrics = try serving.get("/metrics").text
        for line in [
            "yardmaster_fleet_up{fleet=\"\(office.address)\"} 1",
            #"yardmaster_gateway_up{gateway="north"} 0"#,
            #"yardmaster_gateway_silent{gateway="north"} 0"#,
            #"yardmaster_gateway_rights_held{gateway="north"} 0"#,
            #"yardmaster_gateway_database_wait_seconds{gateway="north"} "#,
            #"yardmaster_gateway_unreported{gateway="north"} 0"#,
            "yardmaster_gateway_clock_offset_seconds",
            #"yardmaster_rollout_vehicles{rollout="steered",outcome="failed"} 1"#,
        ] { #expect(metrics.contains(line), "\(line) in\n\(metrics)") }
        try server.kill()
        try wait(for: "the metrics to say it") {
            try serving.get("/metrics").text.contains(
                "yardmaster_fleet_up{fleet=\"\(office.address)\"} 0"
            )
        }
        #expect(try serving.get("/").status == 503)
        #expect(serving.stop() == 143)
    }
}
