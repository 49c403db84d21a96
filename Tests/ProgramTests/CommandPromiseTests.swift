import Foundation
import Testing

/// Commands over several runs: none is sent twice, none is lost, doubts are kept.
///
/// The judge is the car's own record.
@Suite struct CommandPromiseTests {
    @Test func `a night that begins again and is killed is gone on with`() throws {
        let yard = try PromiseYard()
        try yard.manifest(
            steps: "[{wait: 30s}, {command: unlock-all}]",
            rollout: "{again: each-run}"
        )
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(yard.deeds == ["unlock-all"])
        let third = try yard.run()
        #expect(third.status == 0, "\(third.errors)")
        #expect(yard.deeds == ["unlock-all", "unlock-all"], "night 2 had not done it yet")
        // A night that is cut after the command does not repeat it.
        try yard.manifest(
            "other",
            steps: "[{command: unlock-driver}, {wait: 30s}]",
            rollout: "{again: each-run}"
        )
        try yard.cut("other", at: "\"detail\":\"wait\"")
        #expect(try yard.run("other").status == 0)
        #expect(yard.deeds.filter { $0 == "unlock-driver" }.count == 1)
    }

    @Test func `another plan of the same name does its own steps`() throws {
        let yard = try PromiseYard(hasSpare: true)
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        try yard.manifest(steps: "[{command: unlock-driver}]")
        #expect(try yard.run("yard", "--limit", "car").status == 0)
        #expect(yard.deeds == ["unlock-all", "unlock-driver"])
        try yard.manifest(steps: "[{command: open-trunk}, {command: unlock-driver}]")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all", "unlock-driver", "open-trunk", "unlock-driver"])
        // Commands that `--limit` has carried out with the same plan count for the rollout.
        try yard.manifest(steps: "[{command: close-trunk}]")
        #expect(try yard.run("yard", "--limit", "car").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds.filter { $0 == "close-trunk" }.count == 1)
    }

    @Test func `a clock that goes back repeats no command`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{wait: 40s}, {command: unlock-all}, {wait: 30s}]")
        try yard.cut(at: "\"detail\":\"wait\"")
        // The depot's clock has advanced: after this it shows times before those of the first run.
        try yard.setClockBack()
        try yard.cut(at: "\"kind\":\"step-ended\"", pace: 20)
        #expect(yard.deeds == ["unlock-all"])
        try yard.setClockBack()
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
    }

    @Test func `what was carried out is not repeated by resume, retry or a used-up airtime`() throws
    {
        let yard = try PromiseYard()
        // The car is not checked in, so it refuses the second command each time.
        try yard.manifest(
            steps: "[{command: unlock-all}, {command: check-out}]",
            rollout: "{pause-when: {failed: 0}}"
        )
        let first = try yard.run()
        #expect(first.status == 12, "\(first.output)")
        #expect(yard.deeds == ["unlock-all"])
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().status == 10, "a failure that was looked at trips no gate again")
        let retried = try yard.say("retry", "car")
        #expect(retried.status == 0 && retried.output.contains("taken again"))
        #expect(try yard.run().status == 10)
        #expect(yard.deeds == ["unlock-all"])
        // A refusal by a device without a bond is a doubt, which a person answers first.
        #expect(try yard.say("retry", "car").status == 0)
        #expect(try yard.exec("car", "command check-in").status == 0)
        #expect(try yard.run().status == 0, "only the step that failed is done again")
        #expect(yard.deeds == ["unlock-all", "check-in", "check-out"])
        // The commands are sent again only when a person begins the rollout again.
        #expect(try yard.run("yard", "--again").status == 12)
        #expect(yard.deeds == ["unlock-all", "check-in", "check-out", "unlock-all"])
    }

    @Test func `a part of a rollout begins again for its vehicles, and only when it is asked to`()
        throws
    {
        let yard = try PromiseYard(hasSpare: true)
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        #expect(try yard.run("yard", "--limit", "car").status == 0)
        #expect(yard.deeds == ["unlock-all"], "what is done stays done")
        #expect(try yard.run("yard", "--again", "--limit", "car").status == 0)
        #expect(yard.deeds == ["unlock-all", "unlock-all"])
        #expect(try yard.run("yard", "--limit", "car").status == 0)
        #expect(yard.deeds == ["unlock-all", "unlock-all"])
    }

    @Test func `a command that was cut by our death is in doubt until a person has looked`() throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}]")
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        let doubtful = try yard.run("yard", "--json")
        #expect(doubtful.status == 10)
        #expect(try yard.vehicle("car", in: doubtful)["outcome"] as? String == "in-doubt")
        #expect(yard.deeds.isEmpty)
        let status = try yard.say("status")
        let retry = /\$ yardmaster retry --state [^ ]+ --rollout yard car\s/
        #expect(status.output.contains(retry), "\(status.output)")
        // The person's answer is that it was not carried out, so it may be sent.
        #expect(try yard.say("retry", "car").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
        #expect(try !yard.say("status").output.contains("nobody knows"))
    }

    @Test func `a command in doubt stays in doubt while its vehicle is away`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}]")
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        // The vehicle is inhibited in one run, away in another, and part of another rollout in a
        // third.
        #expect(try yard.say("inhibit", "car").status == 0)
        let left = try yard.run("yard", "--json")
        #expect(left.status == 10)
        #expect(try yard.vehicle("car", in: left)["outcome"] as? String == "in-doubt")
        #expect(try yard.say("uninhibit", "car").status == 0)
        try yard.depot(car: ", out-of-reach: true")
        #expect(try yard.run().status == 10)
        try yard.depot()
        try yard.manifest("other", steps: "[{command: unlock-driver}]")
        let other = try yard.run("other", "--json")
        #expect(try yard.vehicle("car", in: other)["outcome"] as? String == "in-doubt")
        #expect(try yard.exec("car", "command lock").status == 10)
        #expect(try yard.say("retry", "--rollout", "yard").status == 0, "it is not named")
        #expect(try yard.run().status == 10)
        #expect(try yard.run("yard", "--again").status == 10)
        #expect(yard.deeds.isEmpty)
        // The person's answer is that it was carried out, so it counts as done.
        let cleared = try yard.say("clear", "car")
        #expect(cleared.output.contains("what was in doubt counts as done"), "\(cleared.output)")
        #expect(try yard.run("other").status == 0)
        #expect(yard.deeds == ["unlock-driver"])
    }

    @Test func `commands that are harmless when repeated are sent again, and others never`() throws
    {
        let yard = try PromiseYard(car: ", faults: [{disconnect-in: result, times: 1}]")
        try yard.manifest(steps: "[{command: lock}]")
        let result = try yard.run()
        #expect(result.status == 0, "\(result.output)")
        let other = try PromiseYard(car: ", faults: [{disconnect-in: result, times: 1}]")
        try other.manifest(steps: "[{command: unlock-all}]")
        #expect(try other.run().status == 10)
        #expect(other.deeds.count <= 1)
    }

    @Test func `what runs always is carried out or owed`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}, {wait: 2m}]", always: "[{command: lock}]")
        let cut = try yard.cut(at: "\"detail\":\"wait\"", with: SIGTERM)
        #expect(cut.process.terminationStatus == 143)
        #expect(yard.deeds == ["unlock-all"])
        let status = try yard.say("status")
        #expect(status.output.contains("`command lock` is owed since run 1"), "\(status.output)")
        #expect(try yard.say("abort", "--reason", "wrong").status == 0)
        let aborted = try yard.run()
        #expect(aborted.status == 13)
        #expect(yard.deeds == ["unlock-all", "lock"], "\(aborted.output)")
        #expect(try !yard.say("status").output.contains("is owed"))
        // The owed step of a killed run is done by any next run.
        try yard.manifest(
            "second",
            steps: "[{command: unlock-all}, {wait: 2m}]",
            always: "[{command: lock}]"
        )
        try yard.cut("second", at: "\"detail\":\"wait\"")
        #expect(try yard.exec("car", "command locate").status == 0)
        #expect(yard.deeds.suffix(3) == ["unlock-all", "lock", "locate"])
        // When the airtime is used up, the steps of `always` are still done.
        try yard.depot(car: ", operation-time: 6s")
        try yard.manifest(
            "third",
            steps: "[{command: unlock-all}, {command: unlock-driver}, {command: open-trunk}]",
            always: "[{command: lock}]",
            rollout: "{airtime: {vehicle: 10s}}"
        )
        let third = try yard.run("third")
        #expect(third.output.contains("used up its airtime"), "\(third.output)")
        #expect(yard.deeds.last == "lock")
    }
}
