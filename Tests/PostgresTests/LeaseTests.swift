import Base
import Glibc
import PrivatePostgres
import Store
import Testing
import Workbench

/// Rights to modules, with a real PostgreSQL: the server's clock decides.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct LeaseTests {
    private let terms = LeaseTerms.standard
    private let north = FleetHolder.random("north")
    private let south = FleetHolder.random("south")

    private func wish(
        _ name: String = "a",
        of rollout: String = "city",
        known: LeaseWish.Known? = nil
    ) throws -> LeaseWish {
        LeaseWish(
            try #require(Serial(name)),
            rollout: rollout,
            vehicle: try #require(VehicleID("bus-" + name)),
            known: known
        )
    }

    private func granted(_ claim: FleetClaim, epoch: Int) throws -> FleetLease {
        guard case .granted(let lease, _) = claim, lease.epoch == epoch else {
            throw Unexpected(description: "\(claim) instead of epoch \(epoch)")
        }
        return lease
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    /// Changes the row as if this much time had passed since the right was granted.
    private func age(_ server: PrivatePostgres, _ database: String, by time: String) throws {
        try server.query(
            database,
            "UPDATE yardmaster.module SET expires = expires - interval '\(time)'"
        )
    }

    @Test func `a module has one holder, no matter who asks`() async throws {
        try await Cluster.withFleet { fleet, _, _ in
            _ = try await fleet.signIn(north, program: "1.0", at: WallTime(milliseconds: 0))
            let first = try await fleet.claim(try wish(), by: north, terms: terms)
            let lease = try granted(first, epoch: 1)
            // When the answer was lost, the second request gets the same answer.
            #expect(try await fleet.claim(try wish(), by: north, terms: terms) == first)
            let other = try await fleet.claim(try wish(), by: south, terms: terms)
            #expect(other == .held(by: "north, for vehicle bus-a of city"))
            // Another rollout of the same gateway does not get it, either.
            let second = try await fleet.claim(try wish(of: "lights"), by: north, terms: terms)
            #expect(second == .held(by: "north, for vehicle bus-a of city"))
            #expect(try await fleet.release(lease, of: north))
            #expect(try await !fleet.release(lease, of: north))
            _ = try granted(try await fleet.claim(try wish(), by: south, terms: terms), epoch: 2)
            // The earlier holder cannot release or renew it any more.
            #expect(try await !fleet.release(lease, of: north))
            #expect(try await fleet.renew([lease], of: north, terms: terms) == [])
        }
    }

    @Test func `a holder that vanished keeps everybody waiting, then is fenced off`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            let old = try granted(
                try await fleet.claim(try wish(), by: north, terms: terms),
                epoch: 1
            )
            // Its right is over, but the wait is not.
            try age(server, database, by: "61 s")
            let early = try await fleet.claim(try wish(), by: south, terms: terms)
            guard case .resting(let left) = early else {
                throw Unexpected(description: "\(early)")
            }
            #expect(left > .zero && left <= terms.takeoverWait)
            // It is not renewed, either, although no other gateway has it.
            #expect(try await fleet.renew([old], of: north, terms: terms) == [])
            try age(server, database, by: "101 s")
            let new = try granted(
                try await fleet.claim(try wish(), by: south, terms: terms),
                epoch: 2
            )
            #expect(try await fleet.renew([old], of: north, terms: terms) == [])
            #expect(try await !fleet.release(old, of: north))
            #expect(try await fleet.renew([new], of: south, terms: terms) == [new])
        }
    }

    @Test func `a holder whose right ran out gets another one, with a new epoch`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            _ = try granted(try await fleet.claim(try wish(), by: north, terms: terms), epoch: 1)
            try age(server, database, by: "61 s")
            _ = try granted(try await fleet.claim(try wish(), by: north, terms: terms), epoch: 2)
        }
    }

    @Test func `renewals are counted from when they have the lock`() async throws {
        let brief = LeaseTerms(
            length: .milliseconds(400),
            margin: .milliseconds(1),
            beat: .milliseconds(1),
            reserve: .milliseconds(1),
            takeoverWait: .seconds(100)
        )
        try await Cluster.withFleet { fleet, server, database in
            let settings = try Cluster.settings(server.address(database))
            try await Cluster.with(settings) { other in
                let lease = try granted(
                    try await fleet.claim(try wish(), by: north, terms: brief),
                    epoch: 1
                )
                // Another session holds the row, unchanged, until the right is over.
                _ = try await other.rows("begin", "BEGIN")
                _ = try await other.rows(
                    "lock",
                    "SELECT serial FROM yardmaster.module FOR UPDATE"
                )
                async let kept = fleet.renew([lease], of: north, terms: brief)
                let over = FleetStatement(
                    "ask",
                    "SELECT expires < clock_timestamp() FROM yardmaster.module"
                )
                try await wait(for: "the right to end") {
                    try await other.rows(over).first?.isTrue(0) == true
                }
                _ = try await other.rows("end", "COMMIT")
                #expect(try await kept == [])
            }
        }
    }

    @Test func `of those who race for a module one wins`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            let settings = try Cluster.settings(server.address(database))
            let racers = (0..<4).map { FleetHolder.random("g\($0)") }
            let modules = (0..<25).map { "m\($0)" }
            let won = try await withThrowingTaskGroup(of: [FleetLease].self) { group in
                for holder in racers {
                    group.addTask {
                        try await Cluster.with(settings) { mine in
                            var won: [FleetLease] = []
                            for name in modules {
                                let claim = try await mine.claim(
                                    try wish(name),
                                    by: holder,
                                    terms: terms
                                )
                                if case .granted(let lease, _) = claim { won.append(lease) }
                            }
                            return won
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(won.count == modules.count && won.allSatisfy { $0.epoch == 1 })
            #expect(Set(won.map(\.serial)).count == modules.count)
            let held = try server.query(database, "SELECT count(*) FROM yardmaster.module")
            #expect(held == "25\n")
            _ = fleet
        }
    }

    @Test func `what an earlier start held is given back at once`() async throws {
        try await Cluster.withFleet { fleet, _, _ in
            _ = try await fleet.signIn(north, program: "1.0", at: WallTime(milliseconds: 0))
            for name in ["a", "b"] {
                _ = try await fleet.claim(try wish(name), by: north, terms: terms)
            }
            _ = try await fleet.claim(try wish("c"), by: south, terms: terms)
            let freed = try await fleet.releaseAll(of: north.instance)
            #expect(freed.map(\.text) == ["a", "b"])
            let gateways = try await fleet.gateways()
            #expect(gateways.map(\.isGone) == [true] && gateways.map(\.modules) == [0])
            // The same machine after a restart is another holder.
            let again = FleetHolder.random("north")
            _ = try granted(try await fleet.claim(try wish(), by: again, terms: terms), epoch: 2)
            let other = try await fleet.claim(try wish("c"), by: again, terms: terms)
            guard case .held = other else { throw Unexpected(description: "\(other)") }
        }
    }

    @Test func `of those who sign in under one name at once one is in`() async throws {
        try await Cluster.withFleet { _, server, database in
            let settings = try Cluster.settings(server.address(database))
            for round in 0..<5 {
                let answers = try await withThrowingTaskGroup(of: FleetSignIn.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await Cluster.with(settings) { mine in
                                try await mine.signIn(
                                    .random("g\(round)"),
                                    program: "1.0",
                                    at: WallTime(milliseconds: 0)
                                )
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count { $0 == .done } == 1, "\(answers)")
                #expect(answers.count { $0 == .nameTaken } == 5, "\(answers)")
            }
        }
    }

    @Test func `what may still be at work elsewhere keeps its name and its rights`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            let (before, copy) = (north, FleetHolder.random("north"))
            func signIn(_ start: EarlierStart...) async throws -> FleetSignIn {
                try await fleet.signIn(
                    copy,
                    after: start,
                    program: "1.0",
                    at: WallTime(milliseconds: 0),
                    terms: terms
                )
            }
            func age(_ seconds: Int) throws {
                try server.query(
                    database,
                    "UPDATE yardmaster.gateway SET heard = clock_timestamp() - interval '\(seconds) s' "
                        + "WHERE instance = '\(before.instance)'"
                )
            }
            _ = try await fleet.signIn(before, program: "1.0", at: WallTime(milliseconds: 0))
            _ = try await fleet.claim(try wish("a"), by: before, terms: terms)
            #expect(try await signIn() == .nameTaken)
            // Its rights may be in use as long as others would wait for them, too.
            let rest = Int((terms.length + terms.takeoverWait) / .seconds(1))
            for seconds in [0, rest - 5] {
                try age(seconds)
                guard
                    case .copied(let silence) = try await signIn(
                        .init(before.instance, isOver: false)
                    )
                else {
                    Issue.record("a copy is in after \(seconds) s")
                    return
                }
                #expect(silence >= .seconds(seconds) && silence < .seconds(seconds + 5))
            }
            let held = "SELECT holder FROM yardmaster.module"
            #expect(try server.query(database, held) == before.instance + "\n")
            try age(rest + 1)
            #expect(try await signIn(.init(before.instance, isOver: false)) == .done)
            // The same again, where the lock of the directory proves that it has ended.
            try await fleet.signOff(copy)
            _ = try await fleet.signIn(before, program: "1.0", at: WallTime(milliseconds: 0))
            #expect(try await signIn(.init(before.instance, isOver: true)) == .done)
            let names = try await fleet.gateways().filter { !$0.isGone }.map(\.instance)
            #expect(names == [copy.instance])
        }
    }

    @Test func `a verdict counts while nobody else has had the right, and is reported once`()
        async throws
    {
        try await Cluster.withFleet { fleet, server, database in
            _ = try await fleet.signIn(south, program: "1.0", at: WallTime(milliseconds: 0))
            // As each run of a fleet leaves it.
            try server.query(
                database,
                "INSERT INTO yardmaster.rollout (name, plan) VALUES ('city', 'plan')"
            )
            let (a, b) = (try wish("a"), try wish("b"))
            let first = try granted(try await fleet.claim(a, by: north, terms: terms), epoch: 1)
            let other = try granted(try await fleet.claim(b, by: north, terms: terms), epoch: 1)
            func settle(_ lease: FleetLease, _ wish: LeaseWish, _ outcome: Outcome) async throws {
                var word = FleetWord(
                    .verdict,
                    under: lease,
                    of: north,
                    rollout: wish.rollout,
                    beginning: 0,
                    vehicle: wish.vehicle,
                    run: 7
                )
                word.outcome = outcome.rawValue
                word.failure = outcome == .failed ? FailureClass.device.rawValue : nil
                (word.sentence, word.version) = ("it's \(outcome)", "4.12.0")
                try await fleet.accept(word)
            }
            // When the answer was lost, the second report changes nothing: there is one verdict,
            // and the module is free.
            for _ in 0..<2 { try await settle(first, a, .succeeded) }
            // A report after the end of its right, before any other gateway has had the right.
            try age(server, database, by: "61 s")
            try await settle(other, b, .succeeded)
            let second = try granted(
                try await fleet.claim(b, by: north, terms: terms),
                epoch: 2
            )
            // A report that comes too late.
            try age(server, database, by: "1 h")
            let taken = try granted(
                try await fleet.claim(b, by: south, terms: terms),
                epoch: 3
            )
            try await settle(second, b, .failed)
            for name in ["bus-a", "bus-b"] {
                let vehicle = try #require(VehicleID(name))
                let told = try await fleet.verdicts(on: vehicle)
                #expect(told.map(\.outcome) == [.succeeded], "\(name)")
            }
            #expect(try await fleet.holders().values.map { $0.prefix(5) } == ["south"])
            let late = try server.query(
                database,
                "SELECT epoch, outcome, failure FROM yardmaster.verdict WHERE NOT counts"
            )
            #expect(late == "2|failed|device\n")
            // The current holder's right is unchanged.
            #expect(try await fleet.renew([taken], of: south, terms: terms) == [taken])
            #expect(try server.query(database, "SELECT count(*) FROM yardmaster.verdict") == "3\n")
        }
    }

    @Test func `the roles suffice for what runs, people and readers do`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            #expect(try await fleet.grantRights() == [])
            let mark = UInt32.random(in: .min ... .max)
            func with<R: Sendable>(
                _ role: String,
                _ body: (FleetDatabase) async throws -> R
            ) async throws -> R {
                let user = "\(role)_\(mark)"
                try server.query(database, "CREATE ROLE \(user) LOGIN IN ROLE yardmaster_\(role)")
                let address = server.address(database, user: user)
                return try await Cluster.with(try Cluster.settings(address), body)
            }
            try await with("gateway") { mine in
                #expect(try await mine.standing() == .same)
                let user = try await mine.user()
                #expect(user.mayClaim && !user.mayConfirm)
                _ = try await mine.signIn(north, program: "1.0", at: WallTime(milliseconds: 0))
                // Another server took over: the first gateway records it.
                try server.query(database, "UPDATE yardmaster.history SET timeline = '00000000'")
                guard case .waits = try await mine.guardedHistory(known: nil, terms: terms) else {
                    Issue.record("not written down")
                    return
                }
                try server.query(database, "UPDATE yardmaster.history SET claims_after = now()")
                // Its own start was at work at that time: it confirms that all of its work is
                // reported.
                let place = try await mine.place(of: north.gateway)
                #expect(place.isAwaited)
                try await mine.hasRetold(north.gateway, in: place)
                let lease = try granted(
                    try await mine.claim(try wish(), by: north, terms: terms),
                    epoch: 1
                )
                #expect(try await mine.renew([lease], of: north, terms: terms) == [lease])
                _ = try await mine.beat(north)
                func run(_ end: RunRecord.End?) throws -> FleetRun {
                    FleetRun(
                        RunRecord(
                            RunName(7, of: north.gateway),
                            of: "city",
                            plan: try #require(
                                SHA256Digest(bytes: [UInt8](repeating: 1, count: 32))
                            ),
                            started: WallTime(milliseconds: 1),
                            end: end
                        ),
                        FleetStart(instance: north.instance, gateway: north.gateway, beginning: 1),
                        counts: end.map { _ in "{}" }
                    )
                }
                try await mine.begin(run(nil))
                let end = RunRecord.End(
                    at: WallTime(milliseconds: 2),
                    exitCode: 11,
                    reason: "r"
                )
                // Safe to repeat.
                for _ in 0..<2 { try await mine.end(run(end)) }
                for mark in ["a", "b"] {
                    try await mine.bring(
                        plan: "plan",
                        of: "city",
                        view: "{}",
                        mark: mark,
                        quarantineAfter: 3
                    )
                }
                #expect(try await mine.markOfPlan("plan") == "b")
                var progress = FleetProgress(lease, run: 7)
                progress.doing = "transferring"
                try await mine.report([progress], of: north)
                let bus = try wish().vehicle
                try await mine.hear([(bus, -60)], of: "city", beginning: 1, as: north)
                let next = try await mine.wear(
                    lease,
                    bus,
                    of: "city",
                    beginning: 1,
                    signal: -60,
                    isLost: false,
                    as: north
                )
                #expect(next == nil)
                let glance = try await mine.glance(at: "city", for: north)
                #expect(glance == nil)
                var word = FleetWord(
                    .verdict,
                    under: lease,
                    of: north,
                    rollout: "city",
                    beginning: 0,
                    vehicle: try wish().vehicle,
                    run: 1
                )
                (word.outcome, word.sentence) = (Outcome.succeeded.rawValue, "done")
                try await mine.accept(word)
                try await mine.signOff(north)
                let error = await #expect(throws: FleetError.self) {
                    try await mine.acceptRestore(known: nil, terms: terms)
                }
                #expect(error?.kind == .forbidden)
            }
            try await with("reader") { mine in
                let gateways = try await mine.gateways()
                #expect(gateways.count == 1)
                // What those who look read from anywhere.
                let (runs, view) = try await mine.atOneMoment {
                    fleet throws(FleetError) -> ([FleetRun], String?) in
                    _ = try fleet.ground()
                    _ = try fleet.briefs()
                    _ = try fleet.lastRuns()
                    _ = try fleet.sightings(of: nil)
                    _ = try fleet.sayings(of: nil, since: WallTime(milliseconds: 0), limit: 9)
                    return (try fleet.runs(of: nil, limit: 9), try fleet.planView("plan"))
                }
                #expect(runs.count == 1 && runs.first?.run.end?.exitCode == 11 && view == "{}")
                let error = await #expect(throws: FleetError.self) {
                    try await mine.claim(try wish(), by: south, terms: terms)
                }
                #expect(error?.kind == .forbidden)
            }
            try await with("operator") { mine in
                let user = try await mine.user()
                #expect(user.mayConfirm && !user.mayClaim)
                let generation = try await mine.acceptRestore(known: nil, terms: terms)
                #expect(generation == 2)
            }
        }
    }

    // MARK: A database that went back

    @Test func `nothing is granted from a dump until a person has said so`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            let lease = try granted(
                try await fleet.claim(try wish(), by: north, terms: terms),
                epoch: 1
            )
            try server.tool(
                "pg_dump",
                ["-Fc", "-f", server.scratch.path + "/yesterday", database],
                to: "dump.log"
            )
            #expect(try await fleet.release(lease, of: north))
            for epoch in 2...4 {
                let next = try granted(
                    try await fleet.claim(try wish(), by: north, terms: terms),
                    epoch: epoch
                )
                #expect(try await fleet.release(next, of: north))
            }
            try server.query(database, "DROP SCHEMA yardmaster CASCADE")
            try server.tool(
                "pg_restore",
                ["-d", database, server.scratch.path + "/yesterday"],
                to: "restore.log"
            )
            let claim = try await fleet.claim(try wish(), by: south, terms: terms)
            #expect(claim == .closed(.restored("its tables come from a dump")))
            // A module that no gateway has ever had is not granted, either.
            let other = try await fleet.claim(try wish("y"), by: south, terms: terms)
            #expect(other == .closed(.restored("its tables come from a dump")))
            #expect(
                try await fleet.guardedHistory(known: 1, terms: terms)
                    == .restored("its tables come from a dump")
            )
            #expect(try await fleet.acceptRestore(known: 1, terms: terms) == 2)
            // A gateway that still works under a lost right gets the time to finish.
            let early = try await fleet.claim(try wish("z"), by: south, terms: terms)
            guard case .closed(.waits(let left)) = early else {
                throw Unexpected(description: "\(early)")
            }
            #expect(left > .zero && left <= terms.length + terms.takeoverWait)
            try server.query(database, "UPDATE yardmaster.history SET claims_after = now()")
            try age(server, database, by: "1 h")
            // An epoch that a gateway remembers is never granted again.
            let known = LeaseWish.Known(epoch: 4, generation: 1)
            let taken = try await fleet.claim(try wish(known: known), by: south, terms: terms)
            #expect(
                taken
                    == .granted(
                        FleetLease(serial: try #require(Serial("a")), epoch: 5),
                        generation: 2
                    )
            )
        }
    }

    @Test func `a gateway that knows a higher epoch sees that the database went back`() async throws
    {
        try await Cluster.withFleet { fleet, _, _ in
            let known = LeaseWish.Known(epoch: 4, generation: 1)
            // First there is no row at all, and then one with an older epoch.
            let none = try await fleet.claim(try wish(known: known), by: north, terms: terms)
            #expect(none == .behind(known: 4, found: 0))
            let lease = try granted(
                try await fleet.claim(try wish(), by: south, terms: terms),
                epoch: 1
            )
            #expect(try await fleet.release(lease, of: south))
            let old = try await fleet.claim(try wish(known: known), by: north, terms: terms)
            #expect(old == .behind(known: 4, found: 1))
        }
    }

    @Test func `after a fail-over everybody waits, and one writes it down`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            // The state that a new primary finds after a fail-over: the recorded timeline is the
            // old one.
            try server.query(database, "UPDATE yardmaster.history SET timeline = '00000000'")
            let claim = try await fleet.claim(try wish(), by: north, terms: terms)
            #expect(claim == .closed(.movedOn(from: "00000000", to: "00000001")))
            let first = try await fleet.guardedHistory(known: nil, terms: terms)
            guard case .waits(let left) = first else { throw Unexpected(description: "\(first)") }
            #expect(left > .zero && left <= terms.length + terms.takeoverWait)
            try server.query(database, "UPDATE yardmaster.history SET claims_after = now()")
            #expect(try await fleet.guardedHistory(known: nil, terms: terms) == .open)
            _ = try granted(try await fleet.claim(try wish(), by: north, terms: terms), epoch: 1)
        }
    }

    // MARK: A server that dies

    @Test func `a right outlives the death of the server, and is fenced after it`() async throws {
        let server = try PrivatePostgres()
        let database = try server.database()
        try await Cluster.with(try Cluster.settings(server.address(database))) { fleet in
            _ = try await fleet.upgrade(from: .absent, by: "test")
            let lease = try granted(
                try await fleet.claim(try wish(), by: north, terms: terms),
                epoch: 1
            )
            try server.kill()
            let lost = await #expect(throws: FleetError.self) {
                try await fleet.renew([lease], of: north, terms: terms)
            }
            #expect(lost?.kind == .lost)
            let away = await #expect(throws: FleetError.self) {
                try await fleet.renew([lease], of: north, terms: terms)
            }
            #expect(away?.kind == .unreachable)
            try server.start()
            #expect(try await fleet.renew([lease], of: north, terms: terms) == [lease])
            let other = try await fleet.claim(try wish(), by: south, terms: terms)
            guard case .held = other else { throw Unexpected(description: "\(other)") }
        }
        server.stop()
    }
}
