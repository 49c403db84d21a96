import Base
import Store
import Testing
import Workbench

/// Transactions that are refused for every caller, and that change nothing.
@Suite struct RefusalTests {
    private func inhibit(_ id: String, in journal: Journal) async throws {
        try await journal.inhibit(
            Inhibit(try vehicle(id), reason: "workshop", expires: nil, at: at(1))
        )
    }

    /// An execution that has ended as failed.
    private func failed(_ journal: Journal, _ id: String, run: Int) async throws {
        var record = try await recorded(journal, id, run: run)
        record.state = .ended
        record.end = .init(.failed, failure: .device, message: "", at: at(2))
        try await journal.record(record, durably: true)
    }

    @Test func `an abort is not taken back by resume`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            _ = try await begin(journal)
            let abort = Hold(.aborted, "r", reason: "wrong image", author: "anna", at: at(1))
            #expect(try await journal.set(abort, isAtWork: false) == .done)
            guard case .refused = try await journal.resume("r") else {
                Issue.record("resume was not refused")
                return
            }
            #expect(try await journal.hold(on: "r")?.kind == .aborted)
        }
    }

    @Test func `no right is given to an inhibited vehicle, or while its rollout is held`()
        async throws
    {
        let scratch = try Scratch()
        let serial = try #require(Serial("serial-bus"))
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            func claim(paying: Bool = false) async throws -> LeaseAnswer {
                try await journal.claim(
                    serial,
                    for: try vehicle("bus"),
                    of: "r",
                    run: run,
                    paying: paying,
                    at: at(2)
                )
            }
            for kind in Hold.Kind.allCases {
                let hold = Hold(kind, "r", reason: "", author: "anna", at: at(1))
                try await journal.set(hold, isAtWork: true)
                #expect(try await claim() == .stopped(hold))
            }
            guard case .granted(let right) = try await claim(paying: true) else {
                Issue.record("what is owed may be paid under a hold")
                return
            }
            try await journal.release(right)
            try await inhibit("bus", in: journal)
            for paying in [false, true] {
                guard case .inhibited = try await claim(paying: paying) else {
                    Issue.record("paying \(paying), an inhibited vehicle was given away")
                    return
                }
            }
            #expect(try await journal.vehiclesAtWork().isEmpty)
        }
    }

    @Test func `nothing is intended on an inhibited vehicle`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            try await recorded(journal, "bus", run: run)
            try await inhibit("bus", in: journal)
            let answer = try await journal.intendUnlessInhibited(try intent("bus", step: 2))
            guard case .inhibited = answer else {
                Issue.record("it was intended: \(answer)")
                return
            }
            #expect(try await journal.intents(of: 1).isEmpty)
            #expect(try await journal.execution(1)?.acted == false)
            _ = try await journal.uninhibit(try vehicle("bus"))
            guard
                case .intended = try await journal.intendUnlessInhibited(
                    try intent("bus", step: 2)
                )
            else {
                Issue.record("it takes part again")
                return
            }
        }
    }

    @Test func `retry leaves inhibited and quarantined vehicles alone, and refuses them by name`()
        async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            for id in ["free", "inhibited", "quarantined"] {
                try await failed(journal, id, run: run)
            }
            try await inhibit("inhibited", in: journal)
            func retry(_ ids: [String]) async throws -> Rearmed {
                try await journal.retry(
                    "r",
                    try ids.map { try vehicle($0) },
                    quarantined: [try vehicle("quarantined")],
                    by: "anna",
                    at: at(3)
                )
            }
            for id in ["inhibited", "quarantined"] {
                let answer = try await retry([id])
                #expect(answer.refused.keys.map(\.text) == [id])
                #expect(answer.vehicles.isEmpty)
            }
            #expect(try await retry([]).vehicles.map(\.text) == ["free"])
            let left = try await journal.executions(rollout: "r").filter { $0.end != nil }
            #expect(left.map(\.vehicle.text) == ["inhibited", "quarantined"])
        }
    }

    @Test func `clear changes nothing at work, and answers a doubt only by name`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            try await recorded(journal, "bus", run: run)
            _ = try await journal.intend(try intent("bus", step: 2))
            let bus = try vehicle("bus")
            let serial = try #require(Serial("serial-bus"))
            _ = try #require(try await journal.claim(serial, for: bus, run: run))
            func clear(named: Bool, atWork: Bool) async throws -> Cleared {
                try await journal.clear(
                    [bus],
                    named: named ? [bus] : [],
                    whileHeld: { atWork },
                    by: "anna",
                    at: at(3)
                )
            }
            let refused = try await clear(named: true, atWork: true)
            #expect(refused.atWork == bus && refused.answered.isEmpty)
            #expect(try await journal.doubts(of: bus).count == 1)
            let unnamed = try await clear(named: false, atWork: false)
            #expect(unnamed.stillInDoubt == [bus] && unnamed.answered.isEmpty)
            #expect(try await journal.doubts(of: bus).count == 1)
            #expect(try await clear(named: true, atWork: false).answered == [bus])
            #expect(try await journal.doubts(of: bus).isEmpty)
        }
    }

    /// The run settles its step after the answers: it would end with an error of its own if somebody
    /// else had settled it.
    @Test func `a command that has just begun belongs to its run, whatever a person says`()
        async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            let record = try await recorded(journal, "bus", run: run)
            let (bus, serial) = (record.vehicle, record.serial)
            _ = try #require(try await journal.claim(serial, for: bus, run: run))
            let lock = OwedStep(StepKey(plan, ordinal: 9), "command lock", of: record)
            let step = try await journal.intend(try intent("bus", step: 2), owing: [lock])
            func clear() async throws -> Cleared {
                try await journal.clear(
                    [bus],
                    named: [bus],
                    whileHeld: { true },
                    by: "anna",
                    at: at(3)
                )
            }
            let again = try await journal.retry(
                "r",
                [bus],
                whileHeld: { true },
                quarantined: [],
                by: "anna",
                at: at(3)
            )
            #expect(again == Rearmed())
            #expect(try await clear().atWork == bus)
            try await journal.settle(step, outcome: IntentRecord.done, at: at(4))
            #expect(try await clear().atWork == bus, "it still owes a step")
            #expect(try await journal.owed(by: bus) == [lock])
        }
    }

    @Test func `what a beginning takes over is part of it from then on`() async throws {
        let scratch = try Scratch()
        let digest = try #require(plan)
        try await withJournal(scratch.path) { journal in
            // A run with --limit, then the whole rollout.
            let part = try await recorded(journal, "bus", run: try await begin(journal))
            let whole = try await begin(journal)
            let began = try await journal.begin(
                Beginning(
                    RolloutRecord(name: "r", plan: digest, run: whole, at: at(2)),
                    fresh: [try execution("tram", run: whole)],
                    taken: [part.number]
                )
            )
            #expect(began.count == 1)
            let all = try await journal.executions(rollout: "r")
            #expect(all.map(\.vehicle.text) == ["bus", "tram"])
            #expect(all.map(\.number).contains(part.number))
            #expect(all.allSatisfy { $0.beginning == whole })
        }
    }

    @Test func `what a beginning takes over is found though another plan came between`()
        async throws
    {
        let scratch = try Scratch()
        let digest = try #require(plan)
        try await withJournal(scratch.path) { journal in
            let part = try await recorded(journal, "bus", run: try await begin(journal))
            // Another plan has its own execution of the vehicle, with a higher number.
            let other = try await begin(journal)
            let between = RolloutRecord(name: "r", plan: digest, run: other, at: at(2))
            _ = try await journal.begin(
                Beginning(between, fresh: [try execution("bus", run: other)])
            )
            let whole = try await begin(journal)
            _ = try await journal.begin(
                Beginning(
                    RolloutRecord(name: "r", plan: digest, run: whole, at: at(3)),
                    fresh: [],
                    taken: [part.number]
                )
            )
            #expect(try await journal.executions(rollout: "r").map(\.number) == [part.number])
        }
    }

    @Test func `what a run went on with stands, whatever a part with another plan began between`()
        async throws
    {
        let scratch = try Scratch()
        let other = try #require(SHA256Digest(String(repeating: "7", count: 64)))
        try await withJournal(scratch.path) { journal in
            let whole = try await begin(journal)
            let own = try await recorded(journal, "bus", run: whole, plan: plan)
            let part = try await journal.beginRun(rollout: "r", plan: other, at: at(2))
            let apart = try await recorded(journal, "bus", run: part, plan: other)
            func standing() async throws -> [Int] {
                try await journal.executions(rollout: "r").map(\.number)
            }
            #expect(try await standing() == [apart.number])
            // Its next run finds its own verdict, and writes nothing.
            _ = try await begin(journal)
            #expect(try await standing() == [own.number])
            // Of plans that the last run does not have, what a run wrote last.
            let third = try #require(SHA256Digest(String(repeating: "3", count: 64)))
            let last = try await journal.beginRun(rollout: "r", plan: third, at: at(3))
            #expect(try await standing() == [apart.number])
            var gone = own
            gone.run = last
            try await journal.record(gone, durably: true)
            #expect(try await standing() == [own.number])
        }
    }

    @Test func `owed steps keep the order in which they are always done`() async throws {
        let scratch = try Scratch()
        let names = ["lock", "lights", "alarm", "horn", "log"]
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            let record = try await recorded(journal, "bus", run: run)
            let steps = try names.enumerated().map { place, name in
                // Their digests have another order.
                let digest = try #require(
                    SHA256Digest(String(repeating: "\(9 - place)", count: 64))
                )
                return OwedStep(StepKey(digest), name, of: record, place: place)
            }
            let intent = Intent(
                of: record,
                step: StepKey(plan),
                place: 0,
                effect: .converge,
                description: "set",
                begun: at(3)
            )
            _ = try await journal.intend(intent, owing: steps)
            #expect(try await journal.owed(by: record.vehicle).map(\.action) == names)
        }
    }
}
