import Base
import Store
import Testing
import Workbench

@Suite struct JournalTests {
    @Test func `runs are numbered from one and keep what they are told`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            #expect(try await journal.lastRun(rollout: nil) == nil)
            let first = try await journal.beginRun(
                rollout: "tallinn",
                plan: try #require(plan),
                at: at(0),
                seed: .max
            )
            try await journal.endRun(first, exitCode: 11, reason: "2 unreachable", at: at(60))
            let second = try await begin(journal, "riga", at: at(100))
            #expect([first, second] == [1, 2])
        }
        try await withJournal(scratch.path) { journal in
            let run = try #require(try await journal.lastRun(rollout: "tallinn"))
            #expect(run.number == 1)
            #expect(run.rollout == "tallinn")
            #expect(run.plan == plan)
            #expect(run.started == at(0))
            #expect(run.seed == .max)
            #expect(run.end?.exitCode == 11)
            #expect(run.end?.reason == "2 unreachable")
            #expect(run.end?.time == at(60))
            #expect(try await journal.lastRun(rollout: nil)?.number == 2)
            #expect(try await journal.lastRun(rollout: "vilnius") == nil)
            #expect(try await journal.runs(rollout: nil, limit: 9).map(\.number) == [2, 1])
        }
    }

    @Test func `a run left open is closed as interrupted when the next one begins`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            var record = try await recorded(journal, "bus", run: run)
            record.updated = at(30)
            try await journal.record(record, durably: true)
        }
        try await withJournal(scratch.path) { journal in
            _ = try await begin(journal, at: at(500))
            let runs = try await journal.runs(rollout: nil, limit: 2)
            #expect(runs[0].end == nil)
            let end = try #require(runs[1].end)
            #expect(end.exitCode == nil)
            #expect(end.reason == "interrupted")
            #expect(end.time == at(30))
            let closed = try await journal.closeInterruptedRuns()
            #expect(closed.map(\.number) == [2])
            #expect(try await journal.closeInterruptedRuns().isEmpty)
        }
    }

    @Test func `a run ends once`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            try await journal.endRun(run, exitCode: 0, reason: "done", at: at(5))
            let error = await #expect(throws: JournalError.self) {
                try await journal.endRun(run, exitCode: 1, reason: "again", at: at(6))
            }
            #expect(error?.kind == .internal)
            #expect(try await journal.lastRun(rollout: nil)?.end?.exitCode == 0)
        }
    }

    @Test func `an execution comes back as it was recorded, full and empty`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            let empty = try await recorded(journal, "empty", run: run)
            var full = try await recorded(journal, "full", run: run)
            full.state = .ended
            full.attempt = 3
            full.linked = true
            full.image = plan
            full.totalBytes = ByteCount(bytes: 300_000)
            full.acknowledged = ByteCount(bytes: 4_096)
            full.restarts = 2
            full.interruptions = 5
            full.settleDeadline = at(600)
            full.inBootloader = true
            full.versionBefore = FirmwareVersion(4, 11, 9)
            full.versionAfter = FirmwareVersion(.max, 12, 0, build: .max)
            full.updated = at(77)
            full.end = .init(
                .failed,
                failure: .wrongVersion,
                message: "It's 4.11 \u{1F6B2}",
                at: at(78)
            )
            full.nextDeadline = .init("settle", at: at(79))
            for record in [full, empty] { try await journal.record(record, durably: false) }
            #expect(try await journal.executions(rollout: "r") == [empty, full])
            #expect(try await journal.execution(rollout: "r", vehicle: full.vehicle) == full)
            #expect(try await journal.execution(rollout: "other", vehicle: full.vehicle) == nil)
        }
    }

    @Test(arguments: ExecutionState.allCases)
    func `every state can be recorded over any other`(state: ExecutionState) async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            var record = try await recorded(journal, "bus", run: try await begin(journal))
            try await journal.record(record, durably: true)
            record.state = state
            if state == .ended {
                record.end = .init(.succeeded, message: "It runs 4.12.0.", at: at(9))
            }
            try await journal.record(record, durably: state == .settling)
            #expect(try await journal.executions(rollout: "r") == [record])
        }
    }

    @Test(arguments: Outcome.allCases, FailureClass.allCases)
    func `every outcome and failure class comes back`(
        outcome: Outcome,
        failure: FailureClass
    ) async throws {
        let executor = try ThreadExecutor.start(name: "journal")
        let journal = try await Journal.inMemory(executor: executor)
        var record = try await recorded(journal, "bus", run: try await begin(journal))
        record.state = .ended
        record.end = .init(outcome, failure: failure, message: "", at: at(2))
        try await journal.record(record, durably: true)
        #expect(try await journal.executions(rollout: "r") == [record])
        await journal.close()
        executor.stop()
    }

    @Test func `an end without an outcome, or an outcome without an end, is refused`() async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let good = try await recorded(journal, "bus", run: try await begin(journal))
            try await journal.record(good, durably: true)
            var ended = good
            ended.state = .ended
            var going = good
            going.end = .init(.failed, message: "", at: at(2))
            for wrong in [ended, going] {
                let error = await #expect(throws: JournalError.self) {
                    try await journal.record(wrong, durably: true)
                }
                #expect(error?.kind == .internal)
            }
            #expect(try await journal.executions(rollout: "r") == [good])
        }
    }

    @Test func `a verdict stands while it is looked at once more, until a step acts`() async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            var ended: [ExecutionRecord] = []
            for id in ["acted", "looked", "tried", "twice"] {
                var record = try await recorded(journal, id, run: run)
                record.state = .ended
                record.attempt = 2
                record.versionAfter = FirmwareVersion(4, 12, 0)
                record.end = .init(.succeeded, message: "runs 4.12.0", at: at(2))
                try await journal.record(record, durably: true)
                ended.append(record)
            }
            // As after `retry`: in the run that gave the verdict.
            var twice = ended[3]
            (twice.end, twice.state, twice.attempt) = (nil, .seeking, 3)
            try await journal.record(twice, durably: false)
            #expect(try await journal.executions(rollout: "r")[3].end == nil)
            let next = try await begin(journal)
            for record in ended.dropLast() {
                var seeking = record
                (seeking.end, seeking.state, seeking.run) = (nil, .seeking, next)
                (seeking.attempt, seeking.versionAfter) = (1, nil)
                seeking.nextDeadline = .init("search", at: at(9))
                for _ in 1...2 { try await journal.record(seeking, durably: false) }
            }
            _ = try await journal.intend(
                try intent("acted", step: 0, execution: ended[0].number)
            )
            var failed = ended[2]
            failed.run = next
            failed.end = .init(.failed, failure: .device, message: "no", at: at(3))
            try await journal.record(failed, durably: true)
            // While a run works on the vehicle, readers of its state get its earlier verdict.
            let open = try await journal.executions(rollout: "r")
            #expect(open[1].state == .seeking && open[1].end == nil)
            let standing = try JournalReader(directory: scratch.path).read {
                view throws(JournalError) in
                try view.standing(try view.executions(rollout: "r"))
            }
            #expect(standing[0].end == nil)
            #expect(standing[1] == ended[1])
            #expect(standing[2] == failed)
            // The run was killed.
            _ = try await begin(journal)
            let back = try await journal.executions(rollout: "r")
            #expect(back[0].end == nil && back[0].acted)
            #expect(back[1] == ended[1])
            #expect(back[2] == failed)
            #expect(back[3] == ended[3])
        }
    }

    @Test func `a verdict of the same run is kept while the execution goes on`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            var record = try await recorded(journal, "bus", run: run)
            (record.state, record.attempt) = (.seeking, 1)
            try await journal.record(record, durably: false)
            var ended = record
            ended.state = .ended
            ended.end = .init(.succeeded, message: "runs 4.12.0", at: at(2))
            try await journal.record(ended, durably: true)
            record.state = .connecting
            try await journal.record(record, durably: false)
            #expect(try await journal.execution(record.number) == record)
            let standing = try JournalReader(directory: scratch.path).read {
                view throws(JournalError) in
                try view.standing(try view.executions(rollout: "r"))
            }
            #expect(standing == [ended])
        }
    }

    @Test func `an intent and the record of its act are written together`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            var record = try await recorded(journal, "bus", run: run)
            let debt = Debt(
                serial: record.serial,
                image: try #require(plan),
                name: "city",
                version: nil,
                target: "secondary",
                total: 9,
                stage: "preparing",
                of: record,
                begun: at(1)
            )
            let act = Act(
                try intent("bus", step: 0, effect: .transfer, execution: record.number),
                opening: debt
            )
            record.state = .starting
            let unknown = ExecutionRecord(
                number: 99,
                rollout: record.rollout,
                vehicle: record.vehicle,
                serial: record.serial,
                run: run,
                started: at(1)
            )
            await #expect(throws: JournalError.self) {
                try await journal.record(unknown, durably: false, intending: act, debt: debt)
            }
            #expect(try await journal.intents(of: record.number).isEmpty)
            #expect(try await journal.debt(of: record.serial) == nil)
            try await journal.record(record, durably: false, intending: act)
            #expect(try await journal.intents(of: record.number).map(\.intent) == [act.intent])
            #expect(try await journal.debt(of: record.serial) == debt)
            record.acted = true
            #expect(try await journal.execution(record.number) == record)
        }
    }

    @Test func `executions are sorted by vehicle`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            for id in ["b", "B", "10", "2", "a"] {
                try await recorded(journal, id, run: run)
            }
            let names = try await journal.executions(rollout: "r").map(\.vehicle)
            #expect(names == names.sorted())
            #expect(names.count == 5)
        }
    }

    @Test func `an intent is in doubt until it is settled, once`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            for id in ["bus", "van"] {
                try await recorded(journal, id, run: run)
            }
            let bus = try vehicle("bus")
            let horn = try await journal.intend(try intent("bus", step: 0))
            let lock = try await journal.intend(try intent("bus", step: 1, effect: .converge))
            let other = try await journal.intend(
                try intent("van", step: 0, effect: .transfer, execution: 2)
            )
            #expect([horn, lock, other] == [horn, lock, other].sorted())
            #expect(try await journal.doubts(of: bus).map(\.id) == [horn])
            try await journal.settle(horn, outcome: "done", at: at(9))
            #expect(try await journal.doubts(of: bus).isEmpty)
            let open = try await journal.openIntents(rollout: "r", vehicle: bus)
            #expect(open.map(\.id) == [lock])
            #expect(open.first?.intent == (try intent("bus", step: 1, effect: .converge)))
            #expect(
                try await journal.openIntents(rollout: "r", vehicle: nil).map(\.id) == [
                    lock, other,
                ]
            )
            let settled = try await journal.intents(rollout: "r", vehicle: bus).first
            #expect(settled?.settlement?.outcome == "done")
            #expect(settled?.settlement?.time == at(9))
            let error = await #expect(throws: JournalError.self) {
                try await journal.settle(horn, outcome: "again", at: at(10))
            }
            #expect(error?.kind == .internal)
            #expect(error?.words == "intent 1 is not open")
        }
    }

    @Test func `an intent needs its execution on record first`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            _ = try await begin(journal)
            let error = await #expect(throws: JournalError.self) {
                _ = try await journal.intend(try intent("ghost", step: 0))
            }
            #expect(error?.kind == .internal)
        }
    }

    @Test func `the last words of a run about its vehicles are its own`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            for (number, id) in [(1, "car"), (2, "van"), (1, "bus")] {
                let run = try await begin(journal)
                try await journal.append([
                    EventRecord(
                        run: run,
                        number: number,
                        time: at(5),
                        kind: "vehicle-ended",
                        vehicle: try vehicle(id),
                        json: "{}"
                    )
                ])
                try await journal.endRun(run, exitCode: 0, reason: "done", at: at(6))
            }
        }
        for (run, id) in [(1, "car"), (2, "van"), (3, "bus")] {
            let words = try JournalReader(directory: scratch.path).read {
                view throws(JournalError) in
                try view.lastWords(ofRun: run)
            }
            #expect(words.map { $0.vehicle?.text } == [id], "run \(run)")
        }
    }

    @Test func `events are appended whole or not at all, and read in pages`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            let events = try (1...250).map { number in
                EventRecord(
                    run: run,
                    number: number,
                    time: at(Int64(number)),
                    kind: "progress",
                    vehicle: number.isMultiple(of: 2) ? try vehicle("bus") : nil,
                    json: #"{"n":\#(number),"text":"'; DROP TABLE events; --"}"#
                )
            }
            try await journal.append([])
            try await journal.append(Array(events.prefix(200)))
            await #expect(throws: JournalError.self) {
                try await journal.append(Array(events.suffix(100)))
            }
            #expect(try await journal.events(run: run) == Array(events.prefix(200)))
            try await journal.append(Array(events.suffix(50)))
            #expect(try await journal.events(run: run, after: 240) == Array(events.suffix(10)))
            #expect(
                try await journal.events(run: run, after: 10, limit: 3).map(\.number) == [
                    11, 12, 13,
                ]
            )
            #expect(try await journal.events(run: 99).isEmpty)
        }
    }

    @Test func `a closed journal says so`() async throws {
        let scratch = try Scratch()
        let executor = try ThreadExecutor.start(name: "journal")
        defer { executor.stop() }
        let journal = try await Journal.open(directory: scratch.path, executor: executor)
        await journal.close()
        await journal.close()
        let error = await #expect(throws: JournalError.self) {
            try await journal.lastRun(rollout: nil)
        }
        #expect(error?.kind == .internal)
        #expect(scratch.files == ["journal.sqlite"])
    }
}
