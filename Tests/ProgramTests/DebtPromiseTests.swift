import Foundation
import Testing

/// Updates that were begun and not proven, over several runs and rollouts.
@Suite struct DebtPromiseTests {
    private static let settle = "settle: {quiet: 20s, confirm-gap: 2s, deadline: 60s}"

    @Test func `an update whose settling was cut short is settled in full by the next run`() throws
    {
        // The module is busy with the update beyond the deadline, and reports its new version all
        // the time.
        let yard = try PromiseYard(bikes: [", faults: [{ongoing-for: 70s, period: 5s}]"])
        try yard.manifest(family: "comodule", steps: "[{update: city}]", more: Self.settle)
        let first = try yard.run("yard", "--json")
        #expect(first.status == 10, "\(first.output)")
        let status = try yard.say("status")
        let told = status.output.matches(of: /its update to city 4.12.0 \(run 1\) is not proven/)
        #expect(told.count == 1, "\(status.output)")
        let second = try yard.run("yard", "--json")
        let bike = try yard.vehicle("b1", in: second)
        // The module runs the target version, but this was read only once, and the module was not
        // at rest.
        #expect(bike["outcome"] as? String != "already-current", "\(bike)")
        let seconds = try #require(try yard.document(second)["seconds"] as? Double)
        #expect(seconds >= 20, "quiet was waited for in full")
    }

    @Test func `a module that never came back stays failed until it is seen or cleared`() throws {
        let yard = try PromiseYard(bikes: [", faults: [{never-returns: true}]"])
        try yard.manifest(
            family: "comodule",
            steps: "[{update: city}]",
            rollout: "{tolerate: {unreachable: 100%}}",
            more: Self.settle
        )
        #expect(try yard.run().status == 10)
        // The running version is unknown by now.
        let status = try yard.say("status").output.split(separator: "\n")
        let row = try #require(status.first { $0.hasPrefix("b1  ") })
        #expect(row.contains("  failed  ") && !row.contains("4.11.3"), "\(row)")
        let story = try yard.say("show", "b1")
        #expect(
            story.output.contains(
                "version not known; 4.11.3 was read before its update was begun"
            ),
            "\(story.output)"
        )
        for _ in 2...3 {
            let again = try yard.run("yard", "--json", "--report", "night.prom")
            #expect(again.status == 10)
            let seconds = try #require(try yard.document(again)["seconds"] as? Double)
            #expect(seconds >= 60, "each run waits for it as long as the first")
            let bike = try yard.vehicle("b1", in: again)
            #expect(bike["outcome"] as? String == "failed")
            #expect((bike["message"] as? String)?.contains("not seen since run 1") == true)
            #expect(bike["version_after"] == nil || bike["version_after"] is NSNull, "\(bike)")
        }
        // Another rollout, an order, and another name of the vehicle change nothing.
        try yard.manifest(
            "other",
            family: "comodule",
            steps: "[{read: speed}]",
            rollout: "{tolerate: {unreachable: 100%}}"
        )
        #expect(try yard.run("other").status == 10)
        #expect(try yard.exec("b1", "read speed", fleet: "other").status == 10)
        let cleared = try yard.say("clear", "b1")
        #expect(cleared.output.contains("b1: its update to city 4.12.0 is owed no more"))
        #expect(try yard.run("other").status == 0, "it is only unreachable now")
    }

    @Test
    func
        `a vehicle was seen last when its version was read for its verdict, also by a clock set back`()
        throws
    {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]", more: Self.settle)
        for _ in 1...2 {
            #expect(try yard.run("yard", "--again").status == 0)
            let story = try yard.document(try yard.say("show", "b1", "--json"))
            let verdicts = try #require(story["verdicts"] as? [[String: Any]])
            let seen = try #require(story["last-seen"] as? String)
            let ended = try #require(verdicts.last?["time"] as? String)
            #expect(seen.prefix(19) == ended.prefix(19), "\(story)")
            try yard.setClockBack()
        }
    }

    @Test func `an aborted rollout finishes what is in mid-update`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(
            family: "comodule",
            steps: "[{update: city}]",
            rollout: "{waves: [1, rest]}"
        )
        try yard.cut(at: "\"kind\":\"progress\"")
        #expect(try yard.say("status").output.contains("in bootloader at "))
        #expect(try yard.say("abort").status == 0)
        let aborted = try yard.run("yard", "--json")
        #expect(aborted.status == 13)
        #expect(try yard.vehicle("b2", in: aborted)["outcome"] as? String == "aborted")
        let status = try yard.document(try yard.say("status", "--json"))
        #expect((status["debts"] as? [Any])?.isEmpty == true, "\(status)")
        #expect(try yard.say("resume").status == 64)
        #expect(try yard.say("retry").status == 64)
        // By its own report, the module that was begun has its image; the other one was not
        // touched.
        try yard.manifest("look", family: "comodule", steps: "[{update: city}]")
        let look = try yard.run("look")
        #expect(look.lastLine.contains("ok=1 current=1"), "\(look.output)")
    }

    @Test func `a paused rollout finishes what is in mid-update and begins nothing`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}, {set: {lights: enabled}}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        #expect(try yard.say("pause").status == 0)
        #expect(try yard.run().status == 12)
        let status = try yard.document(try yard.say("status", "--json"))
        #expect((status["debts"] as? [Any])?.isEmpty == true, "\(status)")
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().status == 0)
    }

    @Test
    func `what another rollout began is settled, and then the own steps are done from the first`()
        throws
    {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        try yard.manifest(
            "two",
            family: "comodule",
            steps:
                "[{require: {state_of_charge: \">= 5\"}}, {set: {lights: enabled}}, {update: city}]"
        )
        let running = try yard.program.begin("two", yard.line("two"))
        #expect(running.result().status == 0)
        let events = running.events
        #expect(events.contains("set lights=enabled"), "its own first step was done")
        // An order takes the image from the store, and does its own steps after that.
        let other = try PromiseYard(bikes: [""])
        try other.manifest(family: "comodule", steps: "[{update: city}]")
        try other.cut(at: "\"kind\":\"progress\"")
        let order = try other.exec("b1", "read lights")
        #expect(order.status == 0, "\(order.output)\(order.errors)")
        #expect(order.output.contains("lights is"))
        let status = try other.document(try other.say("status", "--json"))
        #expect((status["debts"] as? [Any])?.isEmpty == true)
    }
}
