import Base
import PrivatePostgres
import Store
import Testing

@testable import Operations
@testable import Show

/// What a year of nights costs: the rows that a request reads, as the server counts them.
///
/// A scaled-down year, made by SQL: a nightly rollout over 300 vehicles in its 365th beginning, in a
/// fleet of 20,000 modules and 32 gateways.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct YearTests {
    private static let vehicles = 300

    private static let year = """
        UPDATE yardmaster.rollout SET beginning = 365, begun = now() - interval '8 h', plan = 'p'
        WHERE name = 'city';
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, outcome,
          gateway, epoch, since)
        SELECT 'city', b, 'v' || v, 'a' || v, 0, 'ended',
          CASE WHEN v % 50 = 0 THEN 'failed' ELSE 'succeeded' END, 'g1', b,
          now() - make_interval(days => 365 - b)
        FROM generate_series(1, 365) b, generate_series(1, \(vehicles)) v;
        INSERT INTO yardmaster.verdict (instance, serial, epoch, rollout, vehicle, gateway, run,
          outcome, sentence, version, counts, at)
        SELECT md5(b::text)::uuid, 'a' || v, b, 'city', 'v' || v, 'g1', b,
          CASE WHEN v % 50 = 0 THEN 'failed' ELSE 'succeeded' END, '',
          CASE WHEN v % 50 > 0 THEN '4.12.0' END, true, now() - make_interval(days => 365 - b)
        FROM generate_series(1, 365) b, generate_series(1, \(vehicles)) v ORDER BY b, v;
        INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action,
          epoch, instance, gateway, begun, outcome, settled)
        SELECT 'city', b, 'v' || v, 'd', 0, 'a' || v, 'command horn', b, md5(b::text)::uuid, 'g1',
          now() - make_interval(days => 365 - b), 'done', now() - make_interval(days => 365 - b)
        FROM generate_series(1, 365) b, generate_series(1, \(vehicles)) v;
        INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance)
        SELECT 'city', b, 'v' || v, md5(b || ' ' || v)::uuid
        FROM generate_series(1, 365) b, generate_series(1, 30) v;
        INSERT INTO yardmaster.module (serial, epoch) SELECT 'a' || v, 365
        FROM generate_series(1, 20000) v;
        INSERT INTO yardmaster.gateway (instance, name, program, since, heard, gone)
        SELECT md5(b || ' ' || g)::uuid, 'g' || g, 'p', t, t, t FROM generate_series(1, 365) b,
          generate_series(1, 32) g, LATERAL (SELECT now() - make_interval(days => 365 - b) AS t) x;
        INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order,
          began, noted, ended, reason, closed)
        SELECT md5(b || ' ' || g)::uuid, 'g' || g, b, 'city', b, 'p', false, t, t, t, 'done', t
        FROM generate_series(1, 365) b, generate_series(1, 32) g,
          LATERAL (SELECT now() - make_interval(days => 365 - b) AS t) x ORDER BY b, g;
        ANALYZE;
        """

    private func withYear(_ body: (FleetDatabase, Members) async throws -> Void) async throws {
        try await Members.with(["north"]) { them in
            try them.ground.ask(Self.year)
            try await body(them[0].fleet, them)
        }
    }

    /// The rows that `body` reads, by table.
    private func rows(
        _ fleet: FleetDatabase,
        _ body: () async throws -> Void
    ) async throws -> [String: Int] {
        try await RowsRead(fleet, body).all
    }

    private func vehicle(_ name: String) throws -> VehicleID { try #require(VehicleID(name)) }

    @Test func `a verb reads as much after a year of nights as after one`() async throws {
        try await withYear { fleet, _ in
            let (one, failed, nobody) = (
                try vehicle("v1"), try vehicle("v50"), try vehicle("nobody")
            )
            func expect(
                _ name: String,
                atMost limit: Int,
                _ body: () async throws -> Void
            ) async throws {
                let read = try await rows(fleet, body)
                let all = read.values.reduce(0, +)
                #expect(all <= limit, "\(name) reads \(read.filter { $0.value > 0 })")
            }
            try await expect("a name", atMost: 20) {
                let found = try await fleet.known([one, nobody])
                #expect(found == [one])
            }
            try await expect("inhibit", atMost: 20) {
                try await fleet.inhibit([one], reason: "", for: .seconds(60), by: "mia")
            }
            try await expect("uninhibit", atMost: 20) {
                let lifted = try await fleet.uninhibit([one], by: "mia")
                #expect(lifted == 1)
            }
            try await expect("retry", atMost: 100) {
                let answer = try await fleet.retry(nil, among: [failed], named: [failed], by: "mia")
                #expect(answer?.vehicles == [failed])
            }
            try await expect("clear", atMost: 100) {
                let answer = try await fleet.clear([failed], named: [failed], by: "mia")
                #expect(answer == Cleared())
            }
            try await expect("pause and resume", atMost: 50) {
                let answer = try await fleet.hold("city", .paused, reason: "", by: "mia")
                #expect(answer == .done)
            }
            // These are about a night's vehicles, which are as many as on the first one.
            try await expect("retry without names", atMost: 20 * Self.vehicles) {
                let taken = try await fleet.retry("city", by: "mia")
                #expect(taken?.vehicles.count == Self.vehicles / 50 - 1, "v50 was taken before")
            }
            try await expect("a pattern", atMost: 5 * Self.vehicles) {
                let all = try await fleet.vehicles()
                #expect(all.count == Self.vehicles)
            }
        }
    }

    @Test func `the morning reads its night and the last of each vehicle, not the year`()
        async throws
    {
        try await withYear { fleet, _ in
            let since = WallTime(
                milliseconds: try await fleet.rows(
                    "read the clock",
                    "SELECT (extract(epoch FROM now() - interval '12 h') * 1000)::bigint"
                ).first?.integer(0) ?? 0
            )
            let read = try await rows(fleet) {
                let look = try #require(try await fleet.lookInTheMorning(since: since))
                #expect(look.rollouts.count == 1 && look.sightings.count == Self.vehicles)
                // Of the night, and of each vehicle the last one before it.
                #expect(look.endings.count >= 2 * Self.vehicles)
            }
            for table in ["verdict", "execution", "step", "missed", "module"] {
                #expect(read[table] ?? 0 <= 30 * Self.vehicles, "\(table): \(read)")
            }
        }
    }

    @Test func `of many vehicles those are read that need somebody, and the text is the same`()
        async throws
    {
        try await withYear { fleet, them in
            // Four that are well owe an update, a step and an answer, and are held.
            try them.ground.ask(
                """
                INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name,
                  target, total) VALUES ('a1', 'v1', 'city', 365, 'g1', 'i', 'n', 't', 100);
                INSERT INTO yardmaster.owed (rollout, vehicle, digest, ordinal, epoch, gateway, action)
                VALUES ('city', 'v2', 'd', 0, 365, 'g1', 'set lights off');
                UPDATE yardmaster.step SET outcome = 'in-doubt' WHERE vehicle = 'v3'
                  AND beginning = 365;
                INSERT INTO yardmaster.failure (vehicle, release, count, message, last)
                SELECT v, repeat('a', 64), 2, 'the key is refused', now()
                FROM unnest(ARRAY['v51', 'v50']) v;
                UPDATE yardmaster.module SET holder = '\(them[0].holder.instance)', rollout = 'city',
                  vehicle = 'v4', expires = now() + interval '1 h' WHERE serial = 'a4';
                ANALYZE
                """
            )
            var looks: [FleetLook] = []
            let read = try await rows(fleet) {
                let look = try #require(try await fleet.look(of: "city", whole: 200))
                looks.append(look)
            }
            let failed = Self.vehicles / 50
            #expect(looks[0].view.vehicles.count == failed + 4)
            let done = looks[0].view.done
            let names = Set(done.flatMap(\.vehicles))
            #expect(names.count == Self.vehicles - failed - 4)
            #expect(done.map(\.count).reduce(0, +) == names.count)
            for (table, limit) in [("verdict", 40), ("missed", 400), ("execution", 1_500)] {
                #expect(read[table] ?? 0 <= limit, "\(table): \(read)")
            }
            looks.append(try #require(try await fleet.look(of: "city", whole: Self.vehicles)))
            #expect(looks[1].view.vehicles.count == Self.vehicles && looks[1].view.done.isEmpty)
            let start = looks[1].view.runs.last?.byServer.started ?? looks[1].view.rollout.begun
            let recent = looks[1].view.vehicles.filter { vehicle in
                names.contains(vehicle.vehicle) && vehicle.since.map { $0 >= start } ?? false
            }.compactMap(\.since)
            #expect(done.compactMap { $0.recent?.count }.reduce(0, +) == recent.count)
            #expect(done.compactMap { $0.recent?.first }.min() == recent.min())
            #expect(done.compactMap { $0.recent?.last }.max() == recent.max())
            #expect(recent.count > 100)
            let states = looks.map { look in
                RolloutStatus(
                    RolloutSnapshot(look.view, in: look.ground, plan: nil),
                    briefs: [],
                    plan: nil,
                    manifest: nil,
                    isRunning: false,
                    flags: PlaceFlags()
                )
            }
            for isQuiet in [true, false] {
                let texts = states.map { status in
                    StatusText(status, nil, isQuiet: isQuiet) { "\($0)" }.text(hasOthers: false)
                }
                #expect(texts[0] == texts[1])
                // One has failed before and is well since then, and one has failed again.
                #expect(!texts[0].contains("v51 has failed 2 times"), "\(texts[0])")
                #expect(texts[0].contains("v50 has failed 2 times"), "\(texts[0])")
                #expect(texts[0].contains("290 more are done") == !isQuiet, "\(texts[0])")
            }
            #expect(states[0].counts == states[1].counts)
            #expect(states[0].counts.total == 300)
            #expect(states[0].waves.map(\.counts) == states[1].waves.map(\.counts))
        }
    }

    @Test func `which modules run an image is read from their last transfers`() async throws {
        try await Members.with(["north"]) { them in
            try them.ground.ask(
                """
                INSERT INTO yardmaster.transfer (serial, vehicle, rollout, image, name, target, proven)
                SELECT 'a' || v, 'v' || v, 'city', repeat(to_hex(16 + b), 32), 'city', 'secondary', true
                FROM generate_series(1, 200) b, generate_series(1, 300) v
                WHERE b < 200 OR v > 100 ORDER BY b, v;
                ANALYZE
                """
            )
            let fleet = them[0].fleet
            for (number, count) in [(200, 200), (199, 100), (1, 0)] {
                let text = String(repeating: String(16 + number, radix: 16), count: 32)
                let image = try #require(SHA256Digest(text))
                let now = WallTime(milliseconds: 0)
                try await fleet.recall(Recall(image, name: "c", reason: "r", author: "m", at: now))
                let read = try await rows(fleet) {
                    let uses = try await fleet.recallUses([])
                    #expect(uses.first { $0.recall.image == image }?.vehicles.count == count)
                }
                // A few rows for each module that ever had one of the images.
                #expect(read["transfer"] ?? 0 <= 5_000, "\(read)")
            }
        }
    }

    @Test func `a gateway that signs in reads the modules that are held, and no others`()
        async throws
    {
        try await withYear { fleet, them in
            try them.ground.ask(
                """
                UPDATE yardmaster.module SET holder = md5('365 ' || substr(serial, 2))::uuid,
                  expires = now() WHERE serial IN ('a1', 'a2', 'a3');
                ANALYZE yardmaster.module
                """
            )
            let read = try await rows(fleet) {
                let gateways = try await fleet.gateways()
                #expect(gateways.map(\.modules).reduce(0, +) == 3)
                _ = try await fleet.releaseAll(of: them[0].holder.instance)
            }
            #expect(read["module"] ?? 0 <= 1_000, "\(read)")
            #expect(read["execution"] ?? 0 <= 100, "\(read)")
        }
    }

    @Test func `one gateway looks at the wave for all, and a wave under way is not locked`()
        async throws
    {
        try await Members.with(["north", "south"]) { them in
            // 2,000 vehicles that wait, each missed by 30 of 32 gateways.
            try them.ground.ask(
                """
                INSERT INTO yardmaster.gateway (instance, name, program, rollout, beginning)
                SELECT md5(g::text)::uuid, 'g' || g, 'p', 'city', 1 FROM generate_series(1, 30) g;
                INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave)
                SELECT 'city', 1, 'v' || v, 'a' || v, 0 FROM generate_series(1, 2000) v;
                INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance)
                SELECT 'city', 1, 'v' || v, md5(g::text)::uuid
                FROM generate_series(1, 2000) v, generate_series(1, 30) g;
                ANALYZE
                """
            )
            let (north, south) = (them[0].fleet, them[1].fleet)
            let pause = Duration.seconds(3_600)
            let first = try await north.takeLook(at: "city", beginning: 1, every: pause)
            let second = try await south.takeLook(at: "city", beginning: 1, every: pause)
            #expect(first && !second)
            // A claim of another gateway has the rollout's row: a look does not wait for it.
            try await south.run("BEGIN", "begin")
            _ = try await south.rows(
                "lock",
                "SELECT FROM yardmaster.rollout FOR UPDATE"
            )
            let read = try await rows(north) {
                try await north.run("SET LOCAL lock_timeout = '1s'", "wait for nothing")
                let wave = try await north.endedWave(of: "city", beginning: 1)
                #expect(wave == nil)
            }
            #expect(read["execution"] ?? 0 <= 3 * 2_000, "\(read)")
            try await south.run("ROLLBACK", "end")
        }
    }

    @Test func `what ends because all have left it reads no vehicle that waits a second time`()
        async throws
    {
        try await Members.with(["north"]) { them in
            try them.ground.ask(
                """
                INSERT INTO yardmaster.gateway (instance, name, program, rollout, beginning)
                SELECT md5(g::text)::uuid, 'g' || g, 'p', 'city', 1 FROM generate_series(1, 30) g;
                INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave)
                SELECT 'city', 1, 'v' || v, 'a' || v, 0 FROM generate_series(1, 2000) v;
                INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance)
                SELECT 'city', 1, 'v' || v, md5(g::text)::uuid
                FROM generate_series(1, 2000) v, generate_series(1, 30) g;
                ANALYZE
                """
            )
            let gone = try vehicle("v7")
            try await them[0].leave(gone)
            let read = try await rows(them[0].fleet) {
                let wave = try await them[0].fleet.endedWave(of: "city", beginning: 1)
                #expect(wave == nil)
            }
            #expect(read["missed"] ?? 0 <= 30 * 2_000 + 500, "\(read)")
            let news = try await them[0].news()
            #expect(news.ended.map(\.vehicle) == [gone])
        }
    }

    @Test func `old beginnings of a nightly rollout are dropped, though it began today`()
        async throws
    {
        try await withYear { fleet, them in
            let retention = FleetRetention(beginnings: 3, age: .seconds(90 * 86_400))
            #expect(try await fleet.pruning().since == nil)
            var dropped: [FleetPast: Int] = [:]
            for table in FleetPast.allCases {
                let pages = try await fleet.pages(of: table)
                for begin in stride(from: 0, to: pages, by: 128) {
                    dropped[table, default: 0] += try await fleet.drop(
                        from: table,
                        beyond: retention,
                        in: begin..<begin + 128
                    ) { _ in }
                }
            }
            let nights = 365 - 90
            #expect(dropped[.execution] == nights * Self.vehicles)
            #expect(dropped[.verdict] == nights * Self.vehicles)
            #expect(dropped[.step] == nights * Self.vehicles)
            #expect(dropped[.missed] == nights * 30)
            #expect(dropped[.gateway] == nights * 32 && dropped[.run] == nights * 32)
            try await fleet.notePruning()
            let since = try await fleet.pruning().since
            #expect(since.map { $0 < .seconds(900) } == true)
        }
    }
}
