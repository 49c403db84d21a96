import Base
import Operations
import PrivatePostgres
import Rollout
import Store
import Testing

/// What a run does to a rollout of the fleet by entering it.
extension GateTests {
    private func standing(_ them: Members) throws -> String {
        try them.ground.ask(
            """
            SELECT state FROM yardmaster.rollout;
            SELECT vehicle, state, outcome FROM yardmaster.execution ORDER BY vehicle
            """
        )
    }

    private func plan(_ all: [Vehicle], only: [Vehicle]? = nil) -> FleetPlan {
        var plan = FleetPlan(all.map { .init($0.id, $0.serial, wave: 0) }, waves: 1)
        plan.only = only?.map(\.id)
        return plan
    }

    private func end(_ them: Members, _ outcomes: [(Vehicle, Outcome)]) async throws {
        for (vehicle, outcome) in outcomes {
            guard case .granted(let lease, _) = try await claim(them[0], vehicle) else {
                Issue.record("\(vehicle.id) is not granted")
                return
            }
            try await settle(them[0], vehicle, lease, outcome)
        }
    }

    @Test func `a run of some vehicles queues only these and opens nothing finished`()
        async throws
    {
        try await Members.with(["north"]) { them in
            let (all, north) = (try vehicles(3), them[0])
            try await enlist(them, all)
            try await end(
                them,
                [(all[0], .succeeded), (all[1], .failed), (all[2], .unreachable)]
            )
            let wave = try #require(try await north.fleet.endedWave(of: "city", beginning: 1))
            #expect(try await north.fleet.advance("city", beginning: 1, from: wave))
            let own = [all[0], all[1]]
            _ = try await north.fleet.enlist(
                plan(all, only: own),
                in: "city",
                beginning: 1,
                as: north.holder
            )
            #expect(
                try standing(them)
                    == "finished\nv1|ended|succeeded\nv2|queued|failed\nv3|ended|unreachable\n"
            )
            try await end(them, [(all[1], .succeeded)])
            #expect(
                try standing(them)
                    == "finished\nv1|ended|succeeded\nv2|ended|succeeded\nv3|ended|unreachable\n"
            )
            // A run of all goes on with what is left.
            try await enlist(them, all)
            #expect(
                try standing(them)
                    == "running\nv1|ended|succeeded\nv2|ended|succeeded\nv3|queued|unreachable\n"
            )
        }
    }

    @Test func `nobody begins a rollout over a pause, or over a hold that it does not know`()
        async throws
    {
        try await Members.with(["north", "south"], plan: .sample()) { them in
            let north = them[0]
            let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
            func begin(under hold: Hold.Kind?) async throws -> Int {
                try await north.fleet.enter(
                    "city",
                    plan: digest,
                    begins: true,
                    seen: 1,
                    under: hold,
                    as: north.holder
                ).beginning
            }
            #expect(
                try await them[1].fleet.hold("city", .paused, reason: "rain", by: "mia") == .done
            )
            #expect(try await begin(under: nil) == 1)
            #expect(try await begin(under: .paused) == 1)
            #expect(try await north.fleet.rollout("city")?.hold?.reason == "rain")
            #expect(
                try await them[1].fleet.hold("city", .aborted, reason: "snow", by: "mia") == .done
            )
            #expect(try await begin(under: nil) == 1)
            #expect(try await begin(under: .aborted) == 2)
            #expect(try await north.fleet.rollout("city")?.hold == nil)
        }
    }

    @Test func `a vehicle of the wave that is done late has its soak time`() async throws {
        try await Members.with(["north", "south"]) { them in
            let (all, north) = (try vehicles(2), them[0])
            try await enlist(them, all, waves: [1, 1])
            try await end(them, [(all[0], .unreachable)])
            let wave = try #require(try await north.fleet.endedWave(of: "city", beginning: 1))
            func age() throws {
                try them.ground.ask(
                    "UPDATE yardmaster.rollout SET wave_ended = wave_ended - interval '1 h'"
                )
            }
            try age()
            // The next run queues it again, and the wave of before cannot be ended meanwhile.
            try await enlist(them, all, waves: [1, 1])
            #expect(try await !north.fleet.advance("city", beginning: 1, from: wave))
            try await end(them, [(all[0], .failed)])
            let after = try #require(try await north.fleet.endedWave(of: "city", beginning: 1))
            #expect(after.soaked < .seconds(3_600), "it has none")
            // So does one that a person wants to be tried again.
            try age()
            let again = try await them[1].fleet.retry("city", among: [all[0].id], by: "mia")
            try #require(again?.vehicles == [all[0].id])
            try await end(them, [(all[0], .succeeded)])
            let last = try #require(try await north.fleet.endedWave(of: "city", beginning: 1))
            #expect(last.soaked < .seconds(3_600), "it has none")
        }
    }

    @Test func `a list with another id for a module finds what is open on the vehicle`()
        async throws
    {
        try await Members.with(["north"]) { them in
            let (all, north) = (try vehicles(2), them[0])
            try await enlist(them, all)
            let other = try #require(VehicleID("v1-new"))
            let renamed = [
                ListedVehicle(other, all[0].serial), ListedVehicle(all[1].id, all[1].serial),
            ]
            #expect(try await north.fleet.changes(in: renamed) == [])
            try await north.fleet.inhibit([all[0].id], reason: "workshop", for: nil, by: "mia")
            let change = ListChange.elsewhere(
                renamed[0],
                known: all[0].id,
                open: "v1 is inhibited: workshop"
            )
            #expect(try await north.fleet.changes(in: renamed) == [change])
            // The list as it was, and one in which the vehicle has another module.
            let same = all.map { ListedVehicle($0.id, $0.serial) }
            let moved = [
                ListedVehicle(all[0].id, all[1].serial), ListedVehicle(other, all[0].serial),
            ]
            for list in [same, moved] { #expect(try await north.fleet.changes(in: list) == []) }
            _ = try await north.fleet.uninhibit([all[0].id], by: "mia")
            try them.ground.ask(
                """
                INSERT INTO yardmaster.owed (rollout, vehicle, digest, ordinal, epoch, gateway, action)
                VALUES ('city', 'v1', 'd', 0, 1, 'north', 'command lock')
                """
            )
            let owed = ListChange.elsewhere(
                renamed[0],
                known: all[0].id,
                open: "v1 owes `command lock`"
            )
            #expect(try await north.fleet.changes(in: renamed) == [owed])
        }
    }

    @Test func `a server whose clock is put forward grants nothing that somebody still uses`()
        async throws
    {
        try await Members.with(["north", "south"], wave: 0, isTimed: true) { them in
            let (all, north, south) = (try vehicles(2), them[0], them[1])
            try await enlist(them, all)
            guard case .granted = try await claim(north, all[0]) else {
                Issue.record("not granted")
                return
            }
            await south.rights.giveSign()
            try them.ground.ask(
                """
                CREATE OR REPLACE FUNCTION yardmaster.clock() RETURNS timestamptz
                LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp() + make_interval(hours => 1)'
                """
            )
            let open = "SELECT claims_after <= yardmaster.clock() FROM yardmaster.history"
            try #require(try them.ground.ask(open) == "t\n")
            let answer = try await south.rights.claim(
                all[0].serial,
                for: all[0].id,
                paying: false,
                at: WallTime(milliseconds: 0),
                unless: StopSignal()
            )
            guard case .unknown = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(try them.ground.ask(open) == "f\n")
            #expect(them.ground.words.contains { $0.contains("server was put forward by ") })
            #expect(
                try them.ground.ask("SELECT epoch, holder FROM yardmaster.module")
                    == "1|\(north.holder.instance)\n"
            )
        }
    }
}
