import Base
import Rollout
import Store
import Testing
import Workbench

/// Recalls of images and the memory of transfers: both stores are held to the same rules.
@Suite struct RecallContractTests {
    private let now = WallTime(milliseconds: 0)

    /// A vehicle whose module a run has the right to.
    struct Bus {
        let rights: any Coordinator
        let journal: Journal
        let ground: Ground
        let record: ExecutionRecord
        let lease: Lease

        private static let now = WallTime(milliseconds: 0)

        static func with(_ store: Store, _ body: (Bus) async throws -> Void) async throws {
            try await store.withRights { rights, journal, ground in
                let (vehicle, serial) = (try #require(VehicleID("bus")), try #require(Serial("a1")))
                let fresh = ExecutionRecord(
                    rollout: "city",
                    vehicle: vehicle,
                    serial: serial,
                    run: 1,
                    started: now
                )
                let begun = try await journal.begin(Beginning(nil, fresh: [fresh]))
                let record = try #require(begun.first)
                let claim = try await rights.claim(
                    serial,
                    for: vehicle,
                    paying: false,
                    at: now,
                    unless: StopSignal()
                )
                guard case .granted(let lease) = claim else {
                    Issue.record("\(claim)")
                    return
                }
                try await body(
                    Bus(
                        rights: rights,
                        journal: journal,
                        ground: ground,
                        record: record,
                        lease: lease
                    )
                )
            }
        }

        func image(_ byte: UInt8) throws -> SHA256Digest {
            try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
        }

        /// Asks for a transfer as a run does, and writes it where it may be done; the debt that it opens.
        func begin(
            _ byte: UInt8,
            _ version: UInt32,
            over before: UInt32?,
            isAsked: Bool = true
        ) async throws -> (permit: Permit, debt: Debt) {
            let image = try image(byte)
            let debt = Debt(
                serial: record.serial,
                image: image,
                name: "city-\(version)",
                version: FirmwareVersion(version, 0),
                target: "secondary",
                total: 9,
                stage: "preparing",
                of: record,
                begun: Self.now
            )
            let intent = Intent(
                of: record,
                step: StepKey(image),
                place: 0,
                effect: .transfer,
                description: "update",
                image: image,
                begun: Self.now
            )
            var act = Act(intent, opening: debt, over: before.map { FirmwareVersion($0, 0) })
            var permit = Permit.granted
            if isAsked {
                permit = try await rights.permit(
                    act,
                    on: record.serial,
                    paying: false,
                    unless: StopSignal()
                )
            }
            act.isFleets = rights.isShared
            guard permit == .granted else { return (permit, debt) }
            do throws(JournalError) {
                try await journal.record(record, durably: true, intending: act)
            } catch {
                guard isAsked, error.kind == .recalled else { throw error }
                // A machine on its own learns it in the transaction that would open the debt.
                let recall = try await recalls.first { $0.image == image }
                permit = .recalled(try #require(recall))
            }
            return (permit, debt)
        }

        func pay(_ debt: Debt, isProof: Bool = true) async throws {
            try await journal.record(
                record,
                durably: true,
                paying: Payment(
                    of: debt,
                    as: "confirmed",
                    at: Self.now,
                    isProof: isProof,
                    telling: rights.word(of: .paid(debt, isProof: isProof), on: record.serial)
                )
            )
            try await rights.tell()
        }

        func recall(_ byte: UInt8) async throws {
            let recall = Recall(
                try image(byte),
                name: "city",
                reason: "brakes",
                author: "mia",
                at: Self.now
            )
            if let fleet = ground.fleet { return try await fleet.recall(recall) }
            try await journal.recall(recall)
        }

        func lift(_ byte: UInt8) async throws -> Bool {
            if let fleet = ground.fleet {
                return try await fleet.lift(
                    recallOf: try image(byte),
                    saying: "repaired",
                    by: "mia"
                )
            }
            return try await journal.lift(recallOf: try image(byte))
        }

        var recalls: [Recall] {
            get async throws {
                if let fleet = ground.fleet { return try await fleet.recalls() }
                return try await journal.recalls()
            }
        }

        var uses: [RecallUse] {
            get async throws {
                if let fleet = ground.fleet { return try await fleet.recallUses([]) }
                return try await journal.look { view throws(JournalError) in
                    try view.recallUses()
                }
            }
        }

        var transfers: [Transfer] {
            get async throws {
                if let fleet = ground.fleet { return try await fleet.transfers() }
                return try await journal.look { view throws(JournalError) in try view.transfers() }
            }
        }
    }

    @Test(arguments: Store.present)
    func `no transfer of a recalled image begins until the recall is lifted`(store: Store)
        async throws
    {
        try await Bus.with(store) { bus in
            try await bus.recall(2)
            let refused = try await bus.begin(2, 2, over: 1).permit
            guard case .recalled(let recall) = refused else {
                Issue.record("\(refused)")
                return
            }
            #expect(recall.reason == "brakes" && recall.author == "mia" && recall.name == "city")
            #expect(try await bus.transfers.isEmpty)
            #expect(try await bus.journal.debts().isEmpty)
            #expect(try await bus.begin(3, 3, over: 1).permit == .granted, "another image")
            #expect(try await bus.lift(2))
            #expect(try await !bus.lift(2))
            #expect(try await bus.recalls.isEmpty)
            #expect(try await bus.begin(2, 2, over: 1).permit == .granted)
        }
    }

    @Test(.enabled(if: Store.present.contains(.postgres), "PostgreSQL is not installed"))
    func `what a server has withdrawn is sent by no gateway, and what was begun is not withdrawn`()
        async throws
    {
        try await Bus.with(.postgres) { bus in
            let fleet = try #require(bus.ground.fleet)
            let serial = bus.record.serial
            func withdraw(_ image: SHA256Digest?) async throws -> Bool {
                try await fleet.withdraw(image, from: serial, in: "city", "the server says so")
            }
            #expect(try await withdraw(bus.image(2)))
            #expect(try await bus.begin(2, 2, over: 1).permit == .withdrawn("the server says so"))
            #expect(try await bus.transfers.isEmpty)
            try await fleet.serve(bus.image(2), to: serial, in: "city", true, "")
            // Without an image all that were allowed are forbidden.
            #expect(try await withdraw(nil))
            #expect(try await bus.begin(2, 2, over: 1).permit == .withdrawn("the server says so"))
            let begun = try await bus.begin(3, 3, over: 1)
            #expect(begun.permit == .granted)
            #expect(try await !withdraw(bus.image(3)))
            #expect(try await fleet.withdrawn(in: "city", from: serial) == [bus.image(2)])
            try await bus.pay(begun.debt)
            #expect(try await withdraw(bus.image(3)))
        }
    }

    @Test func `a recall that comes between permit and intent is obeyed`() async throws {
        try await Bus.with(.journal) { bus in
            try await bus.recall(2)
            let error = await #expect(throws: JournalError.self) {
                _ = try await bus.begin(2, 2, over: 1, isAsked: false)
            }
            #expect(error?.kind == .recalled && error?.words.contains("brakes") == true)
            #expect(try await bus.journal.debts().isEmpty)
            #expect(try await bus.transfers.isEmpty)
        }
    }

    @Test(arguments: Store.present)
    func `what has begun before a recall is settled as ever, and shown first`(store: Store)
        async throws
    {
        try await Bus.with(store) { bus in
            let debt = try await bus.begin(2, 2, over: 1).debt
            try await bus.recall(2)
            let halfSent = RecallUse.uses(
                of: try await bus.recalls,
                try await bus.transfers,
                try await bus.journal.debts()
            )
            #expect(halfSent.first?.halfSent.map(\.vehicle.text) == ["bus"])
            #expect(halfSent.first?.running.isEmpty == true)
            try await bus.pay(debt)
            let uses = RecallUse.uses(
                of: try await bus.recalls,
                try await bus.transfers,
                try await bus.journal.debts()
            )
            #expect(uses.first?.halfSent.isEmpty == true)
            #expect(uses.first?.vehicles.map(\.text) == ["bus"])
            guard case .recalled = try await bus.begin(2, 2, over: 2).permit else {
                Issue.record("it began again")
                return
            }
        }
    }

    @Test(arguments: Store.present)
    func `a recall says which modules run its image now`(store: Store) async throws {
        try await Bus.with(store) { bus in
            try await bus.pay(try await bus.begin(2, 2, over: 1).debt)
            try await bus.pay(try await bus.begin(3, 3, over: 2).debt)
            try await bus.recall(2)
            try await bus.recall(3)
            let uses = try await bus.uses
            let images = try [bus.image(2), bus.image(3)]
            #expect(uses.map(\.recall.image) == images)
            #expect(uses.map(\.halfSent.count) == [0, 0])
            #expect(uses.first?.running.isEmpty == true)
            let running = uses.last?.running
            #expect(running?.map(\.serial) == [bus.record.serial])
            #expect(running?.map(\.vehicle) == [bus.record.vehicle])
            #expect(running?.map(\.rollout) == ["city"])
        }
    }

    @Test(arguments: Store.present)
    func `what a module ran before is kept over retries, and read again when it has changed`(
        store: Store
    ) async throws {
        try await Bus.with(store) { bus in
            let first = try await bus.begin(2, 2, over: 1).debt
            try await bus.pay(first, isProof: false)
            // It waits in its bootloader, or runs the image: neither says what it ran before.
            try await bus.pay(try await bus.begin(2, 2, over: nil).debt, isProof: false)
            try await bus.pay(try await bus.begin(2, 2, over: 2).debt)
            var known = try await bus.transfers
            #expect(known.map(\.before) == [FirmwareVersion(1, 0)])
            #expect(known.map(\.isProven) == [true])
            // Somebody has brought another version since.
            try await bus.pay(try await bus.begin(2, 2, over: 7).debt)
            known = try await bus.transfers
            #expect(known.map(\.before) == [FirmwareVersion(7, 0)])
            try await bus.pay(try await bus.begin(3, 3, over: 2).debt)
            known = try await bus.transfers
            #expect(known.map(\.version) == [FirmwareVersion(2, 0), FirmwareVersion(3, 0)])
            #expect(known.running.map(\.image) == [try bus.image(3)])
        }
    }

    @Test(arguments: Store.present)
    func `a rollout is recalled in the transaction in which its way back begins`(store: Store)
        async throws
    {
        try await Bus.with(store) { bus in
            let hold = Hold(.recalled, "city", reason: "brakes", author: "mia", at: now)
            if let fleet = bus.ground.fleet {
                func enter(_ plan: UInt8, _ hold: Hold?) async throws {
                    let holder = FleetHolder(
                        gateway: "south",
                        random: [UInt8](repeating: plan, count: 16)
                    )
                    _ = try await fleet.enter(
                        "city-rollback",
                        plan: try bus.image(plan),
                        begins: false,
                        seen: 0,
                        as: holder,
                        recalling: hold
                    )
                }
                try await enter(4, nil)
                #expect(try await fleet.rollout("city")?.hold == nil)
                try await enter(5, hold)
                #expect(try await fleet.rollout("city")?.hold == nil, "another plan does not begin")
                try await enter(4, hold)
                let found = try await fleet.rollout("city")?.hold
                #expect(found?.kind == .recalled && found?.author == "mia")
                #expect(try await fleet.rollout("city-rollback")?.hold == nil)
            } else {
                let record = RolloutRecord(
                    name: "city-rollback",
                    plan: try bus.image(4),
                    run: 1,
                    at: now
                )
                _ = try await bus.journal.begin(Beginning(record, fresh: [], recalling: hold))
                #expect(try await bus.journal.hold(on: "city") == hold)
                let later = Hold(.recalled, "city", reason: "rain", author: "tom", at: now)
                _ = try await bus.journal.begin(Beginning(nil, fresh: [], recalling: later))
                #expect(try await bus.journal.hold(on: "city") == hold, "once")
                #expect(try await bus.journal.hold(on: "city-rollback") == nil)
            }
        }
    }
}
