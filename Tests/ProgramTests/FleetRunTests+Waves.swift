import Foundation
import PrivatePostgres
import Testing
import Workbench

/// Several gateways that go through one rollout together.
extension FleetRunTests {
    func gateway(
        _ yard: Yard,
        _ name: String,
        _ count: Int,
        bad: Int = 0,
        away: Int = 0,
        _ rollout: String
    ) throws -> Gateway {
        Gateway(
            program: try Program.steered(count, bad: bad, away: away, rollout: rollout),
            name: name,
            address: yard.server.address(yard.database)
        )
    }

    @Test func `two gateways do each vehicle once and tell the same of all`() throws {
        let yard = try Yard()
        let rollout = "{waves: [2, 3, rest], pause-when: {failed: 1}}"
        let all = try ["north", "south"].map { try gateway(yard, $0, 8, rollout) }
        let begun = try all.map { try $0.begin() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("ok=8"), "\(result.lastLine)")
        }
        let told = try yard.ask(
            """
            SELECT count(*), count(DISTINCT vehicle) FROM yardmaster.verdict WHERE counts;
            SELECT state, wave, attempted, failed FROM yardmaster.rollout;
            """
        )
        #expect(told == "8|8\nfinished|2|8|0\n")
        #expect(try yard.faults() == "")
        // Nothing is left for anyone who comes later.
        let third = try gateway(yard, "west", 8, rollout).run()
        #expect(third.status == 0 && third.lastLine.contains("ok=8"), "\(third.output)")
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.verdict") == "8\n")
    }

    @Test func `the lines of a run never count past its vehicles`() throws {
        let yard = try Yard()
        let all = try ["north", "south"].map { name in
            Gateway(
                program: try Program.steered(
                    4,
                    rollout: "{waves: [1, rest]}",
                    depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
                ),
                name: name,
                address: yard.server.address(yard.database)
            )
        }
        let north = try all[0].begin("--pace", "1")
        try working(north)
        let south = try all[1].begin("--pace", "60")
        #expect(south.waits(for: "north, for vehicle v1 of steered has the right to touch"))
        // It asks for the first vehicle again and again, three minutes long by its clock.
        let heard = try yard.ask("SELECT heard FROM yardmaster.gateway WHERE name = 'south'")
        let later = "heard > '\(heard.dropLast())'::timestamptz + interval '3 s'"
        try wait(for: "its signs of life") {
            try yard.ask("SELECT \(later) FROM yardmaster.gateway WHERE name = 'south'") == "t\n"
        }
        north.hurries()
        south.hurries()
        for running in [north, south] {
            let result = running.result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
            var numbers: Set<Int> = []
            for event in running.events.matches(of: /"position":([0-9]+)/) {
                if let number = Int(event.output.1) { numbers.insert(number) }
            }
            #expect(numbers.sorted() == Array(0..<numbers.count).map { $0 + 1 }, "\(numbers)")
            #expect(numbers.count <= 4)
        }
        #expect(try yard.faults() == "")
    }

    @Test func `a vehicle that all leave alone is the same in a pause for a gateway and the fleet`()
        throws
    {
        let yard = try Yard()
        let rollout = "{waves: [1, rest], between-waves: {ask: true}}"
        let all = try ["north", "south"].map { name in
            Gateway(
                program: try Program.steered(
                    4,
                    rollout: rollout,
                    depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
                ),
                name: name,
                address: yard.server.address(yard.database)
            )
        }
        func say(_ words: String...) throws -> Program.Result {
            try Program().run(
                words + ["--state", all[0].program.state + "-office"],
                environment: ["YARDMASTER_FLEET": all[0].address]
            )
        }
        #expect(try all[0].run("--limit", "v2").status == 0)
        #expect(try say("inhibit", "v3", "--reason", "workshop").status == 0)
        let north = try all[0].begin("--pace", "1")
        try working(north)
        let south = try all[1].begin("--pace", "60")
        #expect(south.waits(for: "north, for vehicle v1 of steered has the right to touch"))
        for running in [north, south] { running.hurries() }
        for running in [north, south] {
            let result = running.result()
            #expect(result.status == 12, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("deferred=1"), "\(result.output)")
            // A run that sees the pause before the verdict that caused it looks once more at its end.
            #expect(result.lastLine.contains("unfinished=1"), "\(result.output)")
        }
        let status = try say("status")
        #expect(status.output.contains("inhibited: workshop"), "\(status.output)")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(try say("status", "--json").output.utf8))
                as? [String: Any]
        )
        let own = try #require(
            try JSONSerialization.jsonObject(
                with: Data(
                    try all[0].program.run([
                        "status", "--json", "--journal", "--state", all[0].program.state,
                    ]).output.utf8
                )
            ) as? [String: Any]
        )
        #expect(document["counts"] as? [String: Int] == own["counts"] as? [String: Int])
        // A run that is refused says the same, and after the pause the vehicle is taken up again.
        #expect(try all[1].run().lastLine.contains("deferred=1"))
        #expect(try say("resume", "--rollout", "steered").status == 0)
        #expect(try say("uninhibit", "v3").status == 0)
        let last = try all[1].run()
        #expect(last.status == 0, "\(last.output)")
        #expect(try say("status").output.contains("finished\n"))
    }

    @Test func `a gate over gateways stops them all at its failure`() throws {
        let yard = try Yard()
        let rollout = "{waves: [rest], retry: {device: 0}, pause-when: {failed: 2}}"
        let all = try ["north", "south"].map { try gateway(yard, $0, 9, bad: 9, rollout) }
        let begun = try all.map { try $0.begin() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 12, "\(result.errors)\(result.output)")
        }
        let failed = try yard.ask(
            "SELECT failed, hold_author, hold_reason FROM yardmaster.rollout"
        )
        #expect(failed == "3|gate|the gate: 3 of 3 attempted have failed, at most 2 may\n")
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.verdict WHERE counts") == "3\n")
    }

    @Test func `after four good nights a bad release stops where one machine stops`() throws {
        let rollout =
            "{waves: [2, 4, rest], again: each-run, retry: {device: 0}, pause-when: {failed: 25%, at-least: 4}}"
        let bad = try Program.steered(10, bad: 10, rollout: rollout)
        let alone = try bad.run(bad.steeredRun)
        #expect(alone.status == 12 && alone.lastLine.contains("failed=4"), "\(alone.output)")
        let yard = try Yard()
        let good = try Program.steered(10, rollout: rollout)
        // The modules of each night are those of a simulation of its own.
        func begin(_ night: Int, _ gateway: String, _ program: Program) throws -> Program.Running {
            let address = yard.server.address(yard.database)
            return try program.begin(
                "\(gateway)-\(night)",
                [
                    "run", "steered.yaml", "--simulate", "depot.yaml", "--state",
                    program.state + "-\(gateway)-\(night)", "--fleet", address,
                ],
                environment: ["YARDMASTER_GATEWAY": gateway]
            )
        }
        for night in 1...4 {
            let result = try begin(night, "north", good).result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
        }
        for running in try ["north", "south"].map({ try begin(5, $0, bad) }) {
            let result = running.result()
            #expect(result.status == 12, "\(result.errors)\(result.output)")
        }
        let told = try yard.ask(
            """
            SELECT beginning, attempted, failed, hold_author FROM yardmaster.rollout;
            SELECT count(*) FROM yardmaster.execution WHERE beginning = 5 AND touched;
            """
        )
        #expect(told == "5|4|4|gate\n4\n")
        #expect(try yard.faults() == "")
    }

    @Test func `a run whose sign-in was lost goes through its waves all the same`() throws {
        let yard = try Yard()
        let program = try Program.steered(
            3,
            rollout: "{waves: [1, rest]}",
            depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
        )
        let north = Gateway(
            program: program,
            name: "north",
            address: yard.server.address(yard.database)
        )
        let running = try north.begin("--pace", "20")
        try working(running)
        try yard.ask("DELETE FROM yardmaster.gateway")
        running.hurries()
        let result = running.result()
        #expect(result.status == 0, "\(result.errors)\(result.output)")
        #expect(result.lastLine.contains("ok=3"), "\(result.lastLine)")
        let known = try yard.ask("SELECT name, rollout, gone IS NOT NULL FROM yardmaster.gateway")
        #expect(known == "north|steered|t\n")
    }

    @Test func `a copied state directory is refused and told`() throws {
        let yard = try Yard()
        let north = try yard.gateway("north", 1)
        let running = try north.begin("--pace", "5")
        try working(running)
        let copy = north.program.state + "-copy"
        try FileManager.default.copyItem(atPath: north.program.state, toPath: copy)
        let holder = "SELECT holder FROM yardmaster.module"
        let before = try yard.ask(holder)
        for name in ["north", "south"] {
            let refused = try north.program.run(
                [
                    "run", "steered.yaml", "--simulate", "depot.yaml", "--state", copy, "--fleet",
                    north.address,
                ],
                environment: ["YARDMASTER_GATEWAY": name]
            )
            #expect(refused.status == 75, "\(refused.errors)\(refused.output)")
            #expect(refused.errors.contains("a state directory belongs to one machine"))
        }
        #expect(try yard.ask(holder) == before)
        running.hurries()
        let result = running.result()
        #expect(result.status == 0, "\(result.errors)\(result.output)")
        #expect(try yard.ask("SELECT count(*) FROM watch WHERE after IS NOT NULL") != "0\n")
        #expect(try yard.faults() == "")
    }

    @Test func `a vehicle that nobody hears is waited for by all and then unreachable`() throws {
        let yard = try Yard()
        let rollout = "{waves: [3, rest]}"
        // South hears one more than north does.
        let north = try gateway(yard, "north", 5, away: 2, rollout)
        let south = try gateway(yard, "south", 5, away: 1, rollout)
        let begun = [try north.begin("--pace", "0.5"), try south.begin("--pace", "0.5")]
        try wait(for: "both gateways to be at work") {
            try yard.ask("SELECT count(*) FROM yardmaster.gateway WHERE rollout IS NOT NULL")
                == "2\n"
        }
        for running in begun { running.hurries() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 11, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("unreachable=1"), "\(result.lastLine)")
        }
        let who = try yard.ask(
            "SELECT vehicle, outcome, gateway FROM yardmaster.execution WHERE vehicle >= 'v4' ORDER BY 1"
        )
        #expect(who == "v4|succeeded|south\nv5|unreachable|\n")
    }

    @Test func `a vehicle that one gateway could not hear is reported by it as another ended it`()
        throws
    {
        let yard = try Yard()
        let all = try ["north", "south"].map { name in
            Gateway(
                program: try Program.steered(
                    2,
                    rollout: "{waves: [1, rest]}",
                    depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
                ),
                name: name,
                address: yard.server.address(yard.database)
            )
        }
        // The south does not hear the first vehicle, and is at work on the second for long.
        let depot = all[1].program.folder.path + "/depot.yaml"
        let lines = try String(contentsOfFile: depot, encoding: .utf8).split(separator: "\n")
        try all[1].program.write(
            "depot.yaml",
            lines.filter { !$0.contains("00f0000000000001") }.joined(separator: "\n") + "\n"
        )
        let south = try all[1].begin("--pace", "20")
        try wait(for: "the south to be at work on the second") {
            try yard.ask(
                "SELECT count(*) FROM yardmaster.module WHERE vehicle = 'v2' AND doing IS NOT NULL"
            ) == "1\n"
        }
        let first = "SELECT outcome FROM yardmaster.execution WHERE vehicle = 'v1'"
        #expect(try yard.ask(first) == "unreachable\n")
        let north = try all[0].begin()
        try wait(for: "the north to have ended the first") {
            try yard.ask(first) == "succeeded\n"
        }
        south.hurries()
        for running in [south, north] {
            let result = running.result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("ok=2"), "\(result.lastLine)")
        }
    }

    @Test func `in a rehearsal a wave soaks by the simulated clock`() throws {
        let yard = try Yard()
        let rollout = "{waves: [1, rest], between-waves: {soak: 2h}}"
        let result = try gateway(yard, "north", 2, rollout).run()
        #expect(result.status == 0, "\(result.errors)\(result.output)")
        #expect(result.lastLine.contains("ok=2"), "\(result.lastLine)")
    }

    @Test func `retry without vehicles is said once for all gateways, from any machine`() throws {
        let yard = try Yard()
        let rollout = "{waves: [rest], retry: {device: 0}, quarantine-after: 9}"
        let all = try ["north", "south"].map { try gateway(yard, $0, 5, bad: 2, away: 1, rollout) }
        for running in try all.map({ try $0.begin() }) {
            #expect(running.result().status == 10)
        }
        func say(_ words: String...) throws -> Program.Result {
            try Program().run(
                words + ["--state", all[0].program.state + "-office"],
                environment: ["YARDMASTER_FLEET": all[0].address]
            )
        }
        func attempts() throws -> String {
            try yard.ask("SELECT count(*) FROM yardmaster.verdict WHERE outcome = 'failed'")
        }
        #expect(try attempts() == "2\n")
        #expect(try say("inhibit", "v2").status == 0)
        let said = try say("retry", "--rollout", "steered", "--reason", "repaired")
        #expect(said.output == "steered: taken again by the next run of any gateway: v1, v5\n")
        let states = "SELECT vehicle, state, outcome FROM yardmaster.execution ORDER BY 1"
        #expect(
            try yard.ask(states)
                == "v1|queued|\nv2|ended|failed\nv3|ended|succeeded\nv4|ended|succeeded\nv5|queued|\n"
        )
        // Any gateway takes them, also one that has not had them before; what is left alone stays.
        let next = try all[1].run()
        #expect(next.status == 10, "\(next.output)")
        #expect(try attempts() == "3\n")
        #expect(
            try yard.ask(
                "SELECT count(DISTINCT (serial, epoch)) FROM watch WHERE after IS NOT NULL"
            ) == "5\n"
        )
        #expect(try say("uninhibit", "v2").status == 0)
        #expect(try say("retry", "--rollout", "steered").output.contains("v1, v2, v5"))
        #expect(try say("retry", "--rollout", "other").status == 66)
        #expect(try yard.faults() == "")
    }
}
