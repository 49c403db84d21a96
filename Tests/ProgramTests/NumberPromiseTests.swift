import Base
import Commands
import Foundation
import Show
import Site
import Store
import Testing

/// Numbers that people read: each as docs/words.md defines it, wherever it stands.
@Suite struct NumberPromiseTests {
    private func text(_ yard: PromiseYard, _ name: String) throws -> String {
        try String(contentsOfFile: yard.program.folder.path + "/" + name, encoding: .utf8)
    }

    /// The row of a vehicle in a report for spreadsheets, by column.
    private func row(
        _ yard: PromiseYard,
        _ name: String,
        _ vehicle: String
    ) throws -> [String: String] {
        let rows = try text(yard, name).split(separator: "\r\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let row = try #require(rows.first { $0[0] == vehicle })
        return Dictionary(uniqueKeysWithValues: zip(rows[0].prefix(11), row))
    }

    private func metric(_ yard: PromiseYard, _ name: String, _ metric: String) throws -> Double {
        let found = try text(yard, name).split(separator: "\n").first {
            $0.hasPrefix("yardmaster_\(metric){")
        }
        return try #require(found?.split(separator: " ").last.flatMap { Double($0) })
    }

    @Test func `a report of the rollout has what its last run did`() throws {
        let yard = try PromiseYard(bikes: ["", ", out-of-reach: true"])
        try yard.manifest(family: "comodule", steps: "[{update: {to: city}}]")
        let run = try yard.run("yard", "--report", "run.csv", "--report", "run.prom")
        #expect(run.status == 11, "\(run.errors)")
        let status = try yard.say(
            "status",
            "--quiet",
            "--report",
            yard.program.folder.path + "/stands.csv",
            "--report",
            yard.program.folder.path + "/stands.prom"
        )
        #expect(status.status == 0, "\(status.errors)")
        for vehicle in ["b1", "b2"] {
            var (stands, run) = (
                try row(yard, "stands.csv", vehicle), try row(yard, "run.csv", vehicle)
            )
            // The run knows the serial only of vehicles that it has tried.
            (stands["serial"], run["serial"]) = (nil, nil)
            #expect(stands == run)
        }
        #expect(try text(yard, "stands.prom") == text(yard, "run.prom"))
        let bike = try row(yard, "stands.csv", "b1")
        #expect(Int(bike["bytes_sent"] ?? "") ?? 0 > 0 && Double(bike["seconds"] ?? "") ?? 0 > 0)
        let bytes = try metric(yard, "run.prom", "run_image_bytes")
        #expect(String(Int(bytes)) == bike["bytes_sent"])
    }

    @Test func `a run that is stopped reports the bytes that it has sent`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{update: {to: city}}]")
        try yard.cut(
            at: "\"acknowledged\":",
            with: SIGTERM,
            "--report",
            "cut.csv",
            "--report",
            "cut.prom"
        )
        let bike = try row(yard, "cut.csv", "b1")
        #expect(bike["outcome"] == "unfinished")
        let sent = Int(bike["bytes_sent"] ?? "") ?? 0
        #expect(sent > 0)
        #expect(try metric(yard, "cut.prom", "run_image_bytes") == Double(sent))
        #expect(try metric(yard, "cut.prom", "run_transfer_seconds") > 0)
        // The next run counts its own bytes, interruptions and attempts.
        #expect(try yard.run("yard", "--report", "next.csv").status == 0)
        let next = try row(yard, "next.csv", "b1")
        let size = try metric(yard, "cut.prom", "run_image_bytes")
        #expect(Double(next["bytes_sent"] ?? "") ?? 0 > 0 && size > 0)
        #expect(next["interruptions"] == "0" && next["version_before"] == "4.11.3")
    }

    @Test func `the row of a vehicle that was not heard has nothing from an earlier run`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{update: {to: city}}]")
        #expect(try yard.run("yard", "--report", "first.csv").status == 0)
        let first = try row(yard, "first.csv", "b1")
        #expect(first["attempts"] == "1" && first["version_after"] == "4.12.0")
        #expect(try yard.say("retry", "b1").status == 0)
        try yard.depot(bikes: [", out-of-reach: true"])
        #expect(try yard.run("yard", "--report", "second.csv").status == 11)
        let second = try row(yard, "second.csv", "b1")
        #expect(second["outcome"] == "unreachable")
        #expect(second["attempts"] == "0" && second["bytes_sent"] == "0", "\(second)")
        #expect(second["version_before"] == "" && second["version_after"] == "", "\(second)")
    }

    @Test func `the firmware in a document is what the module ran last`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{update: {to: city}}]")
        let bike = try yard.vehicle("b1", in: try yard.run("yard", "--json"))
        #expect(bike["outcome"] as? String == "succeeded")
        let firmware = try #require(bike["firmware"] as? [String: Any])
        #expect(firmware["version"] as? String == "4.12.0")
        #expect(firmware["facts"] != nil)
    }

    @Test func `how long a run took is no matter of wall clocks`() async throws {
        let program = try Program()
        let state = try StateDirectory.create(at: program.state)
        let thread = try ThreadExecutor.start(name: "journal")
        let journal = try await Journal.open(directory: state.path, executor: thread)
        let plan = try #require(SHA256Digest(String(repeating: "0", count: 64)))
        let began = WallTime(milliseconds: 1_795_231_800_000)
        // The clock is set back by forty days within the run.
        let ended = began.advanced(by: .seconds(-40 * 86_400))
        let run = try await journal.beginRun(rollout: "night", plan: plan, at: began)
        let vehicle = try #require(VehicleID("v1"))
        var record = ExecutionRecord(
            rollout: "night",
            vehicle: vehicle,
            serial: try #require(Serial("0a0b01")),
            plan: plan,
            run: run,
            started: began
        )
        record.end = ExecutionRecord.End(.succeeded, message: "done", at: ended)
        record.state = .ended
        _ = try await journal.begin(
            Beginning(
                RolloutRecord(name: "night", plan: plan, run: run, at: began),
                fresh: [record]
            )
        )
        let end = RunEnd(
            rollout: "night",
            counts: [.succeeded: 1],
            unfinished: 0,
            exitCode: 0,
            reason: "done",
            took: .seconds(75)
        )
        var lines = EventLine()
        let line = lines.document(Event(number: 1, time: ended, body: .runEnded(end)))
        try await journal.append([
            EventRecord(
                run: run,
                number: 1,
                time: ended,
                kind: "run-ended",
                vehicle: nil,
                json: line
            )
        ])
        try await journal.endRun(run, exitCode: 0, reason: "done", at: ended)
        await journal.close()
        thread.stop()
        let standing = StandingJournal(state: program.state, flags: PlaceFlags())
        let status = try standing.status(of: "night")
        #expect(try status.story(at: ended, of: standing).length == .seconds(75))
        let rows = try standing.read { view throws(JournalError) in
            RunList.Row(
                try view.runs(rollout: nil, limit: 1)[0],
                lastEvent: try view.lastEvent(run: run)
            )
        }
        #expect(rows.took == .seconds(75))
    }
}
