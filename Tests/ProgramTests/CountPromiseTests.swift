import Foundation
import Testing

/// Numbers and exit codes have the same meaning everywhere.
@Suite struct CountPromiseTests {
    /// Four cars of the shipped manifest, each with its own token, whose command fails each time.
    private func cars(rollout: String) throws -> PromiseYard {
        let yard = try PromiseYard()
        let keys = Program.repository.appending(path: "manifests/commands").path
        var fleet = "id,serial,family,secret,pairing,passkey\n"
        for number in 1...4 {
            let text = try String(
                contentsOfFile: "\(keys)/keys/car-0\(number).token",
                encoding: .utf8
            )
            try yard.program.write("car-\(number).token", text)
            fleet += "car-\(number),G9-000\(number),geotab-go,file:car-\(number).token,"
            fleet += "passkey,file:car.passkey\n"
        }
        try yard.program.write("fleet.csv", fleet)
        let depot = try String(contentsOfFile: "\(keys)/depot.yaml", encoding: .utf8)
        try yard.program.write(
            "depot.yaml",
            depot.replacing(", vehicle: {reservation: true}", with: "")
                .replacing(", faults: [{late-result: 20s}]", with: "")
        )
        // The cars are not checked in, so they refuse this.
        try yard.manifest(steps: "[{command: check-out}]", rollout: rollout)
        return yard
    }

    private func outcomes(_ yard: PromiseYard, _ result: Program.Result) throws -> [String: String]
    {
        let list = try #require(try yard.document(result)["vehicles"] as? [[String: Any]])
        var outcomes: [String: String] = [:]
        for vehicle in list {
            guard let id = (vehicle["id"] ?? vehicle["vehicle"]) as? String else { continue }
            outcomes[id] = vehicle["outcome"] as? String
        }
        return outcomes
    }

    @Test func `commands that fail trip the gate, and a vehicle counts once`() throws {
        // Each car is tried twice, which makes two failed attempts of one vehicle.
        let yard = try cars(rollout: "{retry: {device: 1}, pause-when: {failed: 1}}")
        let first = try yard.run("yard", "--json")
        #expect(first.status == 12, "\(first.errors)")
        #expect(try first.exit().1.hasPrefix("a gate paused the rollout: "))
        let failed = try outcomes(yard, first).filter { $0.value == "failed" }
        #expect(failed.keys.sorted() == ["car-1", "car-2"], "\(failed)")
        // The two known failures wait until the others were taken.
        #expect(try yard.say("resume").status == 0)
        let running = try yard.program.begin("second", yard.line() + ["--json"])
        #expect(running.result().status == 12)
        let taken = running.events.split(separator: "\n").filter {
            $0.contains("\"kind\":\"vehicle-ended\"")
        }
        #expect(taken.count == 2)
        #expect(taken.allSatisfy { $0.contains("\"car-3\"") || $0.contains("\"car-4\"") })
        // Known failures do not trip the gate again, although all of them fail again.
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().lastLine.contains("failed=4 exit=10"))
    }

    @Test func `a car that never came owes nothing, and is no failure`() throws {
        let yard = try PromiseYard(car: ", out-of-reach: true")
        try yard.manifest(
            steps: "[{command: unlock-all}]",
            always: "[{command: lock}]",
            rollout: "{pause-when: {failed: 0}}"
        )
        let away = try yard.run("yard", "--json")
        #expect(away.status == 11, "\(away.output)")
        #expect(try outcomes(yard, away) == ["car": "unreachable"])
        let status = try yard.say("status")
        #expect(!status.output.contains("owes"), "\(status.output)")
        // It has heard the command and not answered: it is to be locked.
        try yard.depot(car: ", faults: [{no-result: true, times: 99}]")
        let lost = try yard.run("yard", "--json")
        #expect(try outcomes(yard, lost) == ["car": "in-doubt"], "\(lost.output)")
        #expect(try yard.say("status").output.contains("command lock"))
        // Out of reach again, what it owes is not forgotten.
        try yard.depot(car: ", out-of-reach: true")
        #expect(try outcomes(yard, try yard.run("yard", "--json")) == ["car": "in-doubt"])
        #expect(try yard.say("status").output.contains("command lock"))
        #expect(try yard.say("clear", "car").status == 0)
        #expect(try yard.say("resume").status == 0)
        try yard.depot()
        #expect(try yard.run("yard", "--again").status == 0)
    }

    @Test func `a gate of a part ends its run and sets nothing`() throws {
        let yard = try cars(rollout: "{pause-when: {failed: 0}}")
        let part = try yard.run("yard", "--limit", "car-1", "--limit", "car-2", "--json")
        #expect(part.status == 10, "\(part.errors)")
        let (code, reason) = try part.exit()
        #expect(
            code == 10 && reason.contains("a gate ended this run, and with --limit"),
            "\(reason)"
        )
        let counts = try #require(try yard.document(part)["counts"] as? [String: Any])
        #expect(counts["failed"] as? Int == 1, "the other one was not begun: \(counts)")
        let status = try yard.say("status", "--json")
        #expect(!status.output.contains("\"paused\""), "\(status.output)")
        // So the next run begins the rollout, and there the gate trips.
        let whole = try yard.run("yard", "--json")
        #expect(whole.status == 12, "\(whole.errors)")
        #expect(try whole.exit().1.hasPrefix("a gate paused the rollout: "))
        #expect(try yard.run("yard", "--limit", "car-1", "--json").status == 12)
    }

    @Test func `one number means one thing wherever it stands`() throws {
        let yard = try cars(rollout: "{pause-when: {failed: 0}, tolerate: {unreachable: 100%}}")
        let paused = try yard.run("yard", "--report", "night.prom")
        #expect(paused.lastLine.contains("failed=1") && paused.lastLine.hasSuffix("exit=12"))
        // A run that is refused reports the same numbers of the rollout.
        let refused = try yard.run("yard", "--json")
        #expect(refused.status == 12)
        let counts = try #require(try yard.document(refused)["counts"] as? [String: Any])
        #expect(counts["failed"] as? Int == 1, "\(counts)")
        #expect(try refused.exit().1.hasPrefix("a gate paused the rollout: "))
        #expect(try yard.run().lastLine.contains("failed=1"))
        // A pause by a person is not reported as a gate's.
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.say("pause", "--reason", "brakes").status == 0)
        let (code, reason) = try yard.run("yard", "--json").exit()
        #expect(code == 12 && reason == "the rollout is paused: paused by request: brakes")
        let status = try yard.say("status")
        #expect(!status.output.contains("a gate"), "\(status.output)")
    }

    @Test func `the time of the last success advances only when a run ended with 0`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        func night(_ status: Int32) throws -> String {
            #expect(try yard.run("yard", "--again", "--report", "night.prom").status == status)
            let text = try String(
                contentsOfFile: yard.program.folder.path + "/night.prom",
                encoding: .utf8
            )
            let name = "yardmaster_run_last_success_timestamp_seconds{"
            return try #require(
                text.split(separator: "\n").first { $0.hasPrefix(name) }.map(String.init)
            )
        }
        let first = try night(0)
        try yard.depot(car: ", out-of-reach: true")
        #expect(try night(11) == first)
        try yard.depot(car: ", faults: [{nack: 8, times: 9}]")
        #expect(try night(10) == first)
        try yard.depot()
        #expect(try night(0) != first)
    }

    @Test func `an order that does not reach its vehicle is not done, whatever is tolerated`()
        throws
    {
        let yard = try PromiseYard(car: ", out-of-reach: true")
        try yard.manifest(
            steps: "[{command: lock}]",
            rollout: "{tolerate: {unreachable: 100%, deferred: 100%}}"
        )
        #expect(try yard.run().status == 0, "a rollout may do without it")
        let order = try yard.exec("car", "command lock")
        #expect(order.status == 11, "\(order.output)")
        #expect(order.lastLine.contains("unreachable=1"))
        #expect(try yard.say("inhibit", "car", "--reason", "mechanic below it").status == 0)
        try yard.depot()
        let left = try yard.exec("car", "command lock")
        #expect(left.status == 11 && left.output.contains("mechanic below it"), "\(left.output)")
        #expect(left.lastLine.contains("deferred=1"))
        #expect(try yard.say("uninhibit", "car").status == 0)
        // The same with the whole depot inhibited.
        #expect(try yard.say("inhibit", "--all", "--reason", "survey").status == 0)
        #expect(try yard.exec("car", "command lock").status == 11)
        #expect(yard.deeds.isEmpty)
        #expect(try yard.say("uninhibit", "--all").status == 0)
        #expect(try yard.exec("car", "command lock").status == 0)
        #expect(yard.deeds == ["lock"])
    }

    @Test
    func `an order finds its vehicle inhibited while it is at work, and does no further step`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        let running = try yard.program.begin(
            "order",
            [
                "exec", "--manifest", "yard.yaml", "--simulate", "depot.yaml", "--state",
                yard.program.state, "--pace", "1", "--json", "car",
                "command locate; wait 20s; command unlock-all",
            ]
        )
        #expect(running.waits(for: "\"detail\":\"wait"))
        #expect(try yard.say("inhibit", "car", "--reason", "brakes").status == 0)
        running.hurries()
        let result = running.result()
        #expect(result.status == 11, "\(result.errors)")
        #expect(yard.deeds == ["locate"])
        #expect(try yard.vehicle("car", in: result)["outcome"] as? String == "deferred")
    }
}
