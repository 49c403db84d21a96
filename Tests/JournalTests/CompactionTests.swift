import Base
import Store
import Testing
import Workbench

/// Records that are dropped at the end of a run, and those that never are.
@Suite struct CompactionTests {
    private static let buses = 20

    /// A night that begins the rollout again, with a command on each bus, and events.
    private func night(
        _ journal: Journal,
        _ body: (Int, [ExecutionRecord]) async throws -> Void = { _, _ in }
    ) async throws {
        let run = try await begin(journal)
        let digest = try #require(plan)
        let fresh = try (1...Self.buses).map { try execution("bus-\($0)", run: run) }
        let executions = try await journal.begin(
            Beginning(RolloutRecord(name: "r", plan: digest, run: run, at: at(0)), fresh: fresh)
        )
        for record in executions {
            let id = try await journal.intend(act(record, 0))
            try await journal.settle(id, outcome: IntentRecord.done, at: at(1))
            var record = record
            record.state = .ended
            record.end = .init(.succeeded, message: "all steps done", at: at(2))
            try await journal.record(record, durably: true)
        }
        try await journal.append(
            (1...100).map {
                EventRecord(
                    run: run,
                    number: $0,
                    time: at(1),
                    kind: "warning",
                    vehicle: nil,
                    json: "{\"message\":\"the same each night, as long as events are\"}"
                )
            }
        )
        try await body(run, executions)
        try await journal.endRun(run, exitCode: 0, reason: "done", at: at(10))
        try await journal.compact(keepingRuns: 5)
    }

    private func act(
        _ record: ExecutionRecord,
        _ ordinal: Int,
        _ effect: Effect = .once
    ) -> Intent {
        Intent(
            of: record,
            step: StepKey(plan, ordinal: ordinal),
            place: ordinal,
            effect: effect,
            description: "command unlock-all",
            begun: at(1)
        )
    }

    @Test func `what a part has done is kept until its plan begins, for a while`() async throws {
        let scratch = try Scratch()
        let digest = try #require(plan)
        try await withJournal(scratch.path) { journal in
            var part = try execution("bus", run: try await begin(journal))
            part = ExecutionRecord(
                rollout: part.rollout,
                vehicle: part.vehicle,
                serial: part.serial,
                plan: digest,
                run: part.run,
                started: part.started
            )
            part.apart = true
            _ = try await journal.begin(Beginning(nil, fresh: [part]))
            func kept() async throws -> Int {
                try await journal.compact(keepingRuns: 1)
                return try await journal.executions(rollout: "r", plan: digest).count
            }
            for count in 1...10 {
                let run = try await begin(journal)
                let other = RolloutRecord(
                    name: "r",
                    plan: try #require(SHA256Digest(String(repeating: "\(count % 10)", count: 64))),
                    run: run,
                    at: at(2)
                )
                _ = try await journal.begin(Beginning(other, fresh: []))
                #expect(try await kept() == (count < 10 ? 1 : 0), "\(count)")
            }
        }
    }

    @Test func `old beginnings are dropped, and what is owed never is`() async throws {
        let scratch = try Scratch()
        var sizes: [Int] = []
        var kept: Set<Int> = []
        let digest = try #require(plan)
        for number in 1...60 {
            try await withJournal(scratch.path) { journal in
                try await night(journal) { run, executions in
                    let record = executions[number % Self.buses]
                    switch number {
                    case 2:
                        // It is unknown how this command ended.
                        _ = try await journal.intend(act(record, 1))
                    case 3:
                        let id = try await journal.intend(act(record, 1))
                        try await journal.settle(id, outcome: "in-doubt", at: at(3))
                    case 4:
                        let debt = Debt(
                            serial: record.serial,
                            image: digest,
                            name: "city",
                            version: nil,
                            target: "",
                            total: 100,
                            stage: "transferring",
                            of: record,
                            begun: at(1)
                        )
                        _ = try await journal.intend(act(record, 1, .transfer), opening: debt)
                    case 5:
                        let owed = OwedStep(StepKey(plan, ordinal: 9), "command lock", of: record)
                        _ = try await journal.intend(act(record, 1, .converge), owing: [owed])
                    default: return
                    }
                    kept.insert(record.number)
                }
            }
            sizes.append(try contents(scratch.journal).count)
        }
        let (tenth, last) = (sizes[9], sizes[59])
        #expect(last <= tenth + tenth / 10, "\(sizes)")
        #expect(tenth < sizes[0] * 6, "\(sizes)")
        try await withJournal(scratch.path) { journal in
            #expect(try await journal.doubts(of: nil).count == 2)
            #expect(try await journal.debts().map(\.name) == ["city"])
            #expect(try await journal.owed(by: nil).map(\.action) == ["command lock"])
            #expect(kept.count == 4)
            for number in kept { #expect(try await journal.execution(number) != nil) }
            // Everything that the last beginning has done is kept.
            let open = try await journal.executions(rollout: "r")
            #expect(open.count == Self.buses)
            for record in open {
                let done = try await journal.intents(of: record.number)
                #expect(done.map { $0.settlement?.outcome } == [IntentRecord.done])
            }
            #expect(try await journal.intents(rollout: "r", vehicle: nil).count < 2 * Self.buses)
            // After a person has answered a doubt, its record is dropped, too.
            _ = try await journal.clear(
                [try vehicle("bus-3")],
                named: [try vehicle("bus-3")],
                whileHeld: { false },
                by: "anna",
                at: at(20)
            )
            try await night(journal)
            #expect(try await journal.doubts(of: nil).count == 1)
            let left = try await journal.intents(rollout: "r", vehicle: try vehicle("bus-3"))
            #expect(left.count == 1)
        }
    }

    @Test func `of an execution that goes on what it has done stays, however old`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            let record = try await recorded(journal, "bus", run: run)
            for (ordinal, outcome) in ["done", "failed", "in-doubt"].enumerated() {
                let id = try await journal.intend(act(record, ordinal))
                try await journal.settle(id, outcome: outcome, at: at(1))
            }
            for _ in 1...9 {
                try await journal.endRun(
                    try await begin(journal, "another"),
                    exitCode: 0,
                    reason: "",
                    at: at(1)
                )
                try await journal.compact(keepingRuns: 2)
            }
            let left = try await journal.intents(of: record.number)
            #expect(left.map { $0.settlement?.outcome } == ["done", "in-doubt"])
        }
    }

    @Test func `an order is gone with the events of its time, unless it is in doubt`() async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let digest = try #require(plan)
            for number in 1...8 {
                let name = "exec-\(number)"
                let run = try await journal.beginRun(
                    rollout: name,
                    plan: digest,
                    at: at(0),
                    isOrder: true
                )
                let fresh = try execution("bus", run: run, rollout: name)
                let record = try #require(
                    try await journal.begin(
                        Beginning(
                            RolloutRecord(name: name, plan: digest, run: run, at: at(0)),
                            fresh: [fresh]
                        )
                    ).first
                )
                let id = try await journal.intend(act(record, 0))
                if number != 2 { try await journal.settle(id, outcome: "done", at: at(1)) }
                try await journal.endRun(run, exitCode: 0, reason: "", at: at(1))
                try await journal.compact(keepingRuns: 3)
            }
            var left: [Int] = []
            for number in 1...8 where try await journal.rollout("exec-\(number)") != nil {
                left.append(number)
            }
            #expect(left == [2, 6, 7, 8])
            #expect(try await journal.doubts(of: nil).map(\.intent.rollout) == ["exec-2"])
        }
    }
}
