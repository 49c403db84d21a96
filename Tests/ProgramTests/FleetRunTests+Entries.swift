import PrivatePostgres
import Testing
import Workbench

/// What a run may do to the rollout of all gateways by beginning it, and what it may not.
extension FleetRunTests {
    private func say(_ north: Gateway, _ words: String...) throws -> Program.Result {
        try Program().run(
            words + ["--state", north.program.state + "-office"],
            environment: ["YARDMASTER_FLEET": north.address]
        )
    }

    private func begun(_ yard: Yard) throws -> String {
        try yard.ask("SELECT beginning, state, hold FROM yardmaster.rollout")
    }

    @Test func `a run of some vehicles begins no rollout by other files for all gateways`() throws {
        let yard = try Yard()
        let all = try ["north", "south"].map { try gateway(yard, $0, 3, "{waves: [rest]}") }
        for one in all { #expect(try one.run().status == 0) }
        let before = try begun(yard)
        #expect(before == "1|finished|\n")
        try all[0].program.write("steered.yaml", Program.steeredManifest("{waves: [1, rest]}"))
        let tried = try all[0].run("--limit", "v1")
        #expect(tried.status == 77, "\(tried.output)\(tried.errors)")
        #expect(tried.errors.contains("by another plan"), "\(tried.errors)")
        #expect(try begun(yard) == before)
        // The other gateway, whose files are as they were, goes on; a run of all begins it for all.
        #expect(try all[1].run().status == 0)
        #expect(try all[0].run().status == 0)
        #expect(try begun(yard) == "2|finished|\n")
    }

    @Test func `a run of some vehicles leaves a nightly rollout as finished as it was`() throws {
        let yard = try Yard()
        let north = try gateway(yard, "north", 3, bad: 1, "{waves: [rest], again: each-run}")
        #expect(try north.run().status == 10)
        #expect(try begun(yard) == "1|finished|\n")
        #expect(try north.run("--limit", "v1").status == 10)
        #expect(try begun(yard) == "1|finished|\n")
        // The next night begins it again, and shows nothing of the last one.
        _ = try north.run()
        #expect(try begun(yard) == "2|finished|\n")
        let looked =
            "SELECT count(*) FROM yardmaster.execution WHERE beginning = 2 AND instance IS NOT NULL"
        #expect(try yard.ask(looked) == "3\n")
    }

    @Test(arguments: [["--again"], []])
    func `a paused rollout is not begun again on any gateway`(flags: [String]) throws {
        let yard = try Yard()
        let again = flags.isEmpty ? ", again: each-run" : ""
        let all = try ["north", "south"].map { try gateway(yard, $0, 2, "{waves: [rest]\(again)}") }
        #expect(try all[0].run().status == 0)
        // As a gate pauses it with its last verdict: an operator's word about what is over is refused.
        try yard.ask(
            """
            UPDATE yardmaster.rollout SET hold = 'paused', hold_reason = 'rain', hold_author = 'mia',
              hold_made = now()
            """
        )
        for one in all {
            let result = flags.isEmpty ? try one.run() : try one.run(flags[0])
            #expect(result.status == 12, "\(result.output)\(result.errors)")
            #expect(result.output.contains("rain"), "\(result.output)")
            #expect(try begun(yard) == "1|finished|paused\n")
        }
        #expect(try say(all[0], "resume", "--rollout", "steered").status == 0)
        #expect(try (flags.isEmpty ? all[1].run() : all[1].run(flags[0])).status == 0)
        #expect(try begun(yard) == "2|finished|\n")
    }

    @Test func `a machine brings its hold into the fleet for the same plan, and no other`() throws {
        for isSame in [true, false] {
            let yard = try Yard()
            let rollout = "{waves: [1, rest], between-waves: {ask: true}}"
            let all = try ["north", "south"].map { try gateway(yard, $0, 3, rollout) }
            #expect(try all[0].run("--limit", "v1").status == 0)
            // South has gone through a rollout of this name by itself, and paused it.
            let south = all[1].program
            let own = isSame ? rollout : "{waves: [2, rest], between-waves: {ask: true}}"
            try south.write("steered.yaml", Program.steeredManifest(own))
            #expect(try south.run(south.steeredRun).status == 12)
            #expect(try south.run(["resume", "--state", south.state]).status == 0)
            let said = try south.run(["pause", "--reason", "rain", "--state", south.state])
            #expect(said.status == 0, "\(said.errors)")
            try south.write("steered.yaml", Program.steeredManifest(rollout))
            // With the role of a gateway, which may say nothing for people.
            let user = "south_\(UInt32.random(in: .min ... .max))"
            try yard.ask("CREATE ROLE \(user) LOGIN IN ROLE yardmaster_gateway")
            let result = try Gateway(
                program: south,
                name: "south",
                address: yard.server.address(yard.database, user: user)
            ).run()
            #expect(result.status == 12, "\(result.output)\(result.errors)")
            // Without one it comes to the question of the fleet's own rollout.
            let hold = try yard.ask("SELECT hold_author, hold_reason FROM yardmaster.rollout")
            #expect(hold.hasPrefix("gate|") != isSame, "\(hold)")
            #expect(hold.hasSuffix(": rain\n") == isSame, "\(hold)")
        }
    }

    @Test func `a vehicle that is inhibited in the fleet stays so under another id`() throws {
        let yard = try Yard()
        let north = try gateway(yard, "north", 2, "{waves: [rest]}")
        #expect(try north.run("--limit", "v2").status == 0)
        #expect(try say(north, "inhibit", "v1", "--reason", "workshop").status == 0)
        try north.program.write(
            "fleet.csv",
            """
            id,serial,family,secret
            bus,00f0000000000001,comodule,file:key
            v2,00f0000000000002,comodule,file:key

            """
        )
        let refused = try north.run("--again")
        #expect(refused.status == 65, "\(refused.output)\(refused.errors)")
        #expect(refused.errors.contains("v1 is inhibited: workshop"), "\(refused.errors)")
        #expect(try begun(yard) == "1|running|\n")
        #expect(refused.errors.contains("'yardmaster uninhibit "), "\(refused.errors)")
        #expect(try say(north, "uninhibit", "v1").status == 0)
        #expect(try north.run("--again").lastLine.contains("ok=1 current=1"))
    }
}
