import Base
import Commands
import Foundation
import Operations
import Rollout
import Show
import Store
import Testing

/// A verdict belongs to its run and never changes afterwards; what stands now is told beside it.
@Suite struct VerdictPromiseTests {
    private static let update = "[{update: {to: city}}]"

    private func yard(_ bikes: [String] = [""]) throws -> PromiseYard {
        let yard = try PromiseYard(bikes: bikes)
        try yard.manifest(family: "comodule", steps: Self.update)
        return yard
    }

    private func bike(_ yard: PromiseYard, _ rollout: String) throws -> [String: Any] {
        try yard.vehicle("b1", in: try yard.say("status", "--json", "--rollout", rollout))
    }

    @Test func `a vehicle that nobody heard was not seen`() throws {
        let yard = try PromiseYard(car: ", out-of-reach: true")
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 11)
        let away = try yard.document(try yard.say("show", "car", "--json"))
        #expect(away["last-seen"] == nil, "\(away)")
        // A refusal is an answer.
        try yard.depot(car: ", faults: [{nack: 8, times: 9}]")
        #expect(try yard.run().status == 10)
        let here = try yard.document(try yard.say("show", "car", "--json"))
        #expect(here["last-seen"] is String, "\(here)")
    }

    @Test func `the reports of a run that was killed have every vehicle`() throws {
        let yard = try yard(["", ", out-of-reach: true", ""])
        let program = yard.program
        try yard.cut(at: "\"acknowledged\":")
        func reports(_ name: String) throws -> (rows: [String: String], metrics: String) {
            let files = ["csv", "prom"].map { program.folder.path + "/\(name).\($0)" }
            let shown = try yard.say(
                "history",
                "show",
                "1",
                "--quiet",
                "--report",
                files[0],
                "--report",
                files[1]
            )
            #expect(shown.status == 0, "\(shown.errors)")
            let rows = try String(contentsOfFile: files[0], encoding: .utf8)
                .split(separator: "\r\n").dropFirst().map {
                    $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                }
            return (
                Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[2]) }),
                try String(contentsOfFile: files[1], encoding: .utf8)
            )
        }
        let killed = try reports("killed")
        #expect(killed.rows.count == 3 && Set(killed.rows.values) == ["unfinished"])
        #expect(killed.metrics.contains("outcome=\"unfinished\"} 3"), "\(killed.metrics)")
        #expect(!killed.metrics.contains("run_exit_code"))
        // A later run changes nothing about it.
        #expect(try yard.run().status == 11)
        #expect(try reports("later").rows == killed.rows)
    }

    @Test func `a debt of another rollout changes no verdict of a finished one`() throws {
        let yard = try yard()
        try yard.manifest("looked", family: "comodule", steps: "[{read: [state_of_charge]}]")
        #expect(try yard.run("looked").status == 0)
        try yard.cut(at: "\"acknowledged\":")
        let stands = try bike(yard, "looked")
        #expect(stands["outcome"] as? String == "succeeded", "\(stands)")
        // What stands now is told beside it.
        let status = try yard.document(try yard.say("status", "--json", "--rollout", "looked"))
        #expect((status["debts"] as? [Any])?.count == 1, "\(status)")
        // The next run of that rollout has the vehicle, so there it counts.
        try yard.depot(bikes: [", out-of-reach: true"])
        #expect(try yard.run("looked").status == 10)
        #expect(try bike(yard, "looked")["outcome"] as? String == "failed")
    }

    @Test func `a debt that was paid under a pause is not told as owed`() throws {
        let yard = try yard()
        try yard.cut(at: "\"acknowledged\":")
        try yard.depot(bikes: [", out-of-reach: true"])
        #expect(try yard.run().status == 10)
        #expect(try yard.say("pause").status == 0)
        try yard.depot(bikes: [""])
        let paused = try yard.run("yard", "--json")
        #expect(paused.status == 12)
        let bike = try yard.vehicle("b1", in: paused)
        #expect(bike["debt"] == nil && bike["outcome"] == nil, "\(bike)")
        #expect(bike["state"] as? String == "waiting")
        #expect(try yard.say("resume").status == 0)
        #expect(try yard.run().status == 0)
    }

    @Test func `an update that an abort let come to its end is no aborted one`() throws {
        let yard = try yard()
        try yard.cut(at: "\"acknowledged\":")
        #expect(try yard.say("abort").status == 0)
        let aborted = try yard.run("yard", "--json")
        #expect(aborted.status == 13)
        let bike = try yard.vehicle("b1", in: aborted)
        #expect(bike["outcome"] as? String == "succeeded", "\(bike)")
        let versions = try #require(bike["versions"] as? [String: Any])
        #expect(versions["after"] as? String == "4.12.0")
    }

    @Test func `what another rollout has proven is not in the bootloader for an old one`() throws {
        let yard = try yard()
        try yard.manifest("other", family: "comodule", steps: Self.update)
        try yard.cut(at: "\"acknowledged\":")
        #expect(try bike(yard, "yard")["in-bootloader"] as? Bool == true)
        #expect(try yard.say("status").output.contains("in the bootloader, and first"))
        #expect(try yard.run("other").status == 0)
        #expect(try bike(yard, "yard")["in-bootloader"] as? Bool == false)
        let old = try yard.say("status", "--rollout", "yard").output
        #expect(!old.contains("in the bootloader"), "\(old)")
    }

    @Test func `a module with the whole image that nobody saw run it is rescued`() throws {
        let serial = try #require(Serial("00f0000000000001"))
        var standing = Standing(serial, .unproven)
        standing.debt = Standing.Unproven(
            image: "city 4.12.0",
            rollout: "yard",
            run: 1,
            seenRun: 1,
            percent: 100
        )
        let guide = NextStepGuide(
            rollout: "yard",
            manifest: nil,
            flags: PlaceFlags(),
            hold: nil,
            isAtWork: false
        )
        let step = guide.step(try #require(VehicleID("b1")), standing)
        #expect(step?.work == .rescue)
    }

    @Test func `an inhibition for a time ends by the calendar of the runs`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]", rollout: "{again: each-run}")
        #expect(try yard.run().status == 0)
        let answer = try yard.say("inhibit", "car", "--for", "1h", "--reason", "brakes")
        #expect(answer.output.contains("until 2026-01-0"), "\(answer.output)")
        #expect(try yard.say("status").output.contains("left alone until"))
        #expect(try yard.run().status == 11)
    }
}
