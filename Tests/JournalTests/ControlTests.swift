import Base
import Store
import Testing
import Workbench

@Suite struct ControlTests {
    @Test func `a rollout's record comes back as it was saved`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            var record = RolloutRecord(name: "tallinn", plan: try #require(plan), run: 3, at: at(1))
            try await journal.save(record)
            #expect(try await journal.rollout("tallinn") == record)
            record.state = .finished
            record.wave = 2
            record.waveEnded = at(50)
            record.updated = at(60)
            try await journal.save(record)
            #expect(try await journal.rollout("tallinn") == record)
            #expect(try await journal.rollout("riga") == nil)
        }
    }

    /// A run was at work while the fleet began the rollout again, or was killed before it did so here.
    @Test func `the fleet's beginning is that of the rollout's own record`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            func run(_ beginning: Int?) async throws -> Int {
                try await journal.beginRun(
                    rollout: "tallinn",
                    plan: try #require(plan),
                    at: at(1),
                    fleet: beginning.map {
                        FleetStart(instance: "i", gateway: "north", beginning: $0)
                    }
                )
            }
            #expect(try await journal.fleetBeginning(of: "tallinn") == nil)
            // Before the machine belonged to a fleet.
            var record = RolloutRecord(
                name: "tallinn",
                plan: try #require(plan),
                run: try await run(nil),
                at: at(1)
            )
            try await journal.save(record)
            #expect(try await journal.fleetBeginning(of: "tallinn") == nil)
            _ = try await run(3)
            #expect(try await journal.fleetBeginning(of: "tallinn") == 3)
            let cut = try await run(4)
            try await journal.follow("tallinn", FleetMark(beginning: 4, resumed: 0), nil)
            #expect(try await journal.fleetMark(of: "tallinn")?.beginning == 4)
            #expect(try await journal.fleetBeginning(of: "tallinn") == 3, "it was killed")
            record.began = cut
            try await journal.save(record)
            #expect(try await journal.fleetBeginning(of: "tallinn") == 4)
        }
    }

    @Test func `requests are found once, in order, by the rollout they mean`() async throws {
        let scratch = try Scratch()
        let vehicle = try #require(VehicleID("bus 1"))
        try await withJournal(scratch.path) { journal in
            let requests = [
                ControlRequest(.yield, rollout: "tallinn", reason: "brakes", at: at(1)),
                ControlRequest(.retry, rollout: nil, vehicles: [vehicle], at: at(2)),
                ControlRequest(.retry, rollout: "riga", at: at(3)),
            ]
            for request in requests { try await journal.leave(request) }
            let open = try await journal.openRequests(for: "tallinn")
            #expect(open.map(\.request) == Array(requests[..<2]))
            for request in open { try await journal.answer(request, "done", at: at(4)) }
            #expect(try await journal.openRequests(for: "tallinn").isEmpty)
            #expect(try await journal.openRequests(for: "riga").count == 1)
        }
    }

    @Test func `a request can be left while another connection has the journal open`() async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { running in
            let run = try await begin(running)
            try await withJournal(scratch.path) { other in
                try await other.leave(ControlRequest(.yield, rollout: nil, at: at(1)))
            }
            #expect(try await running.openRequests(for: "tallinn").count == 1)
            try await running.endRun(run, exitCode: 12, reason: "paused", at: at(2))
        }
    }

    @Test func `a retry takes verdicts away and tells the run in one transaction`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            for id in ["a", "b"] {
                var record = try await recorded(journal, id, run: run)
                record.state = .ended
                record.end = .init(.failed, failure: .device, message: "", at: at(2))
                try await journal.record(record, durably: true)
            }
            func retry(_ ids: [String]) async throws -> Rearmed {
                let named = try ids.map { try vehicle($0) }
                return try await journal.retry(
                    "r",
                    named,
                    quarantined: [try vehicle("b")],
                    tellingRun: true,
                    by: "anna",
                    at: at(3)
                )
            }
            // One of the vehicles may not be retried: a refusal changes nothing.
            #expect(try await retry(["a", "b"]).refused.keys.map(\.text) == ["b"])
            #expect(try await journal.openRequests(for: "r").isEmpty)
            let before = try await journal.execution(rollout: "r", vehicle: try vehicle("a"))
            #expect(before?.end != nil)
            try await journal.cut(after: 0)
            await #expect(throws: JournalError.self) { try await retry(["a"]) }
            try await journal.cut(after: 1)
            #expect(try await retry(["a"]).vehicles.map(\.text) == ["a"])
            try await journal.cut(after: nil)
            let told = try await journal.openRequests(for: "r").map(\.request)
            #expect(told.map(\.kind) == [.retry])
            #expect(told.first?.vehicles.map(\.text) == ["a"])
            let after = try await journal.execution(rollout: "r", vehicle: try vehicle("a"))
            #expect(after?.end == nil)
        }
    }

    @Test func `failures are counted by release until they are cleared`() async throws {
        let scratch = try Scratch()
        let bus = try #require(VehicleID("bus"))
        let release = try #require(plan)
        try await withJournal(scratch.path) { journal in
            for count in 1...3 {
                let now = try await journal.countFailure(
                    bus,
                    release: release,
                    message: "no return \(count)",
                    at: at(Int64(count))
                )
                #expect(now == count)
            }
            let found = try await journal.failures(atLeast: 3)
            #expect(found.map(\.message) == ["no return 3"])
            #expect(try await journal.failures(atLeast: 4).isEmpty)
            #expect(try await journal.clearFailures(of: VehicleID("tram")) == 0)
            #expect(try await journal.clearFailures(of: nil) == 1)
            #expect(try await journal.failures(atLeast: 1).isEmpty)
        }
    }

    @Test func `compaction drops the events of old runs and nothing else`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            for number in 1...5 {
                let run = try await begin(journal)
                try await recorded(journal, "bus-\(number)", run: run)
                try await journal.append([
                    EventRecord(
                        run: run,
                        number: 1,
                        time: at(Int64(number)),
                        kind: "warning",
                        vehicle: nil,
                        json: "{}"
                    )
                ])
                try await journal.endRun(run, exitCode: 0, reason: "done", at: at(10))
            }
            try await journal.compact(keepingRuns: 2)
            var left: [Int] = []
            for run in 1...5 { left.append(try await journal.events(run: run).count) }
            #expect(left == [0, 0, 0, 1, 1])
            #expect(try await journal.executions(rollout: "r").count == 5)
            #expect(try await journal.runs(rollout: nil, limit: 9).count == 5)
        }
    }
}
