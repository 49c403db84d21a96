import Foundation
import Testing
import Workbench

/// A week of an operator who has only the documents.
///
/// After each failure, `status`, the report and `morning` are right, and name the command to give.
@Suite struct OperatorWeekTests {
    private static let run = "$ yardmaster run"

    /// The tasks of a page, from their heading to the table of the vehicles.
    private func toDo(_ result: Program.Result) -> String {
        let tasks = result.output.components(separatedBy: "what to do\n").dropFirst().joined()
        return tasks.components(separatedBy: "\n\n")[0] + "\n"
    }

    @Test func `a killed run leaves its vehicle among those that are rescued`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        let status = try yard.say("status")
        #expect(status.output.contains("was cut off; run it again"))
        #expect(status.output.contains("was working on b1"))
        #expect(!status.output.contains("next deadline"), "nobody waits for anything")
        let row = status.output.split(separator: "\n").first { $0.hasPrefix("b1 ") }
        #expect(row?.contains("in-bootloader") == true, "\(status.output)")
        #expect(toDo(status).contains("Rescue from the bootloader (1)"), "\(status.output)")
        #expect(toDo(status).contains(Self.run))
        let morning = try yard.say("morning")
        #expect(morning.output.contains("1 rescue, 1 wait"), "\(morning.output)")
        #expect(try yard.say("show", "b1").output.contains("Rescue from the bootloader"))
        #expect(try yard.run().status == 0)
        #expect(try yard.say("morning").output.contains("nothing to do"))
    }

    @Test
    func `only what takes part again is said to, and what the depot's inhibition leaves alone`()
        throws
    {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        #expect(try yard.run().status == 0)
        _ = try yard.say("inhibit", "b1")
        #expect(try yard.say("uninhibit", "b*").output == "takes part again: b1\n")
        _ = try yard.say("inhibit", "--all", "--reason", "flood")
        _ = try yard.say("inhibit", "b1")
        let still = "; the depot is still left alone: flood, `uninhibit --all` lifts that\n"
        #expect(try yard.say("uninhibit", "b1").output == "no longer inhibited: b1" + still)
        #expect(
            try yard.say("uninhibit", "b1").output
                == "no change, nothing was inhibited: b1" + still
        )
        #expect(try yard.say("uninhibit", "--all").output.hasPrefix("takes part again: "))
    }

    @Test func `a command that was cut with its run is a doubt at once`() throws {
        let yard = try PromiseYard(car: ", faults: [{late-result: 40s}]")
        try yard.manifest(steps: "[{command: unlock-all}]")
        try yard.cut(at: "command unlock-all")
        let status = try yard.say("status")
        #expect(status.output.contains("car: nobody knows whether `command unlock-all`"))
        #expect(toDo(status).contains("$ yardmaster clear"), "\(status.output)")
        #expect(toDo(status).contains("$ yardmaster retry"))
        #expect(try yard.say("morning").output.contains("1 answer"))
        // Without a name no doubt is answered, and the message names the command that answers it.
        let retry = try yard.say("retry")
        #expect(retry.status == 0 && retry.output.contains("`clear car` when it was)"))
        #expect(try yard.say("clear", "car").output.contains("counts as done"))
        #expect(try yard.run().status == 0)
        #expect(try yard.say("status").output.contains("1 succeeded"))
    }

    @Test func `a doubt that somebody has answered is a question no more`() throws {
        let yard = try PromiseYard(car: ", faults: [{late-result: 40s}]")
        try yard.manifest(steps: "[{command: unlock-all}, {command: check-in}]")
        try yard.cut(at: "command unlock-all")
        // The next run cannot know it either, and reports this.
        #expect(try yard.run().status == 10)
        let asked = "look whether the doors are open"
        #expect(try yard.say("status").output.contains(asked))
        #expect(try yard.say("clear", "car").output.contains("counts as done"))
        for words in [["status"], ["morning"], ["show", "car"]] {
            let page = try yard.program.run(words + ["--state", yard.program.state])
            #expect(!page.output.contains(asked), "\(page.output)")
            #expect(!page.output.contains("Inspect the vehicle"), "\(page.output)")
        }
        let status = try yard.say("status")
        #expect(status.output.contains("begun, without a verdict yet"))
        #expect(toDo(status).contains("Wait: a run does it (1)"), "\(status.output)")
        #expect(try yard.run().status == 0)
        #expect(try yard.say("status").output.contains("1 succeeded"))
    }

    @Test func `a vehicle that is left alone waits for uninhibit and for no run`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{set: {lights: enabled}}]")
        #expect(try yard.run().status == 0)
        try yard.manifest("two", family: "comodule", steps: "[{set: {lights: disabled}}]")
        #expect(try yard.say("inhibit", "b2", "--reason", "mechanic below it").status == 0)
        #expect(try yard.run("two").status == 11)
        for page in [try yard.say("status"), try yard.say("morning")] {
            #expect(page.output.contains("$ yardmaster uninhibit"), "\(page.output)")
            #expect(page.output.contains("mechanic below it"))
            #expect(!page.output.contains(Self.run), "\(page.output)")
        }
        #expect(try yard.say("uninhibit", "b2").status == 0)
        #expect(toDo(try yard.say("status")).contains(Self.run))
        #expect(try yard.run("two").status == 0)
    }

    @Test func `an aborted rollout says what is brought to rest and what begins it again`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        #expect(try yard.say("abort").status == 0)
        let status = try yard.say("status")
        #expect(status.output.contains("' begins it again, from the first step"))
        #expect(toDo(status).contains("Rescue from the bootloader (1)"), "\(status.output)")
        #expect(toDo(status).contains("nothing is begun"))
        #expect(!toDo(status).contains("b2"), "nothing is done on it any more")
        for verb in ["resume", "retry"] {
            let refused = try yard.say(verb)
            #expect(refused.status == 64 && refused.errors.contains("`run --again`"))
        }
        let aborted = try yard.run("yard", "--quiet")
        #expect(aborted.status == 13)
        #expect((aborted.output + aborted.errors).contains("next: yardmaster run --again"))
        #expect(try yard.run("yard", "--again").status == 0)
    }

    @Test func `beside a run nothing is said to be done by the next one`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        let running = try yard.program.begin("night", yard.line() + ["--pace", "1"])
        #expect(running.waits(for: "\"kind\":\"progress\""))
        let status = try yard.say("status")
        #expect(status.output.contains("works on b1"))
        #expect(!status.output.contains("b1: its update"), "it is at that: \(status.output)")
        #expect(!status.output.contains("first in the next run"))
        #expect(!toDo(status).contains(Self.run), "it would end with 75: \(status.output)")
        let clear = try yard.say("clear", "b1")
        #expect(clear.status == 75 && clear.errors.contains("a run is at work on b1"))
        #expect(!clear.errors.contains("locked by another program"))
        running.hurries()
        #expect(running.result().status == 0)
    }

    @Test func `what is planned and not begun is not said to be begun`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        let plan = try yard.program.run([
            "plan", "yard.yaml", "--state", yard.program.state,
        ])
        let row = plan.output.split(separator: "\n").first { $0.hasPrefix("b2 ") }
        #expect(row?.contains("not begun") == true, "\(plan.output)")
    }

    /// If a rehearsal counted, a command that no vehicle has received would be recorded as done.
    @Test func `simulated and real vehicles do not share a state directory`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{set: {lights: enabled}}]")
        #expect(try yard.run().status == 0)
        let journal = yard.program.state + "/journal.sqlite"
        #expect(try Workbench.run("sqlite3", journal, "UPDATE runs SET seed = NULL") == 0)
        let refused = try yard.run()
        #expect(refused.status == 78)
        #expect(refused.errors.contains("is the state directory of real vehicles"))
        #expect(refused.errors.contains("--state"))
        #expect(try yard.exec("b1", "read speed").status == 78)
        let runs = try yard.document(try yard.say("history", "--json"))["runs"] as? [Any]
        #expect(runs?.count == 1, "no run was begun")
    }
}
