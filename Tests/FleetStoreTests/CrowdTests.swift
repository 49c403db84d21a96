import Base
import PrivatePostgres
import Store
import Testing

/// What the statements of a night read in a large fleet, as the server counts rows: 100,000 vehicles in the thousandth
/// beginning of their rollout, 500 gateways at work with eight rights each, and half a million sign-ins of earlier nights.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct CrowdTests {
    private static let vehicles = 100_000
    private static let held = 4_000

    /// Vehicles 1 to 4,000 are held by the 500 others, the next 16,000 have ended, and the rest wait; each is heard by two
    /// gateways, and the last 80,000 were missed by one.
    private static let crowd = """
        UPDATE yardmaster.rollout SET beginning = 1000, plan = 'p', waves = 2, changes = 16000,
          most_failed = 5000, room = 5001 WHERE name = 'city';
        UPDATE yardmaster.gateway SET rollout = 'city', beginning = 1000, links = 8;
        INSERT INTO yardmaster.gateway (instance, name, program, rollout, beginning, since, heard,
          gone, links)
        SELECT md5('1000 ' || g)::uuid, 'g' || g, 'p', 'city', 1000, now(), now(), NULL::timestamptz, 8
        FROM generate_series(1, 500) g
        UNION ALL
        SELECT md5(b || ' ' || g)::uuid, 'g' || g, 'p', 'city', b, t, t, t, 8
        FROM generate_series(1, 999) b, generate_series(1, 500) g,
          LATERAL (SELECT now() - make_interval(days => 1000 - b) AS t) x;
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, outcome,
          instance, gateway, epoch, changed)
        SELECT 'city', 1000, 'v' || v, 'a' || v, CASE WHEN v <= 50000 THEN 0 ELSE 1 END,
          CASE WHEN v <= \(held) THEN 'claimed' WHEN v <= 20000 THEN 'ended' ELSE 'queued' END,
          CASE WHEN v > \(held) AND v <= 20000 THEN 'succeeded' END,
          md5('1000 ' || (v % 500 + 1))::uuid, 'g' || (v % 500 + 1), 1000,
          CASE WHEN v > \(held) AND v <= 20000 THEN v - \(held) ELSE 0 END
        FROM generate_series(1, \(vehicles)) v
        UNION ALL
        SELECT 'city', b, 'v' || v, 'a' || v, 0, 'ended', 'succeeded', md5(b || ' 1')::uuid, 'g1', b, v
        FROM generate_series(1, 999) b, generate_series(1, 100) v;
        INSERT INTO yardmaster.module (serial, epoch, holder, rollout, vehicle, expires)
        SELECT 'a' || v, 1000, CASE WHEN v <= \(held) THEN md5('1000 ' || (v % 500 + 1))::uuid END,
          CASE WHEN v <= \(held) THEN 'city' END, CASE WHEN v <= \(held) THEN 'v' || v END,
          CASE WHEN v <= \(held) THEN now() + interval '1 h' END
        FROM generate_series(1, \(vehicles)) v;
        INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance)
        SELECT 'city', 1000, 'v' || v, md5('1000 ' || (v % 500 + 1))::uuid
        FROM generate_series(20001, \(vehicles)) v;
        INSERT INTO yardmaster.hearing (rollout, vehicle, gateway, beginning, signal)
        SELECT 'city', 'v' || v, 'g' || ((v + n) % 500 + 1), 1000, -60 - n
        FROM generate_series(1, \(vehicles)) v, generate_series(0, 1) n;
        INSERT INTO yardmaster.verdict (instance, serial, epoch, rollout, vehicle, gateway, run,
          outcome, sentence, counts)
        SELECT md5('999 ' || (v % 500 + 1))::uuid, 'a' || v, 999, 'city', 'v' || v,
          'g' || (v % 500 + 1), 999, 'succeeded', '', true FROM generate_series(1, \(vehicles)) v;
        INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action,
          epoch, instance, gateway, begun, outcome, settled)
        SELECT 'city', 1000 - n, 'v' || v, 'd', 0, 'a' || v, 'command horn', 1000 - n,
          md5(1000 - n || ' ' || (v % 500 + 1))::uuid, 'g1', now(), 'done', now()
        FROM generate_series(1, 20000) v, generate_series(0, 9) n;
        INSERT INTO yardmaster.transfer (serial, vehicle, rollout, image, name, target, proven)
        SELECT 'a' || v, 'v' || v, 'city', repeat('a', 64), 'city', 'secondary', true
        FROM generate_series(1, \(vehicles)) v;
        INSERT INTO yardmaster.failure (vehicle, release, count, message, last)
        SELECT 'v' || v, repeat('b', 64), 1, '', now() FROM generate_series(1, 20000) v;
        INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target,
          total)
        SELECT n || 'a' || v, 'v' || v, CASE WHEN n = 0 THEN 'city' ELSE 'depot ' || n END, 1000, 'g1',
          repeat('a', 64), 'n', 't', 1 FROM generate_series(1, \(held)) v, generate_series(0, 9) n;
        INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began)
        SELECT md5(b || ' ' || g)::uuid, 'g' || g, b, 'city', b, 'p', false, now()
        FROM generate_series(901, 1000) b, generate_series(1, 500) g;
        ANALYZE;
        """

    private struct Vehicle {
        let id: VehicleID
        let serial: Serial

        init(_ number: Int) throws {
            id = try #require(VehicleID("v\(number)"))
            serial = try #require(Serial("a\(number)"))
        }
    }

    /// The statements of one gateway among the others, each with its bound.
    private struct Gateway {
        let fleet: FleetDatabase
        let holder: FleetHolder

        /// Small tables may be read from end to end, and no other.
        func expect(
            _ name: String,
            atMost limit: Int,
            _ body: (FleetDatabase) async throws -> Void
        ) async throws {
            let read = try await RowsRead(fleet) { try await body(fleet) }
            let few = [
                "history", "awaited", "rollout", "recall", "inhibit", "schema", "served", "owed",
            ]
            let scanned = read.scanned.filter { $0.value > 0 && !few.contains($0.key) }
            #expect(scanned.isEmpty, "\(name) reads whole tables: \(scanned)")
            let all = read.all.filter { $0.value > 0 }
            #expect(all.values.reduce(0, +) <= limit, "\(name) reads \(all)")
            let blocks = read.blocks.filter { $0.value > 0 }
            #expect(blocks.values.reduce(0, +) <= 100 + 6 * limit, "\(name) reads blocks \(blocks)")
        }

        func word(
            _ kind: FleetWord.Kind,
            _ vehicle: Vehicle,
            _ lease: FleetLease
        ) -> FleetWord {
            FleetWord(
                kind,
                under: lease,
                of: holder,
                rollout: "city",
                beginning: 1_000,
                vehicle: vehicle.id,
                run: 1
            )
        }

        /// The right to a vehicle, and what is done under it until its verdict.
        func work(_ vehicle: Vehicle) async throws {
            var granted: FleetLease?
            // The gate counts those that are under way, and what they owe.
            try await expect("a claim", atMost: 3 * CrowdTests.held + 50) { fleet in
                let wish = LeaseWish(
                    vehicle.serial,
                    rollout: "city",
                    vehicle: vehicle.id,
                    entry: LeaseWish.Entry(
                        beginning: 1_000,
                        isPaying: false,
                        release: SHA256Digest(String(repeating: "c", count: 64)),
                        quarantineAfter: 3,
                        hearing: LeaseWish.Hearing(signal: -50, hasOthers: true)
                    )
                )
                let answer = try await fleet.claim(wish, by: holder, terms: .standard)
                guard case .granted(let lease, _) = answer else {
                    Issue.record("\(answer)")
                    return
                }
                granted = lease
            }
            let lease = try #require(granted)
            try await expect("what the vehicle owes", atMost: 50) { fleet in
                _ = try await fleet.accounts(of: vehicle.id, on: vehicle.serial)
            }
            try await expect("a renewal", atMost: 50) { fleet in
                let kept = try await fleet.renew([lease], of: holder, terms: .standard)
                #expect(kept == [lease])
            }
            try await expect("an act", atMost: 50) { fleet in
                let intent = Intent(
                    execution: 0,
                    run: 1,
                    rollout: "city",
                    vehicle: vehicle.id,
                    step: StepKey(nil),
                    place: 0,
                    effect: .once,
                    description: "command horn",
                    begun: WallTime(milliseconds: 0)
                )
                let act = FleetAct(Act(intent), under: lease, beginning: 1_000, isPaying: false)
                let permit = try await fleet.intend(act, of: holder)
                #expect(permit == .granted)
            }
            try await expect("the end of an act", atMost: 50) { fleet in
                var word = word(.step, vehicle, lease)
                (word.sentence, word.outcome) = ("command horn", IntentRecord.done)
                try await fleet.accept(word)
            }
            try await expect("progress", atMost: 50) { fleet in
                var progress = FleetProgress(lease, run: 1)
                (progress.doing, progress.acknowledged, progress.total) = ("updating", 1, 2)
                try await fleet.report([progress], of: holder)
            }
            try await expect("an attempt that failed", atMost: 100) { fleet in
                _ = try await fleet.wear(
                    lease,
                    vehicle.id,
                    of: "city",
                    beginning: 1_000,
                    signal: -50,
                    isLost: false,
                    as: holder
                )
            }
            try await expect("a verdict", atMost: 100) { fleet in
                var word = word(.verdict, vehicle, lease)
                word.outcome = Outcome.succeeded.rawValue
                (word.attempted, word.sentence) = (1, "succeeded")
                try await fleet.accept(word)
            }
        }
    }

    /// With plans for the values at hand, and with those that a session keeps after a while.
    @Test(arguments: ["force_custom_plan", "force_generic_plan"])
    func `among 100,000 vehicles and 500 gateways each statement of a night reads rows by key`(
        plans: String
    ) async throws {
        try await Members.with(["north"]) { them in
            try them.ground.ask(Self.crowd)
            let gateway = Gateway(fleet: them[0].fleet, holder: them[0].holder)
            let holder = gateway.holder
            try await gateway.fleet.run("SET plan_cache_mode = \(plans)", "plan")
            try await gateway.work(try Vehicle(30_000))
            try await gateway.expect("a look", atMost: 20) { fleet in
                let glance = try #require(try await fleet.glance(at: "city", for: holder))
                #expect(glance.busy == [] && glance.underWay == nil)
            }
            let asked = try (3_901...4_100).map { try Vehicle($0).id }
            try await gateway.expect("a look for 200 vehicles", atMost: 1_000) { fleet in
                let glance = try await fleet.glance(at: "city", asking: asked, for: holder)
                #expect(Set(glance?.busy ?? []) == Set(asked.prefix(100)))
            }
            try await gateway.expect("a look for a place", atMost: 3 * Self.held + 10) { fleet in
                let glance = try await fleet.glance(at: "city", counts: true, for: holder)
                #expect(glance?.underWay == Self.held)
            }
            let glance = try #require(try await gateway.fleet.glance(at: "city", for: holder))
            try await gateway.expect("100 news", atMost: 500) { fleet in
                let news = try await fleet.news(of: glance, since: 15_901, for: holder)
                #expect(news.ended.count == 100)
            }
            try await gateway.expect("a sign of life", atMost: 20) { fleet in
                let place = try await fleet.beat(holder)
                #expect(place?.isAwaited == false)
                _ = try await fleet.place(of: holder.gateway)
            }
            try await gateway.expect("what is heard", atMost: 100) { fleet in
                let heard = asked.prefix(10).map { (vehicle: $0, signal: -70) }
                try await fleet.hear(heard, of: "city", beginning: 1_000, as: holder)
            }
            try await gateway.expect("what is left to others", atMost: 100) { fleet in
                try await fleet.leave(
                    try (40_001...40_010).map { LeftVehicle(try Vehicle($0).id) },
                    in: "city",
                    beginning: 1_000,
                    as: holder
                )
            }
            try await gateway.expect("what people want left alone", atMost: 50) { fleet in
                _ = try await fleet.inhibits()
                _ = try await fleet.recalls()
                let release = try #require(SHA256Digest(String(repeating: "b", count: 64)))
                _ = try await fleet.quarantined([asked[0]: release], after: 1)
            }
            try await gateway.expect("whose look it is", atMost: 20) { fleet in
                let pause = FleetDatabase.lookShare
                let isOurs = try await fleet.takeLook(at: "city", beginning: 1_000, every: pause)
                #expect(isOurs)
            }
            // One gateway does it for all: it reads each open vehicle of the waves that have begun, with who missed it.
            try await gateway.expect("the look at the wave", atMost: 6 * Self.vehicles) { fleet in
                let wave = try await fleet.endedWave(of: "city", beginning: 1_000)
                #expect(wave == nil)
            }
        }
    }
}
