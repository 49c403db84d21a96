import Base
import Operations
import PrivatePostgres
import Rollout
import Show
import Store
import Testing

/// What several gateways know of what one of them has begun, done and owes, and what people set for all.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct ActTests {
    private let now = WallTime(milliseconds: 0)

    private func serial() throws -> Serial { try #require(Serial("a1")) }
    private func vehicle(_ name: String = "bus") throws -> VehicleID {
        try #require(VehicleID(name))
    }

    private func digest(_ byte: UInt8) throws -> SHA256Digest {
        try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
    }

    private func claim(_ member: Members.Member, paying: Bool = false) async throws -> Claim {
        _ = try await member.execution(try vehicle(), try serial())
        return try await member.rights.claim(
            try serial(),
            for: try vehicle(),
            paying: paying,
            at: now,
            unless: StopSignal()
        )
    }

    @discardableResult
    private func hold(_ member: Members.Member) async throws -> Lease {
        let claim = try await claim(member)
        guard case .granted(let lease) = claim else { throw Unexpected(description: "\(claim)") }
        return lease
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    private func horn(_ member: Members.Member, _ effect: Effect = .once) async throws -> Intent {
        Intent(
            of: try await member.execution(try vehicle(), try serial()),
            step: StepKey(try digest(1)),
            place: 0,
            effect: effect,
            description: "command horn",
            begun: now
        )
    }

    /// As a run does it: the own journal first, then the fleet.
    private func begin(_ member: Members.Member) async throws -> (Permit, IntentID) {
        let intent = try await horn(member)
        let id = try await member.journal.intend(intent, isFleets: true)
        return (try await ask(member, Act(intent)), id)
    }

    private func ask(
        _ member: Members.Member,
        _ act: Act,
        paying: Bool = false
    ) async throws -> Permit {
        try await member.rights.permit(act, on: try serial(), paying: paying, unless: StopSignal())
    }

    private func settle(
        _ member: Members.Member,
        _ id: IntentID,
        _ outcome: String
    ) async throws {
        let word = member.rights.word(
            of: .settled(try await horn(member), outcome),
            on: try serial()
        )
        try await member.journal.settle(
            id,
            outcome: outcome,
            at: now,
            telling: [try #require(word)]
        )
        try await member.rights.tell()
    }

    /// A person says what became of the command in doubt; returns the vehicles that were answered for.
    private func answer(_ outcome: String, on member: Members.Member) async throws -> [VehicleID] {
        let bus = [try vehicle()]
        guard outcome == IntentRecord.done else {
            return try await member.fleet.retry(nil, among: bus, named: Set(bus), by: "mia")?
                .answered ?? []
        }
        return try await member.fleet.clear(bus, named: Set(bus), by: "mia").answered
    }

    // MARK: Steps that must be done once

    @Test func `a step that was begun and not settled is in doubt for anyone who comes next`()
        async throws
    {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            try await hold(north)
            #expect(try await begin(north).0 == .granted)
            // An answer that was lost is asked for again.
            #expect(try await ask(north, Act(try await horn(north))) == .granted)
            try them.forget()
            try await hold(south)
            // It knows so before it asks, and asking does not help.
            #expect(try await south.journal.doubts(of: try vehicle()).count == 1)
            #expect(try await ask(south, Act(try await horn(south))) == .doubt(by: "north"))
            // Anyone who had it before has no right to it any more.
            #expect(try await ask(north, Act(try await horn(north))) == .ended)
        }
    }

    @Test func `a step that one gateway has done is not done by another`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            let lease = try await hold(north)
            let (permit, id) = try await begin(north)
            #expect(permit == .granted)
            try await settle(north, id, IntentRecord.done)
            #expect(try await north.journal.untoldCount() == 0)
            try await north.rights.release(lease, with: nil)
            try await hold(south)
            #expect(try await south.journal.doubts(of: try vehicle()).isEmpty)
            #expect(try await ask(south, Act(try await horn(south))) == .done(by: "north"))
        }
    }

    @Test func `a command waits for a gateway whose sign-in a fail-over may have lost`()
        async throws
    {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            // It signed off last evening. What it did since then is unknown to the standby.
            try await north.fleet.signOff(north.holder)
            try them.ground.ask("UPDATE yardmaster.history SET timeline = 'other'")
            try them.ground.ask(
                "UPDATE yardmaster.history SET timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
            )
            // The one that was at work reports at once, and may go on with all that can be repeated.
            try await hold(south)
            #expect(try await ask(south, Act(try await horn(south, .transfer))) == .granted)
            #expect(try await south.fleet.history().awaited == nil)
            #expect(try await south.fleet.history().unheard == "north")
            guard case .later(let reason) = try await ask(south, Act(try await horn(south))) else {
                Issue.record("it was allowed")
                return
            }
            #expect(reason.hasPrefix("north may have done `command horn`"))
            #expect(try await ask(south, Act(try await horn(south)), paying: true) != .granted)
            // Once it has reported, nothing waits any more.
            try await north.rights.tell()
            #expect(try await south.fleet.history().unheard == nil)
            #expect(try await begin(south).0 == .granted)
        }
    }

    @Test func `one that surely had no effect may be done by anybody`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            let lease = try await hold(north)
            let (_, id) = try await begin(north)
            try await settle(north, id, IntentRecord.failed)
            try await north.rights.release(lease, with: nil)
            try await hold(south)
            #expect(try await begin(south).0 == .granted)
        }
    }

    @Test func `what was done is told later, and ends the doubt of others`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            try await hold(north)
            let (_, id) = try await begin(north)
            // Done, and on its disk; the database has not heard of it.
            let word = north.rights.word(
                of: .settled(try await horn(north), IntentRecord.done),
                on: try serial()
            )
            try await north.journal.settle(
                id,
                outcome: IntentRecord.done,
                at: now,
                telling: [try #require(word)]
            )
            try them.forget()
            let lease = try await hold(south)
            #expect(try await ask(south, Act(try await horn(south))) == .doubt(by: "north"))
            try await north.rights.tell()
            try await north.rights.tell()
            #expect(try await ask(south, Act(try await horn(south))) == .done(by: "north"))
            try await south.rights.release(lease, with: nil)
            // With its next right it is no doubt here either.
            try await hold(south)
            #expect(try await south.journal.doubts(of: try vehicle()).isEmpty)
        }
    }

    @Test(arguments: [IntentRecord.failed, IntentRecord.done])
    func `a person's answer holds for every gateway`(answer: String) async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            try await hold(north)
            _ = try await begin(north)
            try them.forget()
            let lease = try await hold(south)
            #expect(try await south.journal.doubts(of: try vehicle()).count == 1)
            try await south.rights.release(lease, with: nil)
            #expect(try await self.answer(answer, on: south) == [try vehicle()])
            // The one that began it has it no more either, before it has any right.
            try await north.rights.begin()
            #expect(try await north.journal.doubts(of: try vehicle()).isEmpty)
            try await hold(south)
            #expect(try await south.journal.doubts(of: try vehicle()).isEmpty)
            let permit = try await ask(south, Act(try await horn(south)))
            #expect(permit == (answer == IntentRecord.done ? .done(by: "north") : .granted))
        }
    }

    @Test func `a vehicle whose doubt was answered is aborted with its rollout`() async throws {
        try await Members.with(["north"], plan: .sample()) { them in
            let north = them[0]
            let lease = try await hold(north)
            let (_, id) = try await begin(north)
            try await settle(north, id, IntentRecord.doubtful)
            try await north.rights.release(lease, with: nil)
            try them.ground.ask(
                """
                UPDATE yardmaster.execution SET state = 'ended', outcome = 'in-doubt'
                WHERE vehicle = 'bus'
                """
            )
            #expect(try await north.fleet.hold("city", .aborted, reason: "", by: "mia") == .done)
            func aborted() async throws -> String? {
                try await north.fleet.abort(
                    [try vehicle()],
                    of: "city",
                    beginning: 1,
                    because: "recall"
                )
                return try them.ground.server?.query(
                    them.ground.database,
                    "SELECT outcome FROM yardmaster.execution WHERE vehicle = 'bus'"
                )
            }
            #expect(try await aborted() == "in-doubt\n", "nobody has answered")
            _ = try await answer(IntentRecord.done, on: north)
            #expect(try await aborted() == "aborted\n")
        }
    }

    @Test(arguments: [IntentRecord.failed, IntentRecord.done])
    func `what a person has answered is not overwritten by a late report`(answer: String)
        async throws
    {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let north = them[0]
            let lease = try await hold(north)
            _ = try await begin(north)
            try them.forget()
            _ = try await self.answer(answer, on: them[1])
            // The gateway that began it was away, and reports the opposite now.
            var word = FleetWord(
                .step,
                under: FleetLease(serial: lease.serial, epoch: lease.epoch),
                of: north.holder,
                rollout: "city",
                beginning: 1,
                vehicle: try vehicle(),
                run: 1
            )
            word.digest = try digest(1).description
            word.sentence = "command horn"
            word.outcome =
                answer == IntentRecord.done ? IntentRecord.failed : IntentRecord.done
            try await north.fleet.accept(word)
            let step = try them.ground.server?.query(
                them.ground.database,
                "SELECT digest, outcome, author FROM yardmaster.step"
            )
            #expect(step == "\(try digest(1))|\(answer)|mia\n")
        }
    }

    @Test func `an act that the fleet never heard of was not done`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let north = them[0]
            try await hold(north)
            // Killed between its own disk and the question.
            _ = try await north.journal.intend(try await horn(north), isFleets: true)
            #expect(try await north.journal.doubts(of: try vehicle()).count == 1)
            try await north.rights.begin()
            #expect(try await north.journal.doubts(of: try vehicle()).isEmpty)
            // What was begun before the gateway joined the fleet is a person's to answer.
            _ = try await north.journal.intend(try await horn(north))
            try await north.rights.begin()
            #expect(try await north.journal.doubts(of: try vehicle()).count == 1)
        }
    }

    // MARK: Debts

    @Test func `what one gateway began on a module another one pays`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            try await hold(north)
            let record = try await north.execution(try vehicle(), try serial())
            let debt = Debt(
                serial: try serial(),
                image: try digest(2),
                name: "city",
                version: FirmwareVersion(4, 12),
                target: "secondary",
                total: 1_000,
                stage: "preparing",
                of: record,
                begun: now
            )
            let lock = OwedStep(StepKey(try digest(3)), "command lock", of: record)
            let act = Act(try await horn(north, .transfer), opening: debt, owing: [lock])
            #expect(try await ask(north, act) == .granted)
            _ = try await north.journal.intend(
                act.intent,
                opening: debt,
                owing: [lock],
                isFleets: true
            )
            try them.forget()
            let lease = try await hold(south)
            let taken = try #require(try await south.journal.debt(of: try serial()))
            #expect(taken.image == debt.image && taken.title == "city 4.12.0")
            #expect(taken.stage == "transferring" && taken.rollout == "city")
            let owed = try await south.journal.owed(by: try vehicle())
            #expect(owed.map(\.action) == ["command lock"])
            // Paid here, it is not owed there.
            let own = try await south.execution(try vehicle(), try serial())
            try await south.journal.record(
                own,
                durably: true,
                paying: Payment(
                    of: taken,
                    as: "confirmed",
                    at: now,
                    telling: south.rights.word(of: .paid(taken, isProof: true), on: try serial())
                )
            )
            let done = try #require(owed.first)
            try await south.journal.drop(
                done,
                telling: south.rights.word(of: .did(done), on: try serial())
            )
            try await south.rights.release(lease, with: nil)
            try await north.rights.begin()
            #expect(try await north.journal.debts().isEmpty)
            #expect(try await north.journal.owed(by: nil).isEmpty)
        }
    }

    @Test func `a recall on one machine keeps every other one from beginning`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            try await hold(south)
            let debt = Debt(
                serial: try serial(),
                image: try digest(2),
                name: "city",
                version: FirmwareVersion(4, 12),
                target: "secondary",
                total: 1_000,
                stage: "preparing",
                of: try await south.execution(try vehicle(), try serial()),
                begun: now
            )
            let act = Act(try await horn(south, .transfer), opening: debt)
            let recall = Recall(
                debt.image,
                name: "city",
                reason: "brakes",
                author: "mia",
                at: now
            )
            try await north.fleet.recall(recall)
            guard case .recalled(let found) = try await ask(south, act) else {
                Issue.record("it began")
                return
            }
            #expect(found.author == "mia" && found.reason == "brakes")
            #expect(try await south.fleet.transfers().isEmpty)
            let why = "city: repaired"
            #expect(try await north.fleet.lift(recallOf: debt.image, saying: why, by: "mia"))
            let said = "SELECT reason FROM yardmaster.said WHERE verb = 'recall --lift'"
            #expect(try them.ground.ask(said) == why + "\n")
            #expect(try await ask(south, act) == .granted)
            #expect(try await north.fleet.transfers().map(\.image) == [debt.image])
        }
    }

    @Test func `a debt that was begun under a later right is not paid by an earlier one`()
        async throws
    {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let image = try digest(2).description
            let before = FleetLease(serial: try serial(), epoch: 1)
            try them.ground.ask(
                """
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                  target, total) VALUES ('a1', 'bus', 'city', 2, 'south', '\(image)', 'n', 't', 1)
                """
            )
            try await them[0].fleet.payDebt(of: before, image: image)
            #expect(
                try await them[1].fleet.accounts(of: try vehicle(), on: try serial()).debt != nil
            )
            let own = FleetLease(serial: try serial(), epoch: 2)
            try await them[1].fleet.payDebt(of: own, image: image)
            #expect(
                try await them[1].fleet.accounts(of: try vehicle(), on: try serial()).debt == nil
            )
        }
    }

    // MARK: What people set

    @Test func `an inhibition for a time ends by the server's clock`() async throws {
        try await Members.with(["north"], plan: .sample()) { them in
            // A server whose clock is days ahead of this machine's.
            try them.ground.ask(
                """
                CREATE OR REPLACE FUNCTION yardmaster.clock() RETURNS timestamptz
                LANGUAGE sql AS $$ SELECT clock_timestamp() + make_interval(days => 3) $$
                """
            )
            let until = try await them[0].fleet.inhibit(
                [try vehicle()],
                reason: "workshop",
                for: .seconds(3_600),
                by: "mia"
            )
            let left = try await them[0].fleet.rows(
                "look",
                "SELECT extract(epoch FROM expires - yardmaster.clock())::int FROM yardmaster.inhibit"
            )
            #expect((3_000...3_600).contains(Int(left.first?.integer(0) ?? 0)))
            #expect(try await them[0].fleet.inhibits().first?.expires == until)
            guard case .inhibited = try await claim(them[0]) else {
                Issue.record("it is over before its time")
                return
            }
        }
    }

    @Test func `a recall, and its end, reach a gateway at work with its next look`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            func known() async throws -> [String] {
                them.clock.pass(.seconds(10))
                try await north.rights.follow(waitingFor: [], counts: false)
                return try await north.journal.recalls().map(\.reason)
            }
            #expect(try await known() == [])
            let image = try #require(SHA256Digest(bytes: [UInt8](repeating: 9, count: 32)))
            for reason in ["it bricks", "it bricks buses"] {
                try await south.fleet.recall(
                    Recall(
                        image,
                        name: "4.13",
                        reason: reason,
                        author: "mia",
                        at: WallTime(milliseconds: 0)
                    )
                )
                #expect(try await known() == [reason])
            }
            #expect(
                try await south.fleet.lift(recallOf: image, saying: "it was the cable", by: "mia")
            )
            #expect(try await known() == [])
        }
    }

    @Test func `what is set on any machine is obeyed before the next act`() async throws {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let (north, south) = (them[0], them[1])
            let lease = try await hold(north)
            try await south.fleet.inhibit(
                [try vehicle()],
                reason: "workshop",
                for: nil,
                by: "mia"
            )
            guard case .inhibited(let inhibit) = try await begin(north).0 else {
                Issue.record("acted while it was to be left alone")
                return
            }
            #expect(inhibit.reason == "workshop" && inhibit.author == "mia")
            // What is owed waits, too; only an update that was begun is brought to rest.
            guard case .inhibited = try await ask(north, Act(try await horn(north)), paying: true)
            else {
                Issue.record("an owed step was done while it was to be left alone")
                return
            }
            let transfer = Act(try await horn(north, .transfer))
            #expect(try await ask(north, transfer, paying: true) == .granted)
            try await north.rights.release(lease, with: nil)
            guard case .inhibited = try await claim(south) else {
                Issue.record("begun while it was to be left alone")
                return
            }
            #expect(try await south.fleet.uninhibit([try vehicle()], by: "mia") == 1)
            #expect(
                try await north.fleet.hold("city", .paused, reason: "rain", by: "mia") == .done
            )
            guard case .stopped(let hold) = try await claim(south) else {
                Issue.record("begun under a hold")
                return
            }
            #expect(hold.reason == "rain" && hold.author == "mia")
            // Each gateway sets it in its own journal, for anyone who looks there, and takes it back.
            for member in them.all {
                try await member.rights.follow(waitingFor: [], counts: false)
                #expect(try await member.journal.hold(on: "city")?.reason == "rain")
            }
            #expect(
                try await south.fleet.hold("city", .paused, reason: "", by: "mia")
                    == .noChange("it is paused already")
            )
            #expect(try await south.fleet.resume("city", by: "mia") == .done)
            them.clock.pass(.seconds(10))
            for member in them.all {
                try await member.rights.follow(waitingFor: [], counts: false)
                #expect(try await member.journal.hold(on: "city") == nil)
            }
            #expect(try await north.fleet.hold("city", .aborted, reason: "", by: "mia") == .done)
            guard case .refused = try await south.fleet.resume("city", by: "mia") else {
                Issue.record("an abort was taken back")
                return
            }
            #expect(try await south.fleet.resume("village", by: "mia") == nil)
        }
    }

    @Test func `who ends before all is told keeps its rights until they are over`() async throws {
        try await Members.with(["north"], plan: .sample()) { them in
            let north = them[0]
            try await hold(north)
            let (permit, id) = try await begin(north)
            #expect(permit == .granted)
            let word = north.rights.word(
                of: .settled(try await horn(north), IntentRecord.done),
                on: try serial()
            )
            try await north.journal.settle(
                id,
                outcome: IntentRecord.done,
                at: now,
                telling: [try #require(word)]
            )
            let entrance = FleetEntrance(north.fleet, north.journal, gateway: "north")
            await entrance.signOff(north.holder)
            let held = "SELECT count(holder) FROM yardmaster.module"
            #expect(try them.ground.ask(held) == "1\n")
            try await north.rights.tell()
            await entrance.signOff(north.holder)
            #expect(try them.ground.ask(held) == "0\n")
        }
    }

    @Test func `a vehicle that failed too often anywhere is left alone everywhere`() async throws {
        try await Members.with(["north", "south"], quarantineAfter: 2, plan: .sample()) { them in
            for member in them.all {
                let lease = try await hold(member)
                let verdict = Verdict.given(.failed)
                let record = try await member.execution(try vehicle(), try serial())
                try await member.journal.record(
                    record,
                    durably: true,
                    with: VerdictBaggage(
                        telling: member.rights.word(
                            of: .ended(
                                try vehicle(),
                                verdict,
                                touched: true,
                                release: try digest(7)
                            ),
                            on: try serial()
                        )
                    )
                )
                try await member.rights.release(lease, with: verdict)
                // It has its verdict, until somebody wants it taken up again.
                let again = try await member.fleet.retry(
                    nil,
                    among: [try vehicle()],
                    by: "mia"
                )
                #expect(again?.vehicles == [try vehicle()])
            }
            guard case .quarantined(let why) = try await claim(them[0]) else {
                Issue.record("a third time")
                return
            }
            #expect(why.hasPrefix("in quarantine after 2 failures, the last: it does not answer"))
            let cleared = try await them[1].fleet.clear([try vehicle()], named: [], by: "mia")
            #expect(cleared.failures == 1)
            try await hold(them[0])
        }
    }
}
