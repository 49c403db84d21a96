import Foundation
import Testing

/// The page after a bad night of the demo depot: the tasks, their vehicles and the commands for
/// them.
@Suite struct MorningPageTests {
    private func badNight() throws -> Program {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo("depot-troubled"))
        return program
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `a vehicle is found by its serial, its plate and the number on it`() throws {
        let program = try badNight()
        func shown(_ name: String) throws -> Program.Result {
            try program.run(["show", name, "--json", "--state", program.state])
        }
        let known = try shown("bike-12")
        #expect(known.status == 0, "\(known.errors)")
        for name in ["00A000000000000C", "112 DMO", "112 dmo", "112"] {
            let found = try shown(name)
            #expect(found.output == known.output, "\(name): \(found.errors)")
        }
        let many = try shown("DMO")
        #expect(many.status == 64)
        #expect(many.errors.contains("'DMO' means 24 vehicles: bike-01, bike-02"), "\(many.errors)")
        let none = try shown("113 ÕÄB")
        #expect(none.status == 66)
        #expect(none.errors.contains("no run here knows the vehicle 113 ÕÄB"), "\(none.errors)")
    }

    @Test func `each vehicle that is not as it should be is a task, and no other is`() throws {
        let program = try badNight()
        let status = try object(
            try program.run(["status", "--json", "--state", program.state]).output
        )
        let fine: Set<String> = ["succeeded", "already-current", "skipped", "aborted"]
        let wanting = try #require(status["vehicles"] as? [[String: Any]])
            .filter { !fine.contains($0["outcome"] as? String ?? "") }
            .compactMap { $0["id"] as? String }
        #expect(wanting.count >= 3)
        let page = try object(
            try program.run(["morning", "--json", "--state", program.state]).output
        )
        let tasks = try #require(page["tasks"] as? [[String: Any]])
        #expect(Set(tasks.compactMap { $0["vehicle"] as? String }) == Set(wanting))
        let works = tasks.compactMap { $0["work"] as? String }
        #expect(Set(works).isSuperset(of: ["mechanic", "charge", "bring-in"]))
        #expect(tasks.allSatisfy { !(($0["sentence"] as? String) ?? "").isEmpty })
        // `status` and the page list the same tasks.
        let next = try #require(status["next"] as? [[String: Any]])
        func wanted(_ items: [[String: Any]]) -> Set<String> {
            Set(items.map { "\($0["vehicle"] ?? "") \($0["work"] ?? "")" })
        }
        #expect(wanted(next) == wanted(tasks))
        let text = try program.run(["morning", "--state", program.state])
        #expect(text.status == 0)
        #expect(text.output.contains("plate 114 DMO, seen "), "\(text.output)")
        #expect(text.output.contains("state_of_charge is 12, required is >= 40"))
        let html = try program.run(["morning", "--html", "--state", program.state]).output
        for id in wanting { #expect(html.contains("<h3>\(id)")) }
        let csv = try program.run(["morning", "--csv", "--state", program.state]).output
        #expect(csv.split(separator: "\r\n").count == tasks.count + 1)
        let mail = try program.run([
            "morning", "--mail", "crew@example.com", "--state", program.state,
        ]).output
        #expect(mail.hasPrefix("To: crew@example.com\nSubject: yardmaster: 1 rollout, "))
    }

    @Test func `the commands that the page gives are taken`() throws {
        let program = try badNight()
        let page = try object(
            try program.run(["morning", "--json", "--state", program.state]).output
        )
        var lines: Set<String> = []
        for task in try #require(page["tasks"] as? [[String: Any]]) {
            for command in task["commands"] as? [[String: String]] ?? [] {
                lines.insert(try #require(command["line"]))
            }
        }
        #expect(!lines.isEmpty)
        for line in lines {
            var words = line.split(separator: " ").map(String.init)
            #expect(words.removeFirst() == "yardmaster")
            if words[0] == "run" { #expect(words.contains("--simulate"), "\(line)") }
            let result = try program.run(words)
            #expect(result.status != 64, "\(line): \(result.errors)")
        }
    }

    @Test func `status begins with whom somebody is needed for, and is silent on the rest`() throws
    {
        let program = try badNight()
        let all = try program.run(["status", "--state", program.state]).output
        let rows = all.split(separator: "\n").filter { $0.contains("  00a0") }
        #expect(rows.count == 24)
        #expect(rows[0].contains("failed"))
        #expect(rows[1].contains("unreachable") && rows[1].contains("00a000000000000d"))
        #expect(rows[2].contains("deferred"))
        #expect(all.split(separator: " UTC").count == 2 && !all.contains("Z\n"))
        #expect(all.contains("what to do\n"))
        let quiet = try program.run(["status", "--quiet", "--state", program.state]).output
        #expect(quiet.split(separator: "\n").count { $0.contains("  00a0") } == 3)
        #expect(!quiet.contains("runs 4.12.0"))
    }

    @Test func `a cause says once what the module was doing`() throws {
        let program = try Program.steered(
            1,
            bad: 1,
            fault: "silent-in: challenge",
            rollout: "{retry: {transient: 0}}"
        )
        #expect(try program.run(program.steeredRun).status == 10)
        let text = try program.run(["status", "--state", program.state]).output
        #expect(text.contains(" while authenticating: no answer in time"), "\(text)")
        #expect(!text.contains("authenticating: while"), "\(text)")
    }

    @Test func `times are those of the window's zone, and of UTC for programs`() throws {
        let program = try Program.steered(
            1,
            rollout: "{window: {from: \"00:00\", for: 24h, zone: Europe/Tallinn}}"
        )
        _ = try program.run(program.steeredRun)
        let text = try program.run(["status", "--state", program.state]).output
        #expect(text.contains(" +02:00\n"), "\(text)")
        let json = try program.run(["status", "--json", "--state", program.state]).output
        #expect(!json.contains("+02:00"))
        let page = try program.run(["morning", "--state", program.state]).output
        #expect(page.hasPrefix("Since 2026-01-05 12:00 +02:00: "), "\(page)")
        // The reports about runs and the plan use the same zone.
        let night = program.folder.path + "/night.html"
        for words in [
            ["history"], ["history", "show", "last", "--report", night],
            ["plan", "steered.yaml"],
        ] {
            let told = try program.run(words + ["--state", program.state]).output
            #expect(told.contains(" +02:00"), "\(told)")
        }
        #expect(try String(contentsOfFile: night, encoding: .utf8).contains(" +02:00"))
        let list = try program.run(["history", "--json", "--state", program.state]).output
        #expect(!list.contains("+02:00"))
    }

    @Test func `a vehicle is shown with all that is known of it`() throws {
        let program = try badNight()
        let text = try program.run(["show", "bike-14", "--state", program.state])
        #expect(text.status == 0)
        for words in [
            "vehicle bike-14\n", "serial 00a000000000000e", "plate 114 DMO",
            "demo-4.12, run 1: deferred", "Charge: state_of_charge is 12",
        ] {
            #expect(text.output.contains(words), "\(text.output)")
        }
        let json = try object(
            try program.run(["show", "bike-12", "--json", "--state", program.state]).output
        )
        #expect((json["debts"] as? [Any])?.count == 1)
        #expect((json["next"] as? [[String: Any]])?.first?["work"] as? String == "mechanic")
        let nobody = try program.run(["show", "bike-99", "--state", program.state])
        #expect(nobody.status == 66)
        let none = try program.run(["morning", "--state", program.folder.path + "/none"])
        #expect(none.status == 66)
    }

    @Test func `a page has one form and begins at a time that there is`() throws {
        let program = try badNight()
        for flags in [
            ["--csv", "--html"], ["--since", "yesterday"], ["--since", "2026-13-01"],
            ["--mail", "crew\nBcc: x@example.com"], ["--mail", "crew"],
        ] {
            let result = try program.run(["morning", "--state", program.state] + flags)
            #expect(result.status == 64, "\(flags)")
        }
        let later = try program.run([
            "morning", "--since", "2026-02-01 06:00", "--state", program.state,
        ])
        #expect(later.output.contains("nothing ran"), "\(later.output)")
    }
}
