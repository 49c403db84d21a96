import Foundation
import PrivatePostgres
import Testing

/// What people say on machines that share a database, and which rollout they mean.
extension FleetRunTests {
    /// On a machine with a state directory of its own that knows the fleet's address.
    private func say(
        _ yard: Yard,
        _ state: String,
        _ words: [String]
    ) throws -> Program.Result {
        try Program().run(
            words + ["--state", state],
            environment: ["YARDMASTER_FLEET": yard.server.address(yard.database)]
        )
    }

    @Test func `a verb without a rollout means this machine's and never another depot's`() throws {
        let yard = try Yard()
        let north = try gateway(yard, "north", 2, "{waves: [rest]}")
        #expect(try north.run().status == 0)
        // Another depot works on its own rollout, and did so after this machine.
        try yard.ask(
            """
            INSERT INTO yardmaster.rollout (name, plan, updated)
            VALUES ('riga', 'p', clock_timestamp() + interval '1 h')
            """
        )
        let held = "SELECT name, hold FROM yardmaster.rollout WHERE hold IS NOT NULL"
        for (verb, state) in [("pause", "steered|paused\n"), ("resume", "")] {
            let said = try say(yard, north.program.state, [verb])
            #expect(said.status == 0 && said.output.hasPrefix("steered: "), "\(said.output)")
            #expect(try yard.ask(held) == state)
        }
        let again = try say(yard, north.program.state, ["retry"])
        #expect(again.output.hasPrefix("steered: "), "\(again.output)\(again.errors)")
        // A machine on which nothing has run names the choice, and changes nothing.
        let office = north.program.state + "-office"
        for verb in ["pause", "abort", "resume", "retry"] {
            let said = try say(yard, office, [verb])
            #expect(said.status == 64, "\(verb): \(said.output)")
            #expect(said.errors.contains("--rollout: riga, steered"), "\(said.errors)")
        }
        #expect(try yard.ask(held) == "")
        #expect(try say(yard, office, ["pause", "--rollout", "steered"]).status == 0)
        #expect(try yard.ask(held) == "steered|paused\n")
    }

    @Test func `a pause that was lifted is reported as lifted on every gateway`() throws {
        let yard = try Yard()
        let north = Gateway(
            program: try Program.steered(
                3,
                rollout: "{waves: [rest]}",
                depot: "link: {interval: 100ms, mtu: 23, packets-per-interval: 1}\n"
            ),
            name: "north",
            address: yard.server.address(yard.database)
        )
        let office = north.program.state + "-office"
        let rollout = ["--rollout", "steered"]
        func pauseWhileAtWork(_ more: () throws -> Void = {}) throws -> Program.Result {
            let running = try north.begin("--pace", "1")
            #expect(running.waits(for: #""acknowledged":"#))
            #expect(try say(yard, office, ["pause", "--reason", "rain"] + rollout).status == 0)
            #expect(running.waits(for: #""kind":"draining""#))
            try more()
            running.hurries()
            return running.result()
        }
        let words = "the rollout is paused: paused by request: rain"
        let held = try pauseWhileAtWork()
        #expect(held.status == 12 && held.output.contains(words + "\n"), "\(held.output)")
        #expect(try say(yard, office, ["status"]).output.contains("exit 12: \(words)\n"))
        // On the gateway itself, so that its journal knows, too.
        #expect(try say(yard, north.program.state, ["resume"]).status == 0)
        for (state, words) in [
            (office, ["status"]), (office, ["morning"]), (north.program.state, ["status"]),
            (north.program.state, ["status", "--journal"]),
            (north.program.state, ["morning", "--journal"]),
            (north.program.state, ["plan", "steered.yaml"]),
        ] {
            let shown = try north.program.run(
                words + ["--state", state],
                environment: ["YARDMASTER_FLEET": north.address]
            )
            let rest = shown.output.withoutWhatWasLifted
            #expect(!rest.contains("by request"), "\(words): \(shown.output)")
            #expect(!shown.output.contains("\npaused: "), "\(words): \(shown.output)")
        }
        // Resumed from elsewhere while the run finishes what it has.
        let drained = try pauseWhileAtWork {
            let resumed = try say(yard, office, ["resume"] + rollout)
            #expect(resumed.status == 0)
        }
        let since = "the rollout was paused: paused by request: rain; resumed since"
        #expect(drained.status == 12 && drained.output.contains(since + "\n"), "\(drained.output)")
        let status = try say(yard, office, ["status"]).output
        #expect(status.contains("exit 12: \(since)\n"), "\(status)")
        let last = try north.run()
        #expect(last.status == 0, "\(last.output)")
        #expect(try !say(yard, office, ["status"]).output.contains("paused"))
    }

    @Test func `what a user may not do is not suggested, and an error names the role for it`()
        throws
    {
        let yard = try Yard()
        let north = try gateway(yard, "north", 2, "{waves: [1, rest], between-waves: {ask: true}}")
        #expect(try north.run().status == 12)
        let mark = UInt32.random(in: .min ... .max)
        func address(_ role: String) throws -> String {
            let user = "\(role)_\(mark)"
            let member = role == "nobody" ? "" : " IN ROLE yardmaster_\(role)"
            try yard.ask("CREATE ROLE \(user) LOGIN\(member)")
            return yard.server.address(yard.database, user: user)
        }
        func say(_ address: String, _ words: String...) throws -> Program.Result {
            try Program().run(
                words + ["--state", north.program.state + "-office"],
                environment: ["YARDMASTER_FLEET": address]
            )
        }
        let (reader, gateway) = (try address("reader"), try address("gateway"))
        let (person, nobody) = (try address("operator"), try address("nobody"))
        for user in [reader, gateway] {
            let status = try say(user, "status").output
            #expect(status.contains("; an operator's 'yardmaster resume "), "\(status)")
            let story = try say(user, "show", "v2").output
            #expect(story.contains("an operator: the rollout is paused"), "\(story)")
            // A task with one command, too.
            let morning = try say(user, "morning", "--since", "30d").output
            for line in morning.split(separator: "\n") where line.contains(" resume ") {
                #expect(line.contains("# an operator: "), "\(morning)")
            }
        }
        let status = try say(person, "status").output
        #expect(status.contains("; 'yardmaster resume "), "\(status)")
        #expect(try !say(person, "show", "v2").output.contains("an operator"))

        for (user, words, hint) in [
            (reader, ["resume", "--rollout", "steered"], "only a member of yardmaster_operator"),
            (gateway, ["resume", "--rollout", "steered"], "only a member of yardmaster_operator"),
            (reader, ["inhibit", "v1"], "only a member of yardmaster_operator"),
            (gateway, ["inhibit", "v1"], "only a member of yardmaster_operator"),
            (nobody, ["status"], "make this user a member of yardmaster_reader"),
        ] {
            let refused = try Program().run(
                words + ["--state", north.program.state + "-office"],
                environment: ["YARDMASTER_FLEET": user]
            )
            #expect(refused.status == 78, "\(words): \(refused.errors)")
            #expect(refused.errors.contains("hint: \(hint)"), "\(words): \(refused.errors)")
        }
        for (words, hint) in [
            (["gateway", "drain", "north"], "only a member of yardmaster_operator"),
            (["fleet", "prune"], "only the owner of the database"),
        ] {
            let refused = try Program().run(words + ["--fleet", gateway])
            #expect(refused.status == 78, "\(words): \(refused.errors)")
            #expect(refused.errors.contains("hint: \(hint)"), "\(words): \(refused.errors)")
        }
        let run = try north.program.run(
            [
                "run", "steered.yaml", "--simulate", "depot.yaml", "--state",
                north.program.state + "-reader", "--fleet", reader,
            ],
            environment: ["YARDMASTER_GATEWAY": "west"]
        )
        #expect(run.status == 78, "\(run.errors)")
        #expect(run.errors.contains("hint: a run needs a member of yardmaster_gateway"))
        // The name of a gateway belongs to the user that signed it in.
        let taken = try north.program.run(
            [
                "run", "steered.yaml", "--simulate", "depot.yaml", "--state",
                north.program.state + "-taken", "--fleet", gateway,
            ],
            environment: ["YARDMASTER_GATEWAY": "north"]
        )
        #expect(taken.status == 78 && taken.errors.contains("SET login"), "\(taken.errors)")
    }

    @Test func `a verb changes nothing in tables that forbid this program`() throws {
        let yard = try Yard()
        let north = try gateway(yard, "north", 2, "{waves: [rest]}")
        #expect(try north.run().status == 0)
        let table = "SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM yardmaster."
        func state() throws -> [String] {
            try ["rollout", "execution", "said", "inhibit", "history"].map {
                try yard.ask(table + "\($0) t")
            }
        }
        let before = try state()
        try yard.ask("UPDATE yardmaster.schema SET version = 99, oldest_reader = 99")
        for words in [
            ["pause"], ["abort"], ["resume"], ["retry"], ["retry", "v1"], ["inhibit", "v1"],
            ["uninhibit", "v1"], ["clear", "v1"], ["fleet", "accept-restore"],
        ] {
            let place = words[0] == "fleet" ? [] : ["--state", north.program.state]
            let said = try Program().run(
                words + place,
                environment: ["YARDMASTER_FLEET": yard.server.address(yard.database)]
            )
            #expect(said.status == 78, "\(words): \(said.output)\(said.errors)")
        }
        #expect(try state() == before)
    }
}
