import Foundation
import Testing

/// Requests of people: in force from their answer on, however runs end.
@Suite struct VerbPromiseTests {
    private func bikes(_ count: Int, rollout: String = "{}") throws -> PromiseYard {
        let yard = try PromiseYard(bikes: Array(repeating: "", count: count))
        try yard.manifest(family: "comodule", steps: "[{update: city}]", rollout: rollout)
        return yard
    }

    @Test(arguments: [("abort", SIGTERM, 13), ("abort", SIGKILL, 13), ("pause", SIGKILL, 12)])
    func `a request is in force from its answer, whatever ends the run`(
        verb: String,
        signal: Int32,
        code: Int32
    ) throws {
        let yard = try bikes(3)
        let running = try yard.program.begin("first", yard.line() + ["--pace", "2"])
        #expect(running.waits(for: "\"kind\":\"progress\""))
        #expect(try yard.say(verb).status == 0)
        kill(running.process.processIdentifier, signal)
        running.process.waitUntilExit()
        let next = try yard.run("yard", "--json")
        #expect(next.status == code)
        let counts = try #require(try yard.document(next)["counts"] as? [String: Any])
        let done = (counts["succeeded"] as? Int ?? 0) + (counts["already-current"] as? Int ?? 0)
        #expect(done <= 1, "nothing was begun after the answer: \(counts)")
    }

    @Test func `an inhibition names vehicles that exist, and a run under way obeys it`() throws {
        let yard = try bikes(3, rollout: "{waves: [1, 1, rest]}")
        #expect(try yard.exec("b1", "read odometer").status == 0)
        let unknown = try yard.say("inhibit", "b7")
        #expect(unknown.status == 64 && unknown.errors.contains("there is no vehicle b7"))
        #expect(try yard.say("inhibit", "b3").status == 64, "no run here knows it yet")
        let listed = try yard.say("inhibit", "b3", "--manifest", "yard.yaml", "--reason", "survey")
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(try yard.say("uninhibit", "b*").status == 0)
        #expect(try yard.say("uninhibit", "x*").status == 64)
        #expect(try yard.say("clear", "b7").status == 64)
        let running = try yard.program.begin("first", yard.line() + ["--pace", "2", "--json"])
        #expect(running.waits(for: "\"kind\":\"progress\""))
        let late = try yard.say("inhibit", "b1", "--reason", "brakes")
        #expect(late.output.contains("finishes the step it is at"), "\(late.output)")
        #expect(try yard.say("inhibit", "b[3]").status == 64)
        #expect(try yard.say("inhibit", "b3", "--reason", "mechanic below it").status == 0)
        running.hurries()
        let result = running.result()
        let left = try yard.vehicle("b3", in: result)
        #expect(left["outcome"] as? String == "deferred", "\(left)")
        #expect((left["message"] as? String)?.contains("mechanic below it") == true)
        #expect(try yard.vehicle("b1", in: result)["outcome"] as? String == "succeeded")
    }

    @Test func `a vehicle of the plan is known though only a part of it has run`() throws {
        let yard = try bikes(3, rollout: "{waves: [rest]}")
        #expect(try yard.run("yard", "--limit", "b1").status == 0)
        let held = try yard.say("inhibit", "b3", "--reason", "mechanic below it")
        #expect(held.status == 0, "\(held.errors)")
        #expect(try yard.say("inhibit", "b7").status == 64, "no plan has it")
        let run = try yard.run("yard", "--json")
        #expect(try yard.vehicle("b3", in: run)["outcome"] as? String == "deferred")
    }

    @Test func `an inhibition yields to nothing but uninhibit`() throws {
        let yard = try bikes(2)
        #expect(try yard.exec("b1", "read odometer").status == 0)
        #expect(try yard.say("inhibit", "b2", "--manifest", "yard.yaml").status == 0)
        let running = try yard.program.begin("first", yard.line() + ["--pace", "2", "--json"])
        #expect(running.waits(for: "\"kind\":\"progress\""))
        let refused = try yard.say("retry", "b2")
        #expect(refused.status == 64 && refused.errors.contains("inhibited"), "\(refused.errors)")
        running.hurries()
        #expect(try yard.vehicle("b2", in: running.result())["outcome"] as? String == "deferred")
        #expect(try yard.say("retry").output.contains("no change"))
        #expect(try yard.run("yard", "--again").lastLine.contains("deferred=1"))
        #expect(try yard.say("uninhibit", "b2").status == 0)
        #expect(try yard.run().lastLine.contains("ok=1"))
    }

    @Test func `each verb does and answers what the table says`() throws {
        let yard = try bikes(2, rollout: "{waves: [1, rest], between-waves: {ask: true}}")
        #expect(try yard.run().status == 12)
        // The rollout is paused.
        #expect(try yard.say("pause").output.contains("no change, it is paused already"))
        #expect(try yard.say("retry").output.contains("no change"))
        // An order in between does not become the rollout of the verbs.
        #expect(try yard.exec("b1", "read speed").status == 0)
        #expect(try yard.say("resume").output == "yard: goes on with the next run\n")
        #expect(try yard.say("resume").output.contains("no change, it is not paused"))
        // Open, paused and open again.
        #expect(try yard.say("pause").status == 0)
        #expect(try yard.run().status == 12)
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().status == 0)
        // The rollout is finished.
        let abort = try yard.say("abort")
        #expect(abort.status == 64 && abort.errors.contains("it is finished"), "\(abort.errors)")
        #expect(try yard.run().status == 0, "the next night is not killed by it")
        #expect(try yard.say("resume").output.contains("no change"))
        #expect(try yard.say("pause").status == 0)
        #expect(try yard.run("yard", "--again").status == 12, "a pause is not lifted by it")
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().status == 0)
        #expect(try yard.say("retry", "b9").status == 64)
        #expect(try yard.say("pause", "--rollout", "other").status == 66)
        // Aborted, and begun again with `--again`.
        try yard.depot(bikes: ["", ", out-of-reach: true"])
        #expect(try yard.run("yard", "--again").status == 12)
        #expect(try yard.say("abort").status == 0)
        for verb in ["pause", "resume", "retry"] {
            #expect(try yard.say(verb).status == 64, "\(verb)")
        }
        #expect(try yard.say("abort").output.contains("no change, it is aborted already"))
        #expect(try yard.run().status == 13)
        #expect(try yard.run("yard", "--again").status == 12)
    }

    @Test func `a vehicle whose doubt is answered after an abort ends as aborted`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}, {command: locate}]")
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        #expect(try yard.say("abort").status == 0)
        let doubtful = try yard.run("yard", "--json")
        #expect(doubtful.status == 13)
        #expect(try yard.vehicle("car", in: doubtful)["outcome"] as? String == "in-doubt")
        #expect(try yard.say("clear", "car").status == 0)
        let next = try yard.run("yard", "--json")
        #expect(next.status == 13)
        #expect(try yard.vehicle("car", in: next)["outcome"] as? String == "aborted")
        let status = try yard.say("status", "--json")
        #expect(try yard.vehicle("car", in: status)["outcome"] as? String == "aborted")
        #expect(!status.output.contains("the next run goes on"), "\(status.output)")
        #expect(yard.deeds.isEmpty, "nothing more is done on it")
    }

    @Test func `whether a rollout begins again is said`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}]")
        for _ in 1...3 { #expect(try yard.run().status == 0) }
        #expect(yard.deeds.count == 1, "nobody has said that it begins again")
        #expect(try yard.run("yard", "--again").status == 0)
        #expect(yard.deeds.count == 2)
        try yard.manifest("each", steps: "[{command: locate}]", rollout: "{again: each-run}")
        for _ in 1...3 { #expect(try yard.run("each").status == 0) }
        #expect(yard.deeds.filter { $0 == "locate" }.count == 3)
        try yard.manifest("daily", steps: "[{command: open-trunk}]", rollout: "{again: daily}")
        for _ in 1...3 { #expect(try yard.run("daily").status == 0) }
        #expect(yard.deeds.filter { $0 == "open-trunk" }.count == 1)
        // Simulated depots begin at 22:00 UTC: two hours later it is another day.
        try yard.manifest("pass", steps: "[{wait: 1h}, {wait: 1h}, {wait: 1h}]")
        #expect(try yard.run("pass").status == 0)
        #expect(try yard.run("daily").status == 0)
        #expect(yard.deeds.filter { $0 == "open-trunk" }.count == 2)
        try yard.setClockBack()
        let back = try yard.run("daily")
        #expect(back.status == 78 && back.errors.contains("before the rollout was begun"))
        #expect(yard.deeds.filter { $0 == "open-trunk" }.count == 2)
    }

    @Test(arguments: [("pause", 12), ("abort", 13)] as [(String, Int32)])
    func `a rollout that is held is not begun again by its manifest`(
        verb: String,
        status: Int32
    ) throws {
        let yard = try PromiseYard()
        try yard.manifest(
            steps: "[{command: open-trunk}, {wait: 2m}]",
            rollout: "{again: daily}"
        )
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(try yard.say(verb).status == 0)
        // Simulated depots begin at 22:00 UTC: the next day has begun when this run has ended.
        try yard.manifest("pass", steps: "[{wait: 1h}, {wait: 1h}, {wait: 1h}]")
        #expect(try yard.run("pass").status == 0)
        let held = try yard.run()
        #expect(held.status == status, "\(held.output)\(held.errors)")
        #expect(
            yard.deeds == ["open-trunk"],
            "a person has said no, and a day changes nothing of it"
        )
        // A person lifts this: then the new day, or `--again`, begins the rollout.
        let again = verb == "pause" ? [] : ["--again"]
        if verb == "pause" { #expect(try yard.say("resume", "--rollout", "yard").status == 0) }
        #expect(try yard.program.run(yard.line() + again).status == 0)
        #expect(yard.deeds == ["open-trunk", "open-trunk"])
    }

    @Test func `a rollout for each run that was cut is gone on with before it begins again`() throws
    {
        let yard = try PromiseYard()
        try yard.manifest(
            steps: "[{command: open-trunk}, {wait: 2m}]",
            rollout: "{again: each-run}"
        )
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk"], "it was not finished")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk", "open-trunk"])
    }

    @Test func `a daily rollout does not begin again in the window of its evening`() throws {
        let yard = try PromiseYard()
        // Simulated depots begin at 22:00 UTC.
        try yard.manifest(
            steps: "[{command: open-trunk}]",
            rollout: "{again: daily, window: {from: \"22:00\", for: 6h, zone: UTC}}"
        )
        try yard.manifest("pass", steps: "[{wait: 1h}, {wait: 1h}, {wait: 5m}]")
        try yard.manifest(
            "day",
            steps: "[\((1...22).map { _ in "{wait: 1h}" }.joined(separator: ", "))]"
        )
        #expect(try yard.run().status == 0)
        #expect(try yard.run("pass").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk"], "it is five past midnight, in the same window")
        #expect(try yard.run("day").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk", "open-trunk"], "the next evening")
    }

    @Test func `an edited daily rollout begins again on the next day, finished or not`() throws {
        let yard = try PromiseYard()
        let daily = "{again: daily}"
        func pass() throws {
            // Simulated depots begin at 22:00 UTC.
            try yard.manifest(
                "pass",
                steps: "[{wait: 1h}, {wait: 1h}, {wait: 1h}]"
            )
            #expect(try yard.run("pass", "--again").status == 0)
        }
        try yard.manifest(steps: "[{command: open-trunk}, {wait: 2m}]", rollout: daily)
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(yard.deeds == ["open-trunk"])
        // On the same day the rollout is continued, with its own plan.
        try yard.manifest(steps: "[{command: close-trunk}, {wait: 2m}]", rollout: daily)
        let same = try yard.run()
        #expect(same.status == 0 && same.errors.contains("has changed"), "\(same.errors)")
        #expect(yard.deeds == ["open-trunk"])
        // The rollout is finished, so the new plan is begun; and this run is cut.
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(yard.deeds == ["open-trunk", "close-trunk"])
        try yard.manifest(steps: "[{command: locate}, {wait: 2m}]", rollout: daily)
        try pass()
        let next = try yard.run()
        #expect(next.status == 0 && !next.errors.contains("has changed"), "\(next.errors)")
        #expect(yard.deeds == ["open-trunk", "close-trunk", "locate"])
        #expect(try yard.run().status == 0)
        #expect(yard.deeds.count == 3, "once a day")
        // An edited manifest does not hide a wrong clock, either.
        try pass()
        for _ in 1...7 { try pass() }
        try yard.cut(at: "\"detail\":\"wait\"")
        try yard.manifest(steps: "[{command: unlock-all}]", rollout: daily)
        try yard.setClockBack()
        let back = try yard.run()
        #expect(back.status == 78, "\(back.errors)")
        #expect(back.errors.contains("before the rollout was begun"), "\(back.errors)")
        #expect(!yard.deeds.contains("unlock-all"))
    }
}
