import Foundation
import Testing

/// The table of `docs/promises.md` §6: the effect of verbs on a vehicle in each of its states.
@Suite struct VehicleTableTests {
    enum Standing: String, CaseIterable, Sendable {
        case unknown, withoutVerdict, atWork, done, failed, inDoubt, indebted, owing, inhibited
        case quarantined
    }

    /// The output of a verb, with its exit code.
    struct Answer: Sendable {
        let status: Int32
        let words: String

        init(_ words: String, _ status: Int32 = 0) { (self.words, self.status) = (words, status) }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let standing: Standing
        /// Nil for an unknown vehicle, for which there is no such output.
        let retry: Answer?
        let retryVehicle: Answer
        let inhibit: Answer
        let uninhibit: Answer
        let clear: Answer
        let exec: Answer

        var testDescription: String { standing.rawValue }
    }

    private static let unchanged = Answer("no change")
    private static let again = Answer("taken again by the next run")
    private static let alone = Answer("left alone until it is lifted")
    private static let unknown = Answer("there is no vehicle x9", 64)
    private static let nothing = Answer("no change, nothing to clear")
    private static let forgotten = Answer("failures forgotten: 1")
    private static let done = Answer("exit=0")

    private static let rows = [
        Row(
            standing: .unknown,
            retry: nil,
            retryVehicle: Answer("it has no vehicle x9", 64),
            inhibit: unknown,
            uninhibit: unknown,
            clear: unknown,
            exec: Answer("has no vehicle x9", 64)
        ),
        Row(
            standing: .withoutVerdict,
            retry: unchanged,
            retryVehicle: unchanged,
            inhibit: alone,
            uninhibit: unchanged,
            clear: nothing,
            exec: done
        ),
        Row(
            standing: .atWork,
            retry: unchanged,
            retryVehicle: unchanged,
            inhibit: Answer("it finishes the step it is at and does no further one"),
            uninhibit: unchanged,
            clear: Answer("a run is at work on b1", 75),
            exec: Answer("another run", 75)
        ),
        Row(
            standing: .done,
            retry: unchanged,
            retryVehicle: unchanged,
            inhibit: alone,
            uninhibit: unchanged,
            clear: nothing,
            exec: done
        ),
        Row(
            standing: .failed,
            retry: again,
            retryVehicle: again,
            inhibit: alone,
            uninhibit: unchanged,
            clear: forgotten,
            exec: done
        ),
        Row(
            standing: .inDoubt,
            retry: unchanged,
            retryVehicle: again,
            inhibit: alone,
            uninhibit: unchanged,
            clear: Answer("car: what was in doubt counts as done"),
            exec: Answer("failed=1 exit=10", 10)
        ),
        Row(
            standing: .indebted,
            retry: again,
            retryVehicle: again,
            inhibit: alone,
            uninhibit: unchanged,
            clear: Answer("b1: its update to city 4.12.0 is owed no more"),
            exec: done
        ),
        Row(
            standing: .owing,
            retry: again,
            retryVehicle: again,
            inhibit: alone,
            uninhibit: unchanged,
            clear: Answer("car: `command lock` is owed no more"),
            exec: done
        ),
        Row(
            standing: .inhibited,
            retry: unchanged,
            retryVehicle: Answer("b1 is left: it is inhibited", 64),
            inhibit: alone,
            uninhibit: Answer("takes part again: b1"),
            clear: forgotten,
            exec: Answer("deferred=1", 11)
        ),
        Row(
            standing: .quarantined,
            retry: unchanged,
            retryVehicle: Answer("b1 is left: it is in quarantine", 64),
            inhibit: alone,
            uninhibit: unchanged,
            clear: forgotten,
            exec: done
        ),
    ]

    /// A yard with a vehicle in that state.
    private struct Scene {
        let yard: PromiseYard
        let vehicle: String
        var running: Program.Running?

        var order: String { vehicle == "car" ? "command locate" : "read speed" }

        /// The status and the whole output, for programs and for people.
        func said(_ result: Program.Result) -> (status: Int32, text: String) {
            (result.status, result.output + result.errors)
        }

        func status() throws -> [String: Any] {
            try yard.document(try yard.say("status", "--rollout", "yard", "--json"))
        }

        /// The numbers of debts, doubts, owed steps and inhibitions in `status`.
        func burdens() throws -> [String: Int] {
            let status = try status()
            return Dictionary(
                uniqueKeysWithValues: ["debts", "doubts", "owed", "inhibits"].map {
                    ($0, (status[$0] as? [Any])?.count ?? -1)
                }
            )
        }
    }

    private static let failing = ", faults: [{returns-unchanged: true, times: 9}]"

    private func scene(_ standing: Standing) throws -> Scene {
        switch standing {
        case .unknown:
            return Scene(yard: try bikes([""]) { try Self.run($0, 0) }, vehicle: "x9")
        case .withoutVerdict:
            let yard = try bikes(["", ""], rollout: "{waves: [1, rest]}") {
                try $0.cut(at: "\"kind\":\"progress\"")
            }
            return Scene(yard: yard, vehicle: "b2")
        case .atWork:
            let yard = try bikes([""])
            let running = try yard.program.begin("work", yard.line() + ["--pace", "2", "--json"])
            #expect(running.waits(for: "\"kind\":\"progress\""))
            return Scene(yard: yard, vehicle: "b1", running: running)
        case .done:
            return Scene(yard: try bikes([""]) { try Self.run($0, 0) }, vehicle: "b1")
        case .failed, .inhibited:
            let yard = try bikes([Self.failing], rollout: "{quarantine-after: 5}") {
                try Self.run($0, 10)
            }
            if standing == .inhibited {
                #expect(try yard.say("inhibit", "b1", "--for", "1h").status == 0)
            }
            return Scene(yard: yard, vehicle: "b1")
        case .quarantined:
            let yard = try bikes([Self.failing], rollout: "{quarantine-after: 1}") {
                try Self.run($0, 10)
            }
            return Scene(yard: yard, vehicle: "b1")
        case .indebted:
            // The run is killed in its transfer, and the vehicle is out of reach when the next run
            // wants to settle.
            let yard = try bikes([""]) {
                try $0.cut(at: "\"kind\":\"progress\"")
                try $0.depot(bikes: [", out-of-reach: true"])
                try Self.run($0, 10)
                try $0.depot(bikes: [""])
            }
            return Scene(yard: yard, vehicle: "b1")
        case .inDoubt:
            let yard = try PromiseYard()
            try yard.manifest(steps: "[{command: unlock-all}]")
            try yard.cut(at: "\"state\":\"acting\"", pace: 1)
            #expect(try yard.run().status == 10)
            return Scene(yard: yard, vehicle: "car")
        case .owing:
            let yard = try PromiseYard()
            try yard.manifest(
                steps: "[{command: unlock-all}, {wait: 2m}]",
                always: "[{command: lock}]"
            )
            try yard.cut(at: "\"detail\":\"wait\"", with: SIGTERM)
            try yard.depot(car: ", out-of-reach: true")
            #expect(try yard.run().status == 10)
            try yard.depot()
            return Scene(yard: yard, vehicle: "car")
        }
    }

    private static func run(_ yard: PromiseYard, _ status: Int32) throws {
        let result = try yard.run()
        #expect(result.status == status, "\(result.errors)")
    }

    private func bikes(
        _ bikes: [String],
        rollout: String = "{}",
        _ prepare: (PromiseYard) throws -> Void = { _ in }
    ) throws -> PromiseYard {
        let yard = try PromiseYard(bikes: bikes)
        try yard.manifest(
            family: "comodule",
            steps: "[{update: city}]",
            rollout: rollout,
            more: "settle: {quiet: 20s, confirm-gap: 2s, deadline: 60s}"
        )
        try prepare(yard)
        return yard
    }

    private func expect(
        _ result: Program.Result,
        _ answer: Answer,
        _ column: String
    ) {
        let text = result.output + result.errors
        #expect(result.status == answer.status, "\(column): \(text)")
        #expect(text.contains(answer.words), "\(column): \(text)")
    }

    @Test(arguments: rows)
    func `verbs that change nothing come first, then each in its cell`(row: Row) throws {
        var scene = try scene(row.standing)
        let (yard, vehicle) = (scene.yard, scene.vehicle)
        let before = try scene.burdens()
        // Columns of the table that leave the state unchanged.
        let isInhibited = row.standing == .inhibited
        if !isInhibited {
            expect(try yard.say("uninhibit", vehicle), row.uninhibit, "uninhibit")
            if row.standing != .atWork { #expect(try scene.burdens() == before) }
        }
        expect(
            try yard.say("inhibit", vehicle, "--reason", "brakes"),
            row.inhibit,
            "inhibit"
        )
        if row.standing != .unknown {
            var (after, now) = (before, try scene.burdens())
            after["inhibits"] = 1
            // A run that works on the vehicle pays its debt meanwhile.
            if row.standing == .atWork { (after["debts"], now["debts"]) = (nil, nil) }
            #expect(now == after, "what is owed stays")
            let inhibits = try scene.status()["inhibits"] as? [[String: Any]]
            #expect(inhibits?.first?["reason"] as? String == "brakes")
            #expect(inhibits?.first?["expires"] == nil, "the reason and the expiry are replaced")
        }
        if row.standing == .atWork {
            let running = try #require(scene.running)
            running.hurries()
            let result = running.result()
            // Its current step was the update, which is proven.
            #expect(try yard.vehicle(vehicle, in: result)["outcome"] as? String == "succeeded")
            scene = try self.scene(.atWork)
        } else if row.standing != .unknown, !isInhibited {
            #expect(try yard.say("uninhibit", vehicle).output.contains("takes part again"))
        }
        if let retry = row.retry {
            let rearmed = try self.scene(row.standing)
            let burdens = try rearmed.burdens()
            expect(try rearmed.yard.say("retry"), retry, "retry")
            #expect(try rearmed.burdens() == burdens, "nobody has answered for a vehicle")
            try end(rearmed)
        }
        expect(try scene.yard.say("retry", vehicle), row.retryVehicle, "retry VEHICLE")
        try end(scene)
        try clear(row)
        try exec(row)
    }

    private func clear(_ row: Row) throws {
        let scene = try scene(row.standing)
        let before = try scene.burdens()
        expect(try scene.yard.say("clear", scene.vehicle), row.clear, "clear")
        let after = try scene.burdens()
        switch row.standing {
        case .inDoubt, .indebted, .owing:
            #expect(
                before != after && after == ["debts": 0, "doubts": 0, "owed": 0, "inhibits": 0]
            )
        case .unknown, .withoutVerdict, .atWork, .done, .failed, .inhibited, .quarantined:
            #expect(before == after)
        }
        try end(scene)
        guard row.standing == .quarantined else { return }
        // Its failures are forgotten, so it can be retried.
        #expect(try scene.yard.say("retry", "b1").output.contains("taken again"))
    }

    private func exec(_ row: Row) throws {
        let scene = try scene(row.standing)
        let deeds = scene.yard.deeds
        expect(try scene.yard.exec(scene.vehicle, scene.order), row.exec, "exec")
        let after = try scene.burdens()
        switch row.standing {
        case .indebted: #expect(after["debts"] == 0, "the debt is paid first")
        case .owing: #expect(scene.yard.deeds == deeds + ["lock", "locate"])
        case .inDoubt, .inhibited: #expect(scene.yard.deeds == deeds)
        case .unknown, .withoutVerdict, .atWork, .done, .failed, .quarantined: break
        }
        try end(scene)
    }

    private func end(_ scene: Scene) throws {
        guard let running = scene.running else { return }
        running.hurries()
        #expect(running.result().status == 0)
    }

    // MARK: Answers to doubts, and several vehicles at once

    @Test func `a doubt is answered for a vehicle that is named in full, and no other way`() throws
    {
        let scene = try scene(.inDoubt)
        let yard = scene.yard
        #expect(try yard.say("retry", "c*").output.contains("no change"))
        let cleared = try yard.say("clear", "c*")
        #expect(cleared.status == 0)
        #expect(
            cleared.output.contains("car: still in doubt, name it in full"),
            "\(cleared.output)"
        )
        #expect(try scene.burdens()["doubts"] == 1)
        #expect(try yard.say("retry", "x*").status == 64)
        #expect(try yard.run().status == 10)
        #expect(yard.deeds.isEmpty)
        #expect(try yard.say("retry", "car").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
    }

    @Test func `a doubt of a run that was killed can be answered before the next one`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}]")
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        let answered = try yard.say("retry", "car")
        #expect(answered.output.contains("taken again by the next run: car"), "\(answered.output)")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
    }

    @Test func `retry of a doubtful vehicle is taken up by the run under way`() throws {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.program.write(
            "fleet.csv",
            """
            id,serial,family,secret,token,steps
            car,G9-0001,geotab-go,,file:car.token,command: unlock-all
            b1,00f0000000000001,comodule,file:key,,
            b2,00f0000000000002,comodule,file:key,,

            """
        )
        let path = yard.program.folder.path + "/yard.yaml"
        try yard.manifest(steps: "[{update: city}]")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try yard.program.write(
            "yard.yaml",
            text.replacing(", select: {family: geotab-go}", with: "")
        )
        try yard.cut(at: "\"state\":\"acting\"", pace: 1)
        let running = try yard.program.begin("second", yard.line() + ["--pace", "2", "--json"])
        #expect(running.waits(for: "\"kind\":\"progress\""))
        let answered = try yard.say("retry", "car")
        #expect(answered.output.contains("by the run under way: car"), "\(answered.output)")
        running.hurries()
        let result = running.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try yard.vehicle("car", in: result)["outcome"] as? String == "succeeded")
        #expect(yard.deeds == ["unlock-all"])
    }

    @Test func `a refusal of one vehicle changes nothing on the others`() throws {
        let yard = try bikes([Self.failing, Self.failing]) { try Self.run($0, 10) }
        #expect(try yard.say("inhibit", "b2").status == 0)
        let refused = try yard.say("retry", "b1", "b2")
        #expect(refused.status == 64 && refused.errors.contains("b2 is left"), "\(refused.errors)")
        let kept = try yard.vehicle("b1", in: try yard.say("status", "--json"))
        #expect(kept["outcome"] as? String != nil, "b1 keeps its verdict")
        let some = try yard.say("retry", "b*")
        #expect(some.status == 0 && some.output.contains("taken again by the next run: b1\n"))
    }
}
