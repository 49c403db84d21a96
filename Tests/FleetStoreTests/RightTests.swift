import Base
import Operations
import PrivatePostgres
import Rollout
import Store
import Synchronization
import Testing

/// What holds of the right to a module, wherever it comes from.
@Suite struct RightTests {
    private let now = WallTime(milliseconds: 0)

    private func serial(_ text: String = "a1") throws -> Serial { try #require(Serial(text)) }
    private func vehicle(_ text: String) throws -> VehicleID { try #require(VehicleID(text)) }

    private func claim(
        _ rights: any Coordinator,
        _ vehicle: String,
        paying: Bool = false,
        unless stop: StopSignal = StopSignal()
    ) async throws -> Claim {
        try await rights.claim(
            try serial(),
            for: try self.vehicle(vehicle),
            paying: paying,
            at: now,
            unless: stop
        )
    }

    private func lease(_ claim: Claim) throws -> Lease {
        guard case .granted(let lease) = claim else {
            throw Unexpected(description: "\(claim)")
        }
        return lease
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    @Test(arguments: Store.present)
    func `a module is one execution's, and each grant has a later epoch`(store: Store) async throws
    {
        try await store.withRights { rights, _, _ in
            let bus = try lease(try await claim(rights, "bus"))
            #expect(bus.epoch == 1)
            #expect(try await claim(rights, "bus") == .granted(bus))
            guard case .held = try await claim(rights, "tram") else {
                Issue.record("two executions have it")
                return
            }
            try await rights.release(bus, with: nil)
            let tram = try lease(try await claim(rights, "tram"))
            #expect(tram.epoch == 2)
            // What was granted before gives nothing back.
            try await rights.release(bus, with: nil)
            guard case .held = try await claim(rights, "bus") else {
                Issue.record("an old lease gave back a new one")
                return
            }
            try await rights.release(tram, with: nil)
            try await rights.release(tram, with: nil)
            #expect(try lease(try await claim(rights, "bus")).epoch == 3)
        }
    }

    @Test(arguments: Store.present)
    func `what people have set is obeyed before anybody is asked for a right`(store: Store)
        async throws
    {
        try await store.withRights { rights, journal, _ in
            let hold = Hold(.paused, "city", reason: "rain", author: "Mia", at: now)
            _ = try await journal.set(hold, isAtWork: false)
            guard case .stopped = try await claim(rights, "bus") else {
                Issue.record("begun under a hold")
                return
            }
            // What is owed may be paid.
            let paying = try lease(try await claim(rights, "bus", paying: true))
            try await rights.release(paying, with: nil)
            try await journal.inhibit(
                Inhibit(try vehicle("bus"), reason: "in the workshop", expires: nil, at: now)
            )
            guard case .inhibited = try await claim(rights, "bus", paying: true) else {
                Issue.record("touched while it was to be left alone")
                return
            }
        }
    }

    // MARK: Rights with an end

    private static let hasServer = PrivatePostgres.absence == nil

    @Test(.enabled(if: hasServer, "PostgreSQL is not installed"))
    func `work is to end by the gateway's own clock, though nobody says so`() async throws {
        let clock = StoodClock()
        try await Store.postgres.withRights(clock) { rights, _, _ in
            let fence = try #require(rights.fence(of: try serial()))
            let stop = StopSignal(fence: fence)
            #expect(!stop.isRequested)
            let bus = try lease(try await claim(rights, "bus", unless: stop))
            clock.pass(.seconds(33))
            #expect(!stop.isRequested)
            clock.pass(.seconds(2))
            #expect(stop.isRequested && stop.isFenced)
            // A new one, with the same right, has all its time.
            try await rights.release(bus, with: nil)
            #expect(!stop.isRequested)
        }
    }

    @Test(.enabled(if: hasServer, "PostgreSQL is not installed"))
    func `rights are kept alive, and a right that is gone cuts its work`() async throws {
        let clock = StoodClock()
        try await Store.postgres.withRights(clock) { rights, _, ground in
            let fence = try #require(rights.fence(of: try serial()))
            _ = try lease(try await claim(rights, "bus"))
            let upkeep = try #require(rights.upkeep)
            await withDiscardingTaskGroup { group in
                group.addTask { await upkeep() }
                await fence.guarding {
                    // Hours by the gateway's clock: it is renewed for as long as the server agrees.
                    let begin = clock.now
                    while begin.duration(to: clock.now) < .seconds(7_200), !Task.isCancelled {
                        await clock.sleep(for: .seconds(1), "an hour or two")
                    }
                    #expect(!Task.isCancelled)
                    // Another holder, as after a take-over.
                    do {
                        try ground.ask(
                            "UPDATE yardmaster.module SET holder = gen_random_uuid(), epoch = 9"
                        )
                    } catch { Issue.record(error) }
                    while !Task.isCancelled {
                        await clock.sleep(for: .seconds(1), "the cut")
                    }
                }
                group.cancelAll()
            }
            #expect(fence.isClosing)
            #expect(ground.words == ["the right to module a1 is over: its link is closed"])
        }
    }

    @Test(.enabled(if: hasServer, "PostgreSQL is not installed"))
    func `a database that may not grant is waited for, and that is said once`() async throws {
        let clock = StoodClock()
        try await Store.postgres.withRights(clock) { rights, _, ground in
            try ground.ask(
                "UPDATE yardmaster.history SET claims_after = clock_timestamp() + interval '1 h'"
            )
            guard case .unknown(let words) = try await claim(rights, "bus") else {
                Issue.record("granted after a fail-over")
                return
            }
            #expect(words.contains("grants no rights for a while"))
            #expect(clock.now >= Moment(nanoseconds: 30 * 60 * 1_000_000_000))
            #expect(ground.words.count == 1)
            // A sign of life is answered all the while: that is no news.
            await (try #require(rights as? FleetCoordinator)).giveSign()
            let waited = clock.now
            guard case .unknown = try await claim(rights, "bus") else {
                Issue.record("granted after a fail-over")
                return
            }
            // Not every vehicle waits for half an hour: a run of many would not end.
            #expect(waited.duration(to: clock.now) <= .seconds(1))
            #expect(ground.words.count == 1, "\(ground.words)")
            // Anyone who ends the run does not wait for it.
            let stop = StopSignal()
            stop.request()
            let before = clock.now
            guard case .unknown = try await claim(rights, "bus", unless: stop) else {
                Issue.record("granted after a fail-over")
                return
            }
            #expect(before.duration(to: clock.now) <= .seconds(1))
            // What was not granted is not kept by this machine's journal either.
            try ground.ask("UPDATE yardmaster.history SET claims_after = clock_timestamp()")
            _ = try lease(try await claim(rights, "tram"))
            #expect(ground.words.dropFirst() == ["the fleet's database grants rights again"])
        }
    }

    @Test(.enabled(if: hasServer, "PostgreSQL is not installed"))
    func `an epoch that a gateway remembers is not granted again`() async throws {
        try await Store.postgres.withRights { rights, journal, ground in
            for epoch in 1...3 {
                let bus = try lease(try await claim(rights, "bus"))
                #expect(bus.epoch == epoch)
                try await rights.release(bus, with: nil)
            }
            let known = try await journal.fleetEpoch(of: try serial())
            #expect(known?.epoch == 3 && known?.generation == 1)
            // The server's disk as it was two grants ago, which leaves no other trace.
            try ground.ask(
                """
                ALTER TABLE yardmaster.module DISABLE TRIGGER keep_epoch;
                UPDATE yardmaster.module SET epoch = 1;
                ALTER TABLE yardmaster.module ENABLE TRIGGER keep_epoch;
                """
            )
            guard case .unknown(let words) = try await claim(rights, "bus") else {
                Issue.record("granted twice")
                return
            }
            #expect(words.contains("went back in time: it knows epoch 1"))
            // As a person confirms it, and the wait after that.
            try ground.ask(
                "UPDATE yardmaster.history SET generation = 2, claims_after = clock_timestamp()"
            )
            #expect(try lease(try await claim(rights, "bus")).epoch == 4)
            #expect(try await journal.fleetGeneration() == 2)
        }
    }
}

/// A run at its beginning, when no server answers.
@Suite struct SignInPatienceTests {
    private let silence = FleetError(.lost, "sign in", "the database system is starting up")

    @Test func `a run that begins while the server restarts waits for it`() async throws {
        let clock = StoodClock()
        let said = Mutex<[String]>([])
        var tries = 0
        let answer = try await FleetPlace.patiently(
            clock,
            { text in said.withLock { $0.append(text) } }
        ) {
            tries += 1
            if tries < 4 { throw silence }
            return "signed in"
        }
        #expect(answer == "signed in" && tries == 4)
        #expect(clock.now == Moment(nanoseconds: 6_000_000_000))
        #expect(said.withLock { $0.count } == 1)
        #expect(said.withLock { $0.first }?.contains("is starting up") == true)
    }

    @Test func `a server that stays away ends the wait, and a refusal does at once`() async throws {
        let clock = StoodClock()
        let away = await #expect(throws: FleetError.self) {
            try await FleetPlace.patiently(clock, { _ in }) { throw silence }
        }
        #expect(away?.kind == .lost)
        #expect(clock.now == Moment(nanoseconds: 60_000_000_000))
        for refusal in [
            FleetError(.forbidden, "sign in", "permission denied"),
            FleetError(.denied, "connect", code: "28P01", "password authentication failed"),
            FleetError(.denied, "connect", code: "3D000", "there is no such database"),
        ] {
            let refused = await #expect(throws: FleetError.self) {
                try await FleetPlace.patiently(clock, { _ in }) { throw refusal }
            }
            #expect(refused == refusal)
        }
        #expect(clock.now == Moment(nanoseconds: 60_000_000_000))
    }
}
