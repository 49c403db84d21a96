import Base
import Operations
import PrivatePostgres
import Rollout
import Store
import Testing
import Workbench

/// Which of several gateways that hear a vehicle is to have it, on a real PostgreSQL.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct PlaceTests {
    private struct Vehicle: Sendable {
        let id: VehicleID
        let serial: Serial
    }

    private static func vehicles(_ count: Int) throws -> [Vehicle] {
        try (1...count).map {
            Vehicle(
                id: try #require(VehicleID("v\($0)")),
                serial: try #require(Serial("a\($0)"))
            )
        }
    }

    private static func with(
        _ names: [String],
        _ body: (Members, [Vehicle]) async throws -> Void
    ) async throws {
        let all = try vehicles(4)
        let plan = FleetPlan(
            all.map { FleetPlan.Vehicle($0.id, $0.serial, wave: 0) },
            waves: 1
        )
        try await Members.with(names, plan: plan) { them in
            var figures = FleetFigures()
            figures.links = 1
            for member in them.all { _ = try await member.fleet.beat(member.holder, figures) }
            try await body(them, all)
        }
    }

    private static func hear(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ signal: Int
    ) async throws {
        try await member.fleet.hear(
            [(vehicle.id, signal)],
            of: "city",
            beginning: 1,
            as: member.holder
        )
    }

    private static func claim(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ signal: Int?,
        hasOthers: Bool = true,
        isPaying: Bool = false,
        isPartial: Bool = false
    ) async throws -> FleetClaim {
        try await member.fleet.claim(
            LeaseWish(
                vehicle.serial,
                rollout: "city",
                vehicle: vehicle.id,
                entry: LeaseWish.Entry(
                    beginning: 1,
                    isPaying: isPaying,
                    isPartial: isPartial,
                    hearing: signal.map { LeaseWish.Hearing(signal: $0, hasOthers: hasOthers) }
                )
            ),
            by: member.holder,
            terms: .standard
        )
    }

    private static func granted(_ claim: FleetClaim) throws -> FleetLease {
        guard case .granted(let lease, _) = claim else {
            throw Unexpected(description: "\(claim)")
        }
        return lease
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    private static func isGranted(_ claim: FleetClaim) -> Bool {
        if case .granted = claim { true } else { false }
    }

    private static func wear(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ lease: FleetLease,
        _ signal: Int?,
        isLost: Bool = false
    ) async throws -> String? {
        try await member.fleet.wear(
            lease,
            vehicle.id,
            of: "city",
            beginning: 1,
            signal: signal,
            isLost: isLost,
            as: member.holder
        )
    }

    // MARK: The decision

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var own = -60
        var ownFailures = 0
        var hasOthers = true
        var other = -54
        var otherFailures = 0
        /// What else is so of the other gateway.
        var change = ""
        var isBusy = false
        let isLeft: Bool

        init(
            _ sentence: String,
            own: Int = -60,
            ownFailures: Int = 0,
            hasOthers: Bool = true,
            other: Int = -54,
            otherFailures: Int = 0,
            isBusy: Bool = false,
            _ change: String = "",
            isLeft: Bool
        ) {
            testDescription = sentence
            self.own = own
            self.ownFailures = ownFailures
            self.hasOthers = hasOthers
            self.other = other
            self.otherFailures = otherFailures
            self.isBusy = isBusy
            self.change = change
            self.isLeft = isLeft
        }
    }

    static let cases = [
        Case("one that hears it clearly better is to have it", isLeft: true),
        Case("one that hears it as well is not waited for", other: -60, isLeft: false),
        Case("nor one that hears it a little better", other: -55, isLeft: false),
        Case(
            "a free one is waited for by one that has nothing else",
            hasOthers: false,
            isLeft: true
        ),
        Case("a busy one is not", hasOthers: false, isBusy: true, isLeft: false),
        Case("but one that has others leaves it to a busy one", isBusy: true, isLeft: true),
        Case("an attempt that failed there weighs", otherFailures: 1, isLeft: false),
        Case(
            "but one that hears it far better may still have it",
            other: -30,
            otherFailures: 1,
            isLeft: true
        ),
        Case("an attempt that failed here weighs", own: -48, ownFailures: 1, isLeft: true),
        Case(
            "and so a busy one is waited for, too",
            own: -48,
            ownFailures: 1,
            hasOthers: false,
            isBusy: true,
            isLeft: true
        ),
        Case(
            "one that takes nothing more is not waited for",
            "UPDATE yardmaster.gateway SET draining = now() WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that is asked to take nothing more",
            "UPDATE yardmaster.gateway SET drain = true WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that is silent",
            "UPDATE yardmaster.gateway SET heard = now() - interval '46 s' WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that has said good-bye",
            "UPDATE yardmaster.gateway SET gone = now() WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that works on another rollout",
            "UPDATE yardmaster.gateway SET rollout = 'town' WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that heard it before it was started again",
            "UPDATE yardmaster.gateway SET since = now() + interval '1 s' WHERE name = 'south'",
            isLeft: false
        ),
        Case(
            "nor one that does not hear it any more",
            "UPDATE yardmaster.hearing SET signal = NULL WHERE gateway = 'south'",
            isLeft: false
        ),
        Case(
            "what was heard in an earlier beginning says nothing",
            "UPDATE yardmaster.hearing SET beginning = 0",
            isLeft: false
        ),
    ]

    @Test(arguments: cases)
    func `a claim is left to another gateway by what is known of both`(
        _ one: Case
    ) async throws {
        try await Self.with(["north", "south"]) { them, all in
            try await Self.hear(them[0], all[0], one.own)
            try await Self.hear(them[1], all[0], one.other)
            if one.isBusy { _ = try Self.granted(await Self.claim(them[1], all[1], -50)) }
            try them.ground.ask(
                """
                UPDATE yardmaster.hearing SET failures = CASE gateway WHEN 'north'
                  THEN \(one.ownFailures) ELSE \(one.otherFailures) END
                """
            )
            if !one.change.isEmpty { try them.ground.ask(one.change) }
            let claim = try await Self.claim(them[0], all[0], one.own, hasOthers: one.hasOthers)
            guard one.isLeft else {
                #expect(Self.isGranted(claim), "\(claim)")
                return
            }
            guard case .nearer(let gateway, let left) = claim else {
                Issue.record("\(claim)")
                return
            }
            #expect(gateway == "south")
            #expect(left > .seconds(10) && left <= .seconds(15))
        }
    }

    @Test func `signals are no matter of rights`() async throws {
        try await Self.with(["north", "south"]) { them, all in
            for vehicle in all { try await Self.hear(them[1], vehicle, -40) }
            // What is owed is paid by anyone, and so is what nobody compares.
            #expect(Self.isGranted(try await Self.claim(them[0], all[0], -90, isPaying: true)))
            #expect(Self.isGranted(try await Self.claim(them[0], all[1], nil)))
            #expect(Self.isGranted(try await Self.claim(them[0], all[2], -90, isPartial: true)))
            // Anyone who hears it best has no right that another one has.
            guard case .held(let holder) = try await Self.claim(them[1], all[2], -40) else {
                Issue.record("it has two holders")
                return
            }
            #expect(holder.hasPrefix("north"))
            // What people have set is answered before any comparison.
            try them.ground.ask(
                """
                UPDATE yardmaster.rollout SET hold = 'paused', hold_reason = 'r', hold_author = 'a',
                  hold_made = now()
                """
            )
            guard case .stopped = try await Self.claim(them[0], all[3], -90) else {
                Issue.record("a pause was not answered")
                return
            }
        }
    }

    // MARK: Its time

    @Test func `a vehicle is left to one gateway, for a quarter of a minute, once`() async throws {
        try await Self.with(["north", "south", "west"]) { them, all in
            let (north, south, west) = (them[0], them[1], them[2])
            try await Self.hear(south, all[0], -50)
            guard case .nearer("south", _) = try await Self.claim(north, all[0], -70) else {
                Issue.record("north did not leave it to south")
                return
            }
            // Whatever is heard meanwhile, the one that it is left to has it.
            try await Self.hear(north, all[0], -30)
            let lease = try Self.granted(try await Self.claim(south, all[0], -50))
            _ = try await south.fleet.release(lease, of: south.holder)
            try await Self.hear(north, all[0], -70)
            guard case .nearer("south", let first) = try await Self.claim(north, all[0], -70) else {
                Issue.record("after work it may be left to south again")
                return
            }
            // A third one that asks later waits no longer than the first.
            try them.ground.ask(
                "UPDATE yardmaster.execution SET favoured_until = favoured_until - interval '9 s'"
            )
            guard case .nearer("south", let second) = try await Self.claim(west, all[0], -90) else {
                Issue.record("west did not leave it to south")
                return
            }
            #expect(first > .seconds(10) && second < .seconds(7))
            try them.ground.ask(
                "UPDATE yardmaster.execution SET favoured_until = favoured_until - interval '9 s'"
            )
            // South had its chance: anyone may have it now.
            #expect(Self.isGranted(try await Self.claim(west, all[0], -90)))
        }
    }

    /// Gateways that claim at any time by signals that change at any time, on a clock of the test's own.
    @Test(arguments: 1...4)
    func `no vehicle waits for longer than its time, whatever is heard`(_ seed: Int) async throws {
        let names = ["north", "south", "west"]
        try await Self.with(names) { them, all in
            try them.ground.ask(
                """
                CREATE TABLE stood (at timestamptz); INSERT INTO stood VALUES (now());
                CREATE OR REPLACE FUNCTION yardmaster.clock() RETURNS timestamptz
                LANGUAGE sql VOLATILE AS 'SELECT at FROM public.stood';
                CREATE FUNCTION passes() RETURNS void LANGUAGE sql AS $$
                  UPDATE public.stood SET at = at + interval '1 s';
                  UPDATE yardmaster.gateway SET heard = yardmaster.clock();
                  UPDATE yardmaster.module SET expires = yardmaster.clock() + interval '60 s'
                  WHERE holder IS NOT NULL
                $$;
                """
            )
            let pass = FleetStatement("let a second pass", "SELECT public.passes()")
            var random = SeededChance(UInt64(seed))
            var refused: [Int: Int] = [:]
            var held: [Int: (member: Int, lease: FleetLease, until: Int)] = [:]
            var (grants, refusals) = (0, 0)
            for second in 0..<240 {
                _ = try await them[0].fleet.rows(pass)
                for (vehicle, right) in held where right.until <= second {
                    let member = them[right.member]
                    _ = try await member.fleet.release(right.lease, of: member.holder)
                    held[vehicle] = nil
                }
                let (member, vehicle) = (random.pick(3), random.pick(4))
                let signal = -40 - random.pick(50)
                try await Self.hear(them[member], all[vehicle], signal)
                let asks = random.pick(3)
                guard held[vehicle] == nil else { continue }
                let claim = try await Self.claim(
                    them[asks],
                    all[vehicle],
                    -40 - random.pick(50),
                    hasOthers: random.pick(2) == 0
                )
                switch claim {
                case .granted(let lease, _):
                    grants += 1
                    refused[vehicle] = nil
                    held[vehicle] = (asks, lease, second + 1 + random.pick(9))
                case .nearer(let other, let left):
                    refusals += 1
                    #expect(other != names[asks])
                    let since = refused[vehicle] ?? second
                    refused[vehicle] = since
                    #expect(left <= .seconds(15 - (second - since)))
                default: Issue.record("\(claim)")
                }
                for (vehicle, since) in refused where second - since > 15 {
                    // Its time is over: whoever asks next has it.
                    let claim = try await Self.claim(them[random.pick(3)], all[vehicle], -89)
                    #expect(Self.isGranted(claim), "since \(since) at \(second): \(claim)")
                    guard case .granted(let lease, _) = claim else { return }
                    refused[vehicle] = nil
                    let owner = try #require(
                        names.firstIndex(of: try Self.holder(of: all[vehicle], them))
                    )
                    held[vehicle] = (owner, lease, second + 3)
                }
            }
            #expect(grants > 20 && refusals > 20, "\(grants) and \(refusals)")
        }
    }

    private static func holder(of vehicle: Vehicle, _ them: Members) throws -> String {
        let found = try them.ground.server?.query(
            them.ground.database,
            """
            SELECT g.name FROM yardmaster.module m JOIN yardmaster.gateway g ON g.instance = m.holder
            WHERE m.serial = '\(vehicle.serial.text)'
            """
        )
        return String((found ?? "").prefix { $0 != "\n" })
    }

    // MARK: Wear

    @Test func `a vehicle moves on when attempts fail, and all attempts are counted together`()
        async throws
    {
        try await Self.with(["north", "south"]) { them, all in
            let (north, south, bus) = (them[0], them[1], all[0])
            try await Self.hear(north, bus, -50)
            try await Self.hear(south, bus, -55)
            var lease = try Self.granted(try await Self.claim(north, bus, -50))
            // One that hears it nearly as well is better than one that has failed.
            #expect(try await Self.wear(north, bus, lease, -50) == "south")
            var places = try await south.glance(asking: [bus.id])
            #expect(places.busy == [bus.id] && places.underWay == 1 && places.favoured == [])
            _ = try await north.fleet.release(lease, of: north.holder)
            places = try await south.glance(asking: [bus.id])
            #expect(places.busy == [] && places.favoured == [bus.id])
            guard case .nearer("south", let left) = try await Self.claim(north, bus, -50) else {
                Issue.record("north takes it again at once")
                return
            }
            #expect(left > .seconds(50) && left <= .seconds(60))
            lease = try Self.granted(try await Self.claim(south, bus, -55))
            var accounts = try await south.fleet.accounts(of: bus.id, on: bus.serial)
            #expect(accounts.failures == ["city": 1])
            // Both have failed once by now, and the other one hears it hardly better.
            #expect(try await Self.wear(south, bus, lease, -55) == nil)
            #expect(try await Self.wear(south, bus, lease, -55) == "north")
            accounts = try await south.fleet.accounts(of: bus.id, on: bus.serial)
            #expect(accounts.failures == ["city": 3])
            // Under a right that is over nothing is counted.
            _ = try await south.fleet.release(lease, of: south.holder)
            #expect(try await Self.wear(south, bus, lease, -55) == nil)
            lease = try Self.granted(try await Self.claim(north, bus, -50))
            var verdict = FleetWord(
                .verdict,
                under: lease,
                of: north.holder,
                rollout: "city",
                beginning: 1,
                vehicle: bus.id,
                run: 1
            )
            verdict.outcome = Outcome.succeeded.rawValue
            try await north.fleet.accept(verdict)
            accounts = try await south.fleet.accounts(of: bus.id, on: bus.serial)
            #expect(accounts.failures == [:])
        }
    }

    @Test func `one that a gateway does not hear any more is left to another one, once`()
        async throws
    {
        try await Self.with(["north", "south"]) { them, all in
            let (north, south, bus) = (them[0], them[1], all[0])
            try await Self.hear(north, bus, -50)
            try await Self.hear(south, bus, -95)
            _ = try Self.granted(try await Self.claim(south, all[1], -50))
            let lease = try Self.granted(try await Self.claim(north, bus, -50))
            #expect(try await Self.wear(north, bus, lease, nil, isLost: true) == "south")
            #expect(try await Self.wear(north, bus, lease, nil, isLost: true) == nil)
            // Nobody waits for north any more.
            _ = try await north.fleet.release(lease, of: north.holder)
            let other = try Self.granted(try await Self.claim(south, bus, -95))
            #expect(try await Self.wear(south, bus, other, nil, isLost: true) == nil)
        }
    }

    @Test func `attempts that failed before a rollout began again say nothing`() async throws {
        try await Self.with(["north", "south"]) { them, all in
            let lease = try Self.granted(try await Self.claim(them[0], all[0], -50))
            _ = try await Self.wear(them[0], all[0], lease, -50)
            try them.ground.ask("UPDATE yardmaster.hearing SET beginning = 0")
            let accounts = try await them[0].fleet.accounts(of: all[0].id, on: all[0].serial)
            #expect(accounts.failures == [:])
            _ = try await Self.wear(them[0], all[0], lease, -50)
            let count = try them.ground.server?.query(
                them.ground.database,
                "SELECT failures FROM yardmaster.hearing"
            )
            #expect(count == "1\n")
        }
    }

    // MARK: Reports

    @Test func `signals are reported together, and again when they have changed`() async throws {
        let all = try Self.vehicles(3)
        let plan = FleetPlan(
            all.map { FleetPlan.Vehicle($0.id, $0.serial, wave: 0) },
            waves: 1
        )
        try await Members.with(["north"], plan: plan, wave: 0) { them in
            func heard() throws -> String? {
                try them.ground.server?.query(
                    them.ground.database,
                    """
                    SELECT string_agg(vehicle || ' ' || signal, ', ' ORDER BY vehicle)
                    FROM yardmaster.hearing
                    """
                )
            }
            let rights = them[0].rights
            await rights.hears([all[0].id: -50, all[1].id: -60])
            let first = try heard()
            #expect(first == "v1 -50, v2 -60\n")
            await rights.hears([all[0].id: -51, all[1].id: -66, all[2].id: -70])
            let second = try heard()
            #expect(second == first)
            // The next sign of life brings the others, and what has changed.
            await rights.giveSign()
            let third = try heard()
            #expect(third == "v1 -50, v2 -66, v3 -70\n")
        }
    }
}

/// Chance that a seed repeats.
private struct SeededChance {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func pick(_ count: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(count))
    }
}
