import Base
import Operations
import PrivatePostgres
import Store
import Testing

/// One set of gates and waves over any number of gateways, on a real PostgreSQL.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct GateTests {
    struct Vehicle {
        let id: VehicleID
        let serial: Serial
    }

    func vehicles(_ count: Int) throws -> [Vehicle] {
        try (1...count).map {
            Vehicle(
                id: try #require(VehicleID("v\($0)")),
                serial: try #require(Serial("a\($0)"))
            )
        }
    }

    /// Enlists the vehicles in waves of so many, by each gateway.
    func enlist(
        _ them: Members,
        _ vehicles: [Vehicle],
        waves sizes: [Int] = [],
        mostFailed: Int? = nil,
        mostShare: Int? = nil,
        atLeast: Int = 0,
        aborts: Bool = false,
        beginning: Int = 1
    ) async throws {
        var waves: [Int] = []
        for (number, size) in sizes.enumerated() {
            waves += [Int](repeating: number, count: size)
        }
        var plan = FleetPlan(
            vehicles.enumerated().map { index, vehicle in
                FleetPlan.Vehicle(
                    vehicle.id,
                    vehicle.serial,
                    wave: index < waves.count ? waves[index] : max(sizes.count - 1, 0)
                )
            },
            waves: max(sizes.count, 1)
        )
        let failed =
            mostFailed.map(Amount.count)
            ?? mostShare.flatMap { Percent(hundredths: $0) }.map(Amount.percent)
        plan.gate = failed.map {
            PauseRule(failed: $0, atLeast: atLeast, action: aborts ? .abort : .pause)
        }
        for member in them.all {
            let found = try await member.fleet.enlist(
                plan,
                in: "city",
                beginning: beginning,
                as: member.holder
            )
            #expect(found?.wave == 0)
        }
    }

    @Test func `a pause within a soak takes nothing from a fleet's soak, check and question`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(2)
            try await enlist(them, all, waves: [1, 1])
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            try await settle(them[0], all[0], lease, .succeeded)
            let (north, south) = (them[0].fleet, them[1].fleet)
            let wave = try #require(try await north.endedWave(of: "city", beginning: 1))
            let (mine, other) = (them[0].holder, them[1].holder)
            let isOurs = try await north.takeCheck(of: "city", beginning: 1, after: 0, as: mine)
            #expect(isOurs)
            try them.ground.ask(
                "UPDATE yardmaster.rollout SET wave_ended = wave_ended - interval '1 h'"
            )
            #expect(try await south.hold("city", .paused, reason: "rain", by: "mia") == .done)
            #expect(try await south.resume("city", by: "mia") == .done)
            let after = try #require(try await north.endedWave(of: "city", beginning: 1))
            #expect(after.number == wave.number, "the next wave has begun")
            #expect(after.soaked >= .seconds(3_600), "the soak begins from the start")
            // The check goes on where it runs, and is not done twice.
            let isTheirs = try await south.takeCheck(of: "city", beginning: 1, after: 0, as: other)
            #expect(!isTheirs)
            // The question of the wave itself is answered by `resume`.
            try await north.stop("city", beginning: 1, after: 0, reason: "a person is to look")
            #expect(try await south.resume("city", by: "mia") == .done)
            #expect(try await south.rollout("city")?.wave == 1)
            #expect(try await south.rollout("city")?.waveEnded == nil)
        }
    }

    @Test func `a vehicle that the fleet's plan does not have gets no right`() async throws {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(3)
            try await enlist(them, [all[0]])
            #expect(try await claim(them[0], all[1]) == .unlisted)
            // Nor does a vehicle of the plan with a module that is not its own.
            let other = Vehicle(id: all[0].id, serial: all[2].serial)
            #expect(try await claim(them[1], other) == .unlisted)
            guard case .granted = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
        }
    }

    func claim(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        in beginning: Int = 1
    ) async throws -> FleetClaim {
        try await member.fleet.claim(
            LeaseWish(
                vehicle.serial,
                rollout: "city",
                vehicle: vehicle.id,
                entry: LeaseWish.Entry(beginning: beginning, isPaying: false)
            ),
            by: member.holder,
            terms: .standard
        )
    }

    func settle(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ lease: FleetLease,
        _ outcome: Outcome,
        in beginning: Int = 1
    ) async throws {
        var word = word(member, vehicle, lease, outcome, in: beginning)
        (word.attempted, word.failed) = (1, outcome == .failed ? 1 : 0)
        try await member.fleet.accept(word)
        // An answer that was lost: told once more, it counts once.
        try await member.fleet.accept(word)
    }

    private func word(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ lease: FleetLease,
        _ outcome: Outcome,
        in beginning: Int
    ) -> FleetWord {
        var word = FleetWord(
            .verdict,
            under: lease,
            of: member.holder,
            rollout: "city",
            beginning: beginning,
            vehicle: vehicle.id,
            run: 1
        )
        word.outcome = outcome.rawValue
        word.failure = outcome == .failed ? FailureClass.device.rawValue : nil
        word.sentence = outcome.rawValue
        return word
    }

    @Test(arguments: [1, 2, 5], [0, 3])
    func `a gate is never overshot, no matter who counts`(gateways: Int, most: Int) async throws {
        try await Members.with((0..<gateways).map { "g\($0)" }) { them in
            let all = try vehicles(20)
            try await enlist(them, all, mostFailed: most)
            var open = all
            var held: [(Members.Member, Vehicle, FleetLease)] = []
            var failed = 0
            var chance = SystemRandomNumberGenerator()
            turns: while true {
                var isStopped = false
                for member in them.all {
                    guard let vehicle = open.first else { break }
                    switch try await claim(member, vehicle) {
                    case .granted(let lease, _):
                        open.removeFirst()
                        held.append((member, vehicle, lease))
                    case .full(let count): #expect(count >= 1 && failed + count > most)
                    case .stopped(let hold):
                        #expect(hold.author == "gate" && hold.kind == .paused)
                        isStopped = true
                    case let other: Issue.record("\(other)")
                    }
                }
                // All of them together could not fail past the gate.
                #expect(failed + held.count <= most + 1)
                guard !held.isEmpty else {
                    #expect(isStopped)
                    break turns
                }
                let index = Int.random(in: held.indices, using: &chance)
                let (member, vehicle, lease) = held.remove(at: index)
                try await settle(member, vehicle, lease, .failed)
                failed += 1
            }
            #expect(failed == most + 1)
            let kept = try them.ground.server?.query(
                them.ground.database,
                "SELECT attempted, failed, hold_reason FROM yardmaster.rollout"
            )
            #expect(
                kept
                    == "\(failed)|\(failed)|the gate: \(failed) of \(failed) attempted have failed, "
                    + "at most \(most) may\n"
            )
            // A person has looked: it counts no more, on any gateway.
            #expect(try await them[0].fleet.resume("city", by: "mia") == .done)
            let next = try #require(open.first)
            guard case .granted = try await claim(them[gateways - 1], next) else {
                Issue.record("not resumed")
                return
            }
        }
    }

    @Test func `a share is looked at from enough attempts on, and what went well makes room`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(12)
            try await enlist(them, all, mostShare: 2_500, atLeast: 4, aborts: true)
            for (index, vehicle) in all.prefix(4).enumerated() {
                let member = them[index % 2]
                guard case .granted(let lease, _) = try await claim(member, vehicle) else {
                    Issue.record("not granted")
                    return
                }
                try await settle(member, vehicle, lease, .succeeded)
            }
            // One of five may fail, two of six may not: after the second one nobody may.
            guard case .granted(let lease, _) = try await claim(them[0], all[4]) else {
                Issue.record("not granted")
                return
            }
            guard case .granted(let last, _) = try await claim(them[1], all[5]) else {
                Issue.record("not granted")
                return
            }
            #expect(try await claim(them[1], all[6]) == .full(underWay: 2))
            try await settle(them[0], all[4], lease, .failed)
            try await settle(them[1], all[5], last, .failed)
            guard case .stopped(let hold) = try await claim(them[0], all[6]) else {
                Issue.record("begun past the gate")
                return
            }
            #expect(hold.kind == .aborted)
        }
    }

    @Test func `one whose gateway vanished keeps its place at the gate until it is taken over`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(3)
            try await enlist(them, all, mostFailed: 0)
            guard case .granted = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            #expect(try await claim(them[1], all[1]) == .full(underWay: 1))
            try them.forget()
            #expect(try await claim(them[1], all[1]) == .full(underWay: 1))
            guard case .granted(let lease, _) = try await claim(them[1], all[0]) else {
                Issue.record("not taken over")
                return
            }
            try await settle(them[1], all[0], lease, .succeeded)
            guard case .granted = try await claim(them[1], all[1]) else {
                Issue.record("no room")
                return
            }
            // What the other one would say now changes nothing.
            try await settle(them[0], all[0], FleetLease(serial: all[0].serial, epoch: 1), .failed)
            let state = try them.ground.server?.query(
                them.ground.database,
                "SELECT failed, hold FROM yardmaster.rollout"
            )
            #expect(state == "0|\n")
        }
    }

    @Test func `one that owes an update and counts nowhere keeps its place at the gate`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(3)
            try await enlist(them, all, mostFailed: 0)
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            try them.ground.ask(
                """
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                  target, total) VALUES ('a1', 'v1', 'city', 1, 'north', 'i', 'n', 't', 100)
                """
            )
            // It had to leave the module: whether that has failed is known when it is seen again.
            var left = word(them[0], all[0], lease, .failed, in: 1)
            left.failure = FailureClass.unreachable.rawValue
            try await them[0].fleet.accept(left)
            #expect(try await claim(them[1], all[1]) == .owing("v1"))
            // While somebody will settle it in this night, the others wait.
            try them.ground.ask(
                "UPDATE yardmaster.execution SET state = 'queued' WHERE vehicle = 'v1'"
            )
            #expect(try await claim(them[1], all[1]) == .full(underWay: 1))
            // What an earlier beginning has left says nothing about this one.
            try them.ground.ask("UPDATE yardmaster.debt SET begun = begun - interval '1 day'")
            guard case .granted = try await claim(them[1], all[1]) else {
                Issue.record("a debt from before keeps a place")
                return
            }
        }
    }

    @Test func `a rollout that two gateways begin again at once is begun again once`() async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(1)
            try await enlist(them, all)
            let plan = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
            for member in them.all {
                // Both have seen the first beginning.
                let (beginning, _) = try await member.fleet.enter(
                    "city",
                    plan: plan,
                    begins: true,
                    seen: 1,
                    as: member.holder
                )
                #expect(beginning == 2)
            }
            // No right is given for the beginning that is over.
            #expect(try await claim(them[0], all[0]) == .replaced)
        }
    }

    @Test func `a failure that is reported twice counts once against its vehicle`() async throws {
        try await Members.with(["north"]) { them in
            let all = try vehicles(1)
            try await enlist(them, all)
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            var word = word(them[0], all[0], lease, .failed, in: 0)
            word.release = "07"
            for _ in 0..<2 { try await them[0].fleet.accept(word) }
            let failures = try them.ground.server?.query(
                them.ground.database,
                "SELECT vehicle, release, count FROM yardmaster.failure"
            )
            #expect(failures == "v1|07|1\n")
        }
    }

    @Test func `a wave begins once, when all of the one before have ended`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(4)
            try await enlist(them, all, waves: [2, 2])
            #expect(try await claim(south, all[2]) == .early)
            guard case .granted(let first, _) = try await claim(north, all[0]) else {
                Issue.record("not granted")
                return
            }
            try await settle(north, all[0], first, .succeeded)
            guard case .ended(let end) = try await claim(south, all[0]) else {
                Issue.record("done twice")
                return
            }
            #expect(end.outcome == .succeeded && end.gateway == "north")
            // Nobody has ended it, and one of the two has not listened for it.
            #expect(try await north.fleet.endedWave(of: "city", beginning: 1) == nil)
            try await north.leave(all[1].id)
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
            try await south.leave(all[1].id)
            let wave = try #require(try await north.fleet.endedWave(of: "city", beginning: 1))
            #expect(wave.number == 0 && wave.tally.members == 2 && wave.tally.reached == 1)
            #expect(wave.tally.attempted == 1 && wave.tally.succeeded == 1 && !wave.isLast)
            #expect(try await north.fleet.advance("city", beginning: 1, from: wave))
            #expect(try await !south.fleet.advance("city", beginning: 1, from: wave))
            let glance = try await south.glance()
            #expect(glance.rollout.wave == 1 && !glance.rollout.isFinished)
            let news = try await south.news()
            #expect(news.opened.isEmpty)
            #expect(news.ended.map(\.outcome) == [.succeeded, .unreachable])
            guard case .granted(let lease, _) = try await claim(south, all[2]) else {
                Issue.record("its wave is on")
                return
            }
            // One that gives back without a verdict leaves it to the others.
            #expect(try await south.fleet.release(lease, of: south.holder))
            for vehicle in all.suffix(2) {
                guard case .granted(let lease, _) = try await claim(north, vehicle) else {
                    Issue.record("not granted")
                    return
                }
                try await settle(north, vehicle, lease, .succeeded)
            }
            let last = try #require(try await south.fleet.endedWave(of: "city", beginning: 1))
            #expect(last.isLast)
            #expect(try await south.fleet.advance("city", beginning: 1, from: last))
            #expect(try await north.fleet.rollout("city")?.isFinished == true)
        }
    }

    @Test(arguments: [false, true])
    func `a vehicle whose gateway vanished and that nobody else hears ends, too`(owes: Bool)
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(1)
            try await enlist(them, all)
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            if owes {
                try them.ground.ask(
                    """
                    INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                      target, total) VALUES ('a1', 'v1', 'city', 1, 'north', 'i', 'n', 't', 1)
                    """
                )
            }
            try them.ground.ask(
                "UPDATE yardmaster.gateway SET heard = heard - interval '1 h' WHERE name = 'north'"
            )
            let south = them[1]
            try await south.leave(all[0].id)
            // Its right may still be in use.
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
            try them.forget()
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) != nil)
            let news = try await south.news()
            #expect(news.ended.map(\.outcome) == [owes ? .failed : .unreachable])
            // What the vanished gateway says later changes nothing.
            try await settle(them[0], all[0], lease, .failed)
            #expect(try await south.fleet.rollout("city")?.failed == (owes ? 1 : 0))
        }
    }

    @Test func `a gateway that steps aside or vanished is not waited for`() async throws {
        try await Members.with(["north", "south", "west"]) { them in
            let all = try vehicles(1)
            try await enlist(them, all)
            try await them[0].leave(all[0].id)
            #expect(try await them[0].fleet.endedWave(of: "city", beginning: 1) == nil)
            try await them[1].fleet.stepAside(them[1].holder)
            try them.ground.ask(
                "UPDATE yardmaster.gateway SET heard = heard - interval '1 h' WHERE name = 'west'"
            )
            #expect(try await them[0].fleet.endedWave(of: "city", beginning: 1)?.tally.reached == 0)
            // One of them is asked to end its part, and no other.
            #expect(try await them[0].fleet.drain("south"))
            #expect(try await !them[0].fleet.drain("nobody"))
            #expect(try await them[1].glance().mustDrain)
            #expect(try await !them[0].glance().mustDrain)
            // What nobody heard is tried again when somebody wants it.
            let said = try await them[0].fleet.retry(nil, among: all.map(\.id), by: "mia")
            #expect(said?.vehicles == [all[0].id])
            guard case .granted = try await claim(them[0], all[0]) else {
                Issue.record("not opened")
                return
            }
        }
    }
}
