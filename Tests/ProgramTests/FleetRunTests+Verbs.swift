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
