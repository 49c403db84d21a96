import Base
import Operations
import PrivatePostgres
import Rollout
import Store
import Testing

/// Rollouts that are begun again and again, and gateways of which the database has lost something.
extension GateTests {
    private func plan(_ byte: UInt8) throws -> SHA256Digest {
        try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
    }

    private func ask(_ them: Members, _ statement: String) throws -> String? {
        try them.ground.server?.query(them.ground.database, statement)
    }

    private func work(
        _ member: Members.Member,
        _ vehicle: Vehicle,
        _ outcome: Outcome,
        in beginning: Int
    ) async throws {
        guard case .granted(let lease, _) = try await claim(member, vehicle, in: beginning) else {
            Issue.record("\(vehicle.id) is not granted")
            return
        }
        try await settle(member, vehicle, lease, outcome, in: beginning)
    }

    private func begin(_ them: Members, after seen: Int, _ plan: SHA256Digest) async throws {
        for member in them.all {
            let (beginning, _) = try await member.fleet.enter(
                "city",
                plan: plan,
                begins: true,
                seen: seen,
                as: member.holder
            )
            #expect(beginning == seen + 1)
        }
    }

    @Test func `each beginning begins at the first wave, with a gate that counts from zero`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            let (all, north) = (try vehicles(4), them[0])
            let counters =
                "SELECT wave, wave_ended, attempted, failed, checker FROM yardmaster.rollout"
            func advance(_ beginning: Int) async throws {
                let wave = try #require(
                    try await north.fleet.endedWave(of: "city", beginning: beginning)
                )
                #expect(try await north.fleet.advance("city", beginning: beginning, from: wave))
            }
            try await enlist(them, all, waves: [1, 3], mostFailed: 1)
            try await work(north, all[0], .succeeded, in: 1)
            try await advance(1)
            try await work(north, all[1], .failed, in: 1)
            for vehicle in all[2...] { try await work(north, vehicle, .succeeded, in: 1) }
            try await advance(1)

            // New firmware under the same name.
            try await begin(them, after: 1, try plan(8))
            #expect(try ask(them, counters) == "0||0|0|\n")
            try await enlist(them, all, waves: [1, 3], mostFailed: 1, beginning: 2)
            #expect(try await claim(north, all[1], in: 2) == .early)
            // The failure of the beginning before does not count, and its successes do not either.
            try await work(north, all[0], .failed, in: 2)
            #expect(try await them[1].fleet.rollout("city")?.hold == nil)
            _ = try #require(try await north.fleet.endedWave(of: "city", beginning: 2))
            #expect(
                try await north.fleet.takeCheck(
                    of: "city",
                    beginning: 2,
                    after: 0,
                    as: north.holder
                )
            )

            // Also while a wave soaks and is checked, and with the same plan.
            try await begin(them, after: 2, try plan(8))
            #expect(try ask(them, counters) == "0||0|0|\n")
            try await enlist(them, all, waves: [1, 3], mostFailed: 1, beginning: 3)
            #expect(try await claim(them[1], all[3], in: 3) == .early)
            #expect(try await north.fleet.endedWave(of: "city", beginning: 3) == nil)
        }
    }

    @Test(arguments: [
        "DELETE FROM yardmaster.gateway", "UPDATE yardmaster.gateway SET rollout = NULL",
    ])
    func `a sign of life brings back what the database has lost, and the wave ends`(loss: String)
        async throws
    {
        try await Members.with(["north"], wave: 0) { them in
            let (all, north) = (try vehicles(2), them[0])
            try await enlist(them, all, waves: [1, 1])
            try await work(north, all[0], .succeeded, in: 1)
            try them.ground.ask(loss)
            #expect(try await north.fleet.endedWave(of: "city", beginning: 1) == nil)
            await north.rights.giveSign()
            #expect(try await north.fleet.endedWave(of: "city", beginning: 1) != nil)
            let place = "SELECT name, rollout, beginning, draining, gone FROM yardmaster.gateway"
            #expect(try ask(them, place) == "north|city|1||\n")
            // One whose window is closed is not waited for afterwards either.
            await north.rights.stepAside(forGood: false)
            try them.ground.ask(loss)
            await north.rights.giveSign()
            #expect(try ask(them, "SELECT draining IS NULL FROM yardmaster.gateway") == "f\n")
        }
    }

    @Test func `what a fail-over has made open again is open for a run that knew its end`()
        async throws
    {
        try await Members.with(["north", "south"], wave: 0) { them in
            let (all, north) = (try vehicles(2), them[0])
            try await enlist(them, all)
            try await work(them[1], all[0], .succeeded, in: 1)
            try await north.rights.begin()
            #expect(try await north.rights.look()?.ended.map(\.vehicle) == [all[0].id])
            try them.ground.ask(
                """
                UPDATE yardmaster.execution SET state = 'queued', outcome = NULL, changed = 0;
                UPDATE yardmaster.rollout SET changes = 0;
                UPDATE yardmaster.history SET generation = generation + 1
                """
            )
            try await north.rights.begin()
            north.rights.looksAgain(atAll: false)
            let news = try await north.rights.look()
            #expect(news?.ended == [])
            #expect(news?.opened.contains(all[0].id) == true)
        }
    }

    @Test func `a run whose name another machine has taken begins nothing more and says so`()
        async throws
    {
        try await Members.with(["north"], wave: 0) { them in
            let (all, north) = (try vehicles(1), them[0])
            try await enlist(them, all)
            // The fail-over lost its sign-in, and its machine was cloned.
            try them.ground.ask("DELETE FROM yardmaster.gateway")
            let other = FleetHolder(gateway: "north", random: [UInt8](repeating: 9, count: 16))
            let answer = try await north.fleet.signIn(
                other,
                program: "test",
                at: WallTime(milliseconds: 0)
            )
            #expect(answer == .done)
            for _ in 0..<2 { await north.rights.giveSign() }
            #expect(them.ground.words.count { $0.contains("another machine is at work") } == 1)
            let news = try await north.rights.look()
            #expect(news?.drain == "another machine is at work in the fleet as north")
            let claim = try await north.rights.claim(
                all[0].serial,
                for: all[0].id,
                paying: false,
                at: WallTime(milliseconds: 0),
                unless: StopSignal()
            )
            guard case .unknown = claim else {
                Issue.record("\(claim)")
                return
            }
            #expect(try ask(them, "SELECT count(*) FROM yardmaster.module") == "0\n")
        }
    }
}
