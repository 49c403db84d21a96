import Foundation
import Testing

/// Every vehicle of a run is in every report, with its true state.
@Suite struct StandingPromiseTests {
    /// Runs with all reports, and compares all their numbers.
    @discardableResult
    private func agreed(
        _ program: Program,
        _ line: [String],
        vehicles: Int,
        _ location: SourceLocation = #_sourceLocation
    ) throws -> (result: Program.Result, numbers: Numbers) {
        let result = try program.run(line + Program.reports)
        let all = try program.numbers(of: result)
        let first = try #require(all.first).numbers
        #expect(first.total == vehicles, "\(result.output)", sourceLocation: location)
        for (place, numbers) in all {
            #expect(numbers == first, "\(place) against the last line", sourceLocation: location)
        }
        return (result, first)
    }

    private func vehicles(_ program: Program) throws -> [String: [String: Any]] {
        let text = try String(
            contentsOfFile: program.folder.path + "/numbers.json",
            encoding: .utf8
        )
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let list = try #require(document?["vehicles"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: list.map { ($0["vehicle"] as? String ?? "", $0) }
        )
    }

    @Test func `every vehicle of the plan is in every report`() throws {
        let program = try Program.steered(8, bad: 2, rollout: "{pause-when: {failed: 1}}")
        let paused = try agreed(program, program.steeredRun, vehicles: 8)
        #expect(paused.result.status == 12)
        #expect(paused.numbers["failed"] == 2 && paused.numbers["unfinished"] == 6)
        let untouched = try #require(try vehicles(program)["v8"])
        #expect(untouched["state"] as? String == "not-begun")
        #expect(untouched["message"] as? String == "not begun")
        #expect(untouched["outcome"] == nil)
        // A run that is refused reports the same for every vehicle.
        let refused = try agreed(program, program.steeredRun, vehicles: 8)
        #expect(refused.result.status == 12)
        #expect(refused.numbers == paused.numbers)
        #expect(try vehicles(program)["v1"]?["run"] as? Int == 1)
        let mail = try program.run(program.steeredRun + ["--quiet"])
        #expect(Numbers(lastLine: mail.lastLine) == paused.numbers)
        #expect(mail.output.contains("v1") && !mail.output.contains("v8"))
    }

    @Test func `an interrupted run says which vehicles it never touched`() throws {
        let program = try Program.steered(6, rollout: "{}", depot: "link: {interval: 60ms}\n")
        let running = try program.begin(
            "cut",
            program.steeredRun + ["--pace", "1", "--report", "numbers.json"]
        )
        #expect(running.waits(for: "\"kind\":\"progress\""))
        kill(running.process.processIdentifier, SIGTERM)
        let ended = running.result()
        #expect(ended.status == 143)
        let stood = try vehicles(program)
        #expect(stood.count == 6)
        let states = stood.mapValues { $0["state"] as? String ?? "" }
        #expect(states.values.count { $0 == "not-begun" } == 5, "\(states)")
        #expect(states.values.count { $0 == "in-bootloader" } == 1, "\(states)")
        let begun = try #require(stood.values.first { $0["state"] as? String == "in-bootloader" })
        let message = try #require(begun["message"] as? String)
        #expect(
            message.contains(/in bootloader at \d+ % of city 4.12.0, begun in run 1/),
            "\(message)"
        )
        let status = try program.run(["status", "--state", program.state])
        #expect(status.output.contains(/v\d +\S+ +not-begun .* not begun\n/), "\(status.output)")
        #expect(status.output.contains(" in-bootloader "))
        #expect(!status.output.contains("attempt 1"))
    }

    @Test func `the report of the run that ends a rollout has those of the runs before`() throws {
        let yard = try PromiseYard(bikes: ["", "", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"vehicle-ended\"", pace: 4)
        let ended = try agreed(yard.program, yard.line(), vehicles: 3)
        #expect(ended.result.status == 0)
    }

    @Test func `one number means one thing wherever it stands`() throws {
        let yard = try PromiseYard(bikes: [
            "", "", ", faults: [{returns-unchanged: true, times: 2}]",
        ])
        try yard.manifest(
            family: "comodule",
            steps: "[{update: city}]",
            rollout: "{waves: [1, rest], pause-when: {failed: 0}, again: daily}"
        )
        // A killed run, the rest of the night, a retry, and the next night.
        try yard.cut(at: "\"kind\":\"progress\"")
        let first = try agreed(yard.program, yard.line(), vehicles: 3)
        #expect(first.result.status == 12, "\(first.result.output)")
        #expect(try yard.say("resume").status == 0)
        try agreed(yard.program, yard.line(), vehicles: 3)
        #expect(try yard.say("retry").status == 0)
        let last = try agreed(yard.program, yard.line(), vehicles: 3)
        #expect(last.numbers["failed"] == 0, "\(last.numbers)")
        try agreed(yard.program, yard.line() + ["--again"], vehicles: 3)
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func `a verdict stands while its vehicle is looked at once more`(signal: Int32) throws {
        let yard = try PromiseYard(bikes: ["", ""], link: "link: {interval: 60ms}\n")
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        let first = try agreed(yard.program, yard.line(), vehicles: 2)
        #expect(first.numbers["ok"] == 2)
        // The run is cut while it searches for the first vehicle: nothing was done, and nothing has
        // changed.
        try yard.cut(at: "\"state\":\"seeking\"", with: signal, pace: 1)
        #expect(try yard.say("pause").status == 0)
        let status = try yard.document(try yard.say("status", "--json"))
        #expect(try Numbers(counts: status)["ok"] == 2, "\(status)")
        let paused = try agreed(yard.program, yard.line(), vehicles: 2)
        #expect(paused.result.status == 12)
        #expect(paused.numbers == first.numbers, "\(paused.result.output)")
        #expect(try vehicles(yard.program)["b1"]?["run"] as? Int == 1)
        // An edited manifest with `--again` is refused, too, and the report is by the same plan.
        try yard.manifest(family: "comodule", steps: "[{wait: 1s}, {update: city}]")
        let again = try agreed(yard.program, yard.line() + ["--again"], vehicles: 2)
        #expect(again.result.status == 12)
        #expect(again.numbers == first.numbers, "\(again.result.output)")
    }

    @Test func `a vehicle in doubt is one in every report, also while the rollout is paused`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-driver}]")
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        #expect(try yard.say("pause").status == 0)
        let paused = try agreed(yard.program, yard.line(), vehicles: 1)
        #expect(paused.result.status == 12)
        #expect(paused.numbers["failed"] == 1, "\(paused.result.output)")
        #expect(try vehicles(yard.program)["car"]?["outcome"] as? String == "in-doubt")
    }
}
