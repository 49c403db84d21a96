import Base
import Operations
import Rollout
import Store
import Testing

/// How vehicles end that all gateways have left, and that no gateway waits for them.
extension GateTests {
    @Test func `a vehicle that all have left ends by itself, as one of them says`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(4)
            try await enlist(them, all)
            try await north.leave(all[0].id, .deferred, nil, "inhibited: it has a flat tyre")
            try await north.leave(all[1].id, .failed, nil, "in quarantine")
            try await north.leave(all[2].id)
            #expect(try await north.fleet.endedWave(of: "city", beginning: 1) == nil)
            #expect(try await south.news().ended == [])
            for vehicle in all.prefix(3) { try await south.leave(vehicle.id) }
            // The fourth has not been begun, and the other three end without it.
            #expect(try await north.fleet.endedWave(of: "city", beginning: 1) == nil)
            let ended = try await south.news().ended
            #expect(ended.map(\.outcome) == [.deferred, .failed, .unreachable])
            #expect(ended.map(\.gateway) == ["north", "north", ""])
            #expect(ended[0].sentence == "inhibited: it has a flat tyre")
            // Nothing was done on them, so the gate does not count them.
            #expect(try await north.fleet.rollout("city")?.attempted == 0)
        }
    }

    @Test func `what is in doubt or owed weighs more than what a gateway says`() async throws {
        try await Members.with(["north"]) { them in
            let all = try vehicles(3)
            try await enlist(them, all)
            try them.ground.ask(
                """
                INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action,
                  epoch, instance, gateway, begun)
                VALUES ('village', 1, 'v1', 'd', 0, 'a1', 'locate', 1, gen_random_uuid(), 'west', now());
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                  target, total) VALUES ('a2', 'v2', 'village', 1, 'west', 'i', 'n', 't', 1);
                """
            )
            try await them[0].leave(all[0].id, .deferred, nil, "inhibited")
            try await them[0].leave(all[1].id, .deferred, nil, "inhibited")
            try await them[0].leave(all[2].id, .succeeded, nil, "done")
            #expect(try await them[0].fleet.endedWave(of: "city", beginning: 1) != nil)
            let ended = try await them[0].news().ended
            #expect(ended.map(\.outcome) == [.inDoubt, .failed, .succeeded])
            #expect(ended.map(\.failure) == [.inDoubt, .unreachable, nil])
            // Another rollout began it, so the gate of this one does not count it.
            #expect(try await them[0].fleet.rollout("city")?.failed == 0)
        }
    }

    @Test(arguments: [false, true])
    func `one that was lost gives its place at the gate back, and counts when it was begun`(
        isBegun: Bool
    ) async throws {
        try await Members.with(["north", "south"]) { them in
            let south = them[1]
            let all = try vehicles(2)
            try await enlist(them, all, mostFailed: 0)
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            if isBegun {
                let act = FleetAct(
                    Act(
                        Intent(
                            execution: 0,
                            run: 1,
                            rollout: "city",
                            vehicle: all[0].id,
                            step: StepKey(nil),
                            place: 0,
                            effect: .once,
                            description: "locate",
                            begun: WallTime(milliseconds: 0)
                        )
                    ),
                    under: lease,
                    beginning: 1,
                    isPaying: false
                )
                #expect(try await them[0].fleet.intend(act, of: them[0].holder) == .granted)
            }
            try them.ground.ask(
                "UPDATE yardmaster.gateway SET heard = heard - interval '1 h' WHERE name = 'north'"
            )
            try await south.leave(all[0].id)
            // Its right may still be in use, and the other vehicle waits for its place.
            #expect(try await claim(south, all[1]) == .full(underWay: 1))
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
            #expect(try await south.news().ended == [])
            try them.forget()
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
            let ended = try await south.news().ended
            #expect(ended.map(\.outcome) == [isBegun ? .inDoubt : .unreachable])
            switch try await claim(south, all[1]) {
            case .granted: #expect(!isBegun)
            case .stopped(let hold): #expect(isBegun && hold.author == "gate")
            default: Issue.record("it waits for ever")
            }
            #expect(try await south.fleet.rollout("city")?.failed == (isBegun ? 1 : 0))
        }
    }

    @Test func `a verdict that came too late is not waited for`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(1)
            try await enlist(them, all)
            guard case .granted(let lease, _) = try await claim(north, all[0]) else {
                Issue.record("not granted")
                return
            }
            try them.forget()
            guard case .granted(let other, _) = try await claim(south, all[0]) else {
                Issue.record("not taken over")
                return
            }
            try await settle(north, all[0], lease, .failed)
            // It is an observation while another gateway has the right.
            #expect(try await south.news().ended == [])
            #expect(try await south.fleet.release(other, of: south.holder))
            try await south.leave(all[0].id)
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) != nil)
            let ended = try await south.news().ended
            #expect(ended.map(\.outcome) == [.failed] && ended.map(\.gateway) == ["north"])
        }
    }

    /// A fail-over that another gateway has written down, and one that nobody has.
    @Test(arguments: [
        "claims_after = yardmaster.clock() + interval '160 s'", "timeline = '00000000'",
    ])
    func `a verdict under a right that was lost ends its vehicle, though an earlier right is there`(
        change: String
    ) async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(2)
            try await enlist(them, all)
            var lost: [FleetLease] = []
            for vehicle in all {
                guard case .granted(let lease, _) = try await claim(north, vehicle) else {
                    Issue.record("not granted")
                    return
                }
                lost.append(FleetLease(serial: lease.serial, epoch: lease.epoch + 1))
            }
            // Who has a right of this history keeps it, whatever others say.
            try await settle(south, all[0], lost[0], .succeeded)
            #expect(try await north.news().ended == [])
            try them.ground.ask("UPDATE yardmaster.history SET \(change)")
            try await settle(south, all[1], lost[1], .succeeded)
            #expect(try await north.news().ended.map(\.vehicle) == [all[1].id])
            #expect(try await north.fleet.rollout("city")?.attempted == 1)
        }
    }

    @Test(arguments: [Outcome.succeeded, .failed, .deferred])
    func `who has not heard a vehicle is kept only while somebody may ask`(
        outcome: Outcome
    ) async throws {
        try await Members.with(["north", "south"]) { them in
            let all = try vehicles(2)
            try await enlist(them, all)
            for vehicle in all { try await them[1].leave(vehicle.id) }
            guard case .granted(let lease, _) = try await claim(them[0], all[0]) else {
                Issue.record("not granted")
                return
            }
            try await settle(them[0], all[0], lease, outcome)
            let missed = try await them[0].fleet.rows(
                "read",
                "SELECT vehicle FROM yardmaster.missed ORDER BY 1"
            ).compactMap { $0.text(0) }
            // A gateway whose window opens takes up what was put off, but not what it does not hear.
            #expect(missed == (outcome == .deferred ? all : [all[1]]).map(\.id.text))
        }
    }

    @Test func `one that was left is taken up again when a person says so`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(2)
            try await enlist(them, all)
            try await north.leave(all[0].id, .failed, nil, "in quarantine")
            let before = try await north.glance()
            #expect(try await north.news().opened == [])
            let answer = try await south.fleet.retry(nil, among: [all[0].id], by: "mia")
            #expect(answer?.vehicles == [all[0].id])
            let news = try await north.news(since: before.changes)
            #expect(news.opened == [all[0].id])
            try await south.leave(all[0].id)
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
        }
    }

    @Test func `a known failure does not keep its wave from ending on any gateway`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(3)
            try await enlist(them, all, waves: [1, 1, 1])
            guard case .granted(let lease, _) = try await claim(north, all[0]) else {
                Issue.record("not granted")
                return
            }
            try await settle(north, all[0], lease, .failed)
            for member in them.all { try await member.fleet.signOff(member.holder) }
            // The first gateway of the next night queues it again, after the other vehicles.
            _ = try await north.fleet.signIn(
                north.holder,
                program: "test",
                at: WallTime(milliseconds: 0)
            )
            try await enlist(them, all, waves: [1, 1, 1])
            #expect(try await claim(south, all[0]) == .early)
            let wave = try #require(try await south.fleet.endedWave(of: "city", beginning: 1))
            #expect(try await south.fleet.advance("city", beginning: 1, from: wave))
            guard case .granted = try await claim(south, all[1]) else {
                Issue.record("its wave is on")
                return
            }
        }
    }

    @Test func `nobody waits for a gateway whose window is not open`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (north, south) = (them[0], them[1])
            let all = try vehicles(1)
            try await enlist(them, all)
            await north.rights.stepAside(forGood: false)
            try await south.leave(all[0].id)
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) != nil)
            #expect(try await south.news().ended.map(\.outcome) == [.unreachable])
            // Its window opens: what was not heard without it is queued again.
            await north.rights.comeBack()
            #expect(try await south.fleet.endedWave(of: "city", beginning: 1) == nil)
            #expect(try await north.news().opened == [all[0].id])
            // A gateway does not take up again what it has left itself.
            #expect(try await south.news().opened == [])
        }
    }

    @Test func `a check whose gateway vanished is taken over`() async throws {
        try await Members.with(["north", "south"]) { them in
            try await enlist(them, try vehicles(2), waves: [1, 1])
            func take(_ member: Members.Member) async throws -> Bool {
                try await member.fleet.takeCheck(
                    of: "city",
                    beginning: 1,
                    after: 0,
                    as: member.holder
                )
            }
            #expect(try await take(them[0]))
            #expect(try await !take(them[1]))
            try them.ground.ask(
                "UPDATE yardmaster.gateway SET heard = heard - interval '3 min' WHERE name = 'north'"
            )
            #expect(try await take(them[1]))
            #expect(try await !take(them[0]))
        }
    }

    @Test func `a gateway that waits asks the database once in five seconds`() async throws {
        try await Members.with(["north", "south"], wave: 0) { them in
            let (all, north, ground) = (try vehicles(3), them[0], them.ground)
            try await enlist(them, all)
            guard case .granted = try await claim(them[1], all[0]) else {
                Issue.record("not granted")
                return
            }
            try await north.rights.begin()
            let upkeep = try #require(north.rights.upkeep)
            ground.asked = [:]
            let (clock, began, seconds) = (them.clock, them.clock.now, 600)
            clock.whenWaiting {
                // As a run does it that waits for the other gateway, beside the upkeep of its rights.
                let second = Int(began.duration(to: clock.now).nanoseconds / 1_000_000_000)
                guard second < seconds else { return withUnsafeCurrentTask { $0?.cancel() } }
                guard second.isMultiple(of: 2) else { return }
                do {
                    try await north.rights.follow(waitingFor: [all[0].id], counts: true)
                    if let news = try await north.rights.look() {
                        #expect(news.busy == [all[0].id] && news.underWay == 1)
                    }
                } catch { Issue.record(error) }
            }
            await withDiscardingTaskGroup { group in group.addTask { await upkeep() } }
            let asked = ground.asked
            #expect(asked["look at the rollout"] == seconds / 6, "\(asked)")
            let signs = asked["give a sign of life"] ?? 0
            #expect((seconds / 15...seconds / 15 + 1).contains(signs), "\(asked)")
            // The rest is for the first look, for the one who looks at the wave for all, and for the end.
            let rest = asked.values.reduce(0, +) - seconds / 6 - signs
            #expect(rest <= 12, "\(asked)")
        }
    }
}
