import Foundation
import PrivatePostgres
import Testing
import Workbench

/// Commands that must be carried out once, by gateways that are killed. Judged by the car's own record.
extension FleetRunTests {
    /// One car by which several gateways stand.
    private struct Street {
        let fleet: Yard
        let yard: PromiseYard
        private let address: String

        init(_ steps: String, _ rollout: String = "{}") throws {
            (fleet, yard) = (try Yard(), try PromiseYard())
            address = fleet.server.address(fleet.database)
            try yard.manifest(steps: steps, rollout: rollout)
        }

        private func line(_ gateway: String) throws -> [String] {
            [
                "run", "yard.yaml", "--simulate", "depot.yaml", "--state",
                try yard.state(of: gateway), "--fleet", address,
            ]
        }

        func run(_ gateway: String, _ more: String...) throws -> Program.Result {
            try yard.program.run(
                try line(gateway) + more,
                environment: ["YARDMASTER_GATEWAY": gateway]
            )
        }

        /// Begins a slow run and kills it when its events say so.
        func kill(_ gateway: String, at words: String, pace: String = "0.5") throws {
            let running = try yard.program.begin(
                "cut-\(UUID().uuidString)",
                try line(gateway) + ["--pace", pace],
                environment: ["YARDMASTER_GATEWAY": gateway]
            )
            #expect(running.waits(for: words), "it was not killed where it should be")
            Foundation.kill(running.process.processIdentifier, SIGKILL)
            running.process.waitUntilExit()
            // As if its right and the wait after it had passed.
            try fleet.ask("UPDATE yardmaster.module SET expires = expires - interval '1 h'")
        }

        /// On a machine on which nothing has run.
        func say(_ words: String...) throws -> Program.Result {
            try yard.program.run(
                words + ["--state", yard.program.state + "-office"],
                environment: ["YARDMASTER_FLEET": address]
            )
        }
    }

    @Test func `killed between intent and act, nobody sends it before a person has looked`() throws
    {
        let street = try Street("[{command: unlock-all}]")
        try street.kill("north", at: "\"state\":\"acting\"")
        #expect(street.yard.deeds.isEmpty, "it was killed too late")
        #expect(try street.fleet.ask("SELECT gateway, outcome FROM yardmaster.step") == "north|\n")
        let south = try street.run("south")
        #expect(south.status == 10, "\(south.errors)")
        #expect(south.output.contains("in-doubt") || south.output.contains("does not know"))
        #expect(street.yard.deeds.isEmpty)
        // The one that began it does not know either.
        #expect(try street.run("north").status == 10)
        #expect(street.yard.deeds.isEmpty)
        // Seen and not sent from any machine: nobody answers for all.
        let status = try street.say("status").output
        #expect(status.contains("nobody knows whether `command unlock-all` of run north/1"))
        #expect(status.contains("yardmaster clear") && status.contains("it was carried out"))
        let all = try street.say("retry", "--rollout", "yard")
        #expect(all.status == 0, "\(all.errors)")
        #expect(all.output.contains("no change, nothing is to be taken again"), "\(all.output)")
        #expect(all.output.contains("a doubt is answered by name only: car"))
        #expect(try street.run("south").status == 10)
        #expect(street.yard.deeds.isEmpty)
        let said = try street.say("retry", "car")
        #expect(said.status == 0 && said.output.contains("car"), "\(said.errors)")
        let again = try street.run("south")
        #expect(again.status == 0, "\(again.output)")
        #expect(street.yard.deeds == ["unlock-all"])
        let last = try street.run("north")
        #expect(last.status == 0, "\(last.output)")
        #expect(street.yard.deeds == ["unlock-all"])
    }

    @Test func `killed after the act, what it did is reported later and never done again`() throws {
        let street = try Street("[{command: unlock-all}, {wait: 60s}]")
        // The database does not hear of it, as when the network fails just then.
        try street.fleet.ask(
            """
            CREATE FUNCTION deaf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              RAISE EXCEPTION 'not now' USING ERRCODE = 'disk_full';
            END $$;
            CREATE TRIGGER deaf BEFORE UPDATE ON yardmaster.step
            FOR EACH ROW EXECUTE FUNCTION deaf();
            """
        )
        try street.kill("north", at: "\"detail\":\"wait\"", pace: "2")
        #expect(street.yard.deeds == ["unlock-all"])
        let south = try street.run("south")
        #expect(south.status == 10, "\(south.errors)")
        #expect(street.yard.deeds == ["unlock-all"])
        try street.fleet.ask("DROP TRIGGER deaf ON yardmaster.step")
        // It has it in its journal, and tells it before all else.
        let north = try street.run("north")
        #expect(north.status == 0, "\(north.output)\(north.errors)")
        let last = try street.run("south")
        #expect(last.status == 0, "\(last.output)")
        #expect(street.yard.deeds == ["unlock-all"])
        #expect(try street.fleet.ask("SELECT outcome FROM yardmaster.step") == "done\n")
    }

    @Test func `what is set on any machine stops every gateway`() throws {
        let street = try Street("[{command: unlock-all}]")
        #expect(
            try street.say(
                "inhibit",
                "car",
                "--reason",
                "workshop",
                "--manifest",
                "yard.yaml"
            ).status == 0
        )
        let left = try street.run("south")
        #expect(left.status == 11 && left.output.contains("workshop"), "\(left.output)")
        #expect(try street.say("uninhibit", "car").output.contains("takes part again"))
        #expect(try street.run("north").status == 0)
        #expect(
            try street.say("pause", "--rollout", "yard", "--reason", "rain").output.contains(
                "no gateway begins"
            )
        )
        for gateway in ["north", "south"] {
            let held = try street.run(gateway)
            #expect(held.status == 12, "\(held.output)")
            #expect(held.output.contains("rain") || held.errors.contains("rain"))
        }
        #expect(try street.say("resume", "--rollout", "yard").status == 0)
        // Done by the other one, it is not done again; begun again, it is once.
        #expect(try street.run("south").status == 0)
        #expect(street.yard.deeds == ["unlock-all"])
        #expect(try street.run("south", "--again").status == 0)
        #expect(try street.run("north").status == 0)
        #expect(street.yard.deeds == ["unlock-all", "unlock-all"])
        #expect(
            try street.say("abort", "--rollout", "yard").status == 64,
            "what is finished is not aborted"
        )
        let reopen = "UPDATE yardmaster.rollout SET state = 'running'"
        try street.fleet.ask(reopen)
        #expect(try street.say("abort", "--rollout", "yard").status == 0)
        #expect(try street.run("north").status == 13)
        #expect(try street.say("resume", "--rollout", "yard").status == 64)
        // Another plan of the same name is the whole fleet's, or nobody's.
        try street.yard.manifest(steps: "[{command: lock}]", rollout: "{}")
        #expect(try street.run("north").status == 0)
        try street.fleet.ask(reopen)
        try street.yard.manifest(steps: "[{command: unlock-driver}]", rollout: "{}")
        let other = try street.run("south")
        #expect(other.status == 77, "\(other.errors)")
        #expect(other.errors.contains("by another plan"))
    }

    /// Its journal has last heard that the rollout is paused, and has the plan from before.
    @Test func `a gateway that was away takes the plan of the others and begins nothing again`()
        throws
    {
        let street = try Street("[{command: unlock-all}]")
        for gateway in ["north", "south"] { #expect(try street.run(gateway).status == 0) }
        #expect(try street.say("pause", "--rollout", "yard").status == 0)
        #expect(try street.run("south").status == 12)
        #expect(try street.say("resume", "--rollout", "yard").status == 0)
        try street.yard.manifest(steps: "[{command: lock}]", rollout: "{}")
        #expect(try street.run("north").status == 0)
        #expect(street.yard.deeds == ["unlock-all", "lock"])
        let south = try street.run("south")
        #expect(south.status == 0, "\(south.output)\(south.errors)")
        #expect(!south.errors.contains("has changed since"), "\(south.errors)")
        #expect(street.yard.deeds == ["unlock-all", "lock"], "the old plan was begun again")
        #expect(try street.fleet.ask("SELECT beginning FROM yardmaster.rollout") == "2\n")
    }

    @Test func `a gateway whose fleet goes on with the plan from before goes on with it, too`()
        throws
    {
        let street = try Street("[{command: unlock-all}]")
        for gateway in ["north", "south"] { #expect(try street.run(gateway).status == 0) }
        // A vehicle of it is open again.
        try street.fleet.ask("UPDATE yardmaster.rollout SET state = 'running'")
        try street.yard.manifest(steps: "[{command: lock}]", rollout: "{}")
        let south = try street.run("south")
        #expect(south.status == 0, "\(south.output)\(south.errors)")
        #expect(south.errors.contains("goes on with the plan"), "\(south.errors)")
        #expect(street.yard.deeds == ["unlock-all"])
    }

    /// A run of the fleet would undo it within seconds.
    @Test func `a verb that misses the address of its fleet is refused`() throws {
        let street = try Street("[{command: unlock-all}]")
        #expect(try street.run("north").status == 0)
        let state = try street.yard.state(of: "north")
        for verb in [["pause"], ["resume"], ["abort"], ["retry"], ["retry", "car"]] {
            let said = try street.yard.program.run(verb + ["--state", state])
            #expect(said.status == 64, "\(verb): \(said.output)")
            #expect(
                (said.output + said.errors).contains("name it with --fleet"),
                "\(said.output)\(said.errors)"
            )
        }
        #expect(try street.fleet.ask("SELECT count(*) FROM yardmaster.said") == "0\n")
        // What holds for this machine besides the fleet is set as before.
        for verb in ["inhibit", "uninhibit"] {
            #expect(try street.yard.program.run([verb, "car", "--state", state]).status == 0)
        }
        #expect(try street.run("north").status == 0)
    }
}
