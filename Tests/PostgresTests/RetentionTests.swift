import Base
import PrivatePostgres
import Store
import Synchronization
import Testing

/// The rows of a fleet's past that may be dropped, and those that never are.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct RetentionTests {
    /// A nightly rollout in its fourth beginning, an old order, and the rows of earlier beginnings that
    /// still count.
    private let past = """
        INSERT INTO yardmaster.rollout (name, beginning, plan, begun, updated) VALUES
          ('city', 4, 'p', now(), now()),
          ('exec-20250101T000000Z', 1, 'p', now() - interval '200 d', now() - interval '200 d'),
          ('exec-20260101T000000Z', 1, 'p', now(), now());
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, since)
        SELECT 'city', b, v, v, 0, CASE WHEN b = 1 AND v = 'claimed' THEN 'claimed' ELSE 'ended' END,
          now() - interval '100 d'
        FROM generate_series(1, 4) b, unnest(ARRAY['bus', 'doubt', 'debt', 'owed', 'claimed']) v;
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state) VALUES
          ('exec-20250101T000000Z', 1, 'bus', 'bus', 0, 'ended'),
          ('exec-20260101T000000Z', 1, 'bus', 'bus', 0, 'ended');
        INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action, epoch,
          instance, gateway, begun, outcome, settled)
        SELECT 'city', b, 'bus', 'd', 0, 'bus', 'feature', b, gen_random_uuid(), 'north', now(), 'done',
          now() - interval '150 d' FROM generate_series(1, 4) b
        UNION ALL SELECT 'city', 1, 'doubt', 'd', 0, 'doubt', 'feature', 1, gen_random_uuid(), 'north', now(),
          NULL, NULL;
        INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target, total)
        VALUES ('debt', 'debt', 'city', 1, 'north', 'i', 'n', 't', 1);
        INSERT INTO yardmaster.owed VALUES ('city', 'owed', 'd', 0, 1, 'north', 'lock');
        INSERT INTO yardmaster.module (serial, epoch) VALUES ('bus', 9);
        INSERT INTO yardmaster.verdict (instance, serial, epoch, rollout, vehicle, gateway, run, outcome,
          sentence, counts, at)
        SELECT gen_random_uuid(), 'bus', b, 'city', 'bus', 'north', b, 'failed', 's', true,
          now() - interval '1 d' * (500 - 100 * b) FROM generate_series(1, 4) b;
        INSERT INTO yardmaster.said (verb, reason, author, at)
        SELECT 'pause', 'r', 'a', now() - interval '1 d' * d FROM generate_series(1, 200, 50) d;
        INSERT INTO yardmaster.missed VALUES ('city', 1, 'bus', gen_random_uuid()),
          ('city', 4, 'bus', gen_random_uuid());
        INSERT INTO yardmaster.hearing (rollout, vehicle, gateway, beginning, at)
        SELECT 'city', 'bus', g, b, now() - interval '1 d' * d
        FROM (VALUES ('north', 4, 100), ('south', 3, 100), ('west', 3, 1), ('east', 1, 400))
          AS v(g, b, d);
        INSERT INTO yardmaster.gateway (instance, name, program, heard, gone)
        SELECT gen_random_uuid(), n, 'p', now() - interval '1 d' * d, now() - interval '1 d' * d
        FROM unnest(ARRAY['north', 'south']) n, generate_series(100, 300, 100) d;
        INSERT INTO yardmaster.failure VALUES ('bus', 'r', 2, 'm', now() - interval '900 d');
        INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began, noted)
        SELECT gen_random_uuid(), g, d, 'city', 1, 'p', false, now(), now() - interval '1 d' * (400 - 100 * d)
        FROM unnest(ARRAY['north', 'south']) g, generate_series(1, 4) d
        UNION ALL SELECT gen_random_uuid(), 'west', 1, 'exec-20250101T000000Z', 1, 'p', true, now(),
          now() - interval '200 d'
        UNION ALL SELECT s.instance, 'east', 1, 'city', 1, 'p', false, now(), now() - interval '300 d'
        FROM yardmaster.step s WHERE s.outcome IS NULL
        UNION ALL SELECT gen_random_uuid(), 'east', 2, 'city', 1, 'p', false, now(), now();
        INSERT INTO yardmaster.plan (digest, rollout, view, mark, brought)
        SELECT p, 'city', '{}', 'm', now() - interval '300 d' FROM unnest(ARRAY['p', 'old']) p
        UNION ALL SELECT 'new', 'city', '{}', 'm', now();
        """

    private let retention = FleetRetention(beginnings: 2, age: .seconds(90 * 86_400))

    @Test func `what is over is dropped and kept in a file, and what counts stays`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            try server.query(database, past)
            let expected: [FleetPast: Int] = [
                // Of beginnings 1 and 2, except executions with something open or in work.
                .execution: 2 + 1 + 1, .step: 2 + 0, .missed: 1, .said: 2, .gateway: 4,
                .verdict: 3, .rollout: 1, .hearing: 2,
                // But for the last of each gateway, those that are new, and one that a doubt is of.
                .run: 2 * 3 + 1, .plan: 1, .transfer: 0,
            ]
            let kept = Mutex<[String]>([])
            for table in FleetPast.allCases {
                if table != .rollout {
                    #expect(
                        try await fleet.count(of: table, beyond: retention) == expected[table],
                        "\(table)"
                    )
                }
                var dropped = 0
                for page in 0..<(try await fleet.pages(of: table)) {
                    dropped += try await fleet.drop(
                        from: table,
                        beyond: retention,
                        in: page..<page + 1
                    ) { rows in kept.withLock { $0 += rows } }
                }
                #expect(dropped == expected[table], "\(table)")
            }
            let lines = kept.withLock { $0 }
            #expect(lines.count == expected.values.reduce(0, +))
            #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
            let left = try server.query(
                database,
                """
                SELECT string_agg(beginning || vehicle, ' ' ORDER BY beginning, vehicle)
                FROM yardmaster.execution WHERE rollout = 'city' AND beginning < 3;
                SELECT count(*) FROM yardmaster.execution WHERE rollout = 'city' AND beginning >= 3;
                SELECT string_agg(name, ' ' ORDER BY name) FROM yardmaster.rollout;
                SELECT count(*) FROM yardmaster.step; SELECT count(*) FROM yardmaster.debt;
                SELECT count(*) FROM yardmaster.owed; SELECT epoch FROM yardmaster.module;
                SELECT run FROM yardmaster.verdict; SELECT count FROM yardmaster.failure;
                SELECT string_agg(gateway || number, ' ' ORDER BY id) FROM yardmaster.run;
                SELECT string_agg(digest, ' ' ORDER BY digest) FROM yardmaster.plan;
                """
            )
            #expect(
                left == """
                    1claimed 1debt 1doubt 1owed 2debt 2doubt 2owed
                    10
                    city exec-20260101T000000Z
                    3
                    1
                    1
                    9
                    4
                    2
                    north4 south4 east1 east2
                    new p

                    """
            )
        }
    }

    @Test func `what cannot be kept is not dropped`() async throws {
        struct Full: Error {}
        try await Cluster.withFleet { fleet, server, database in
            try server.query(database, past)
            let count = "SELECT count(*) FROM yardmaster.verdict"
            await #expect(throws: Full.self) {
                _ = try await fleet.drop(from: .verdict, beyond: retention, in: 0..<9) {
                    _ throws(Full) in throw Full()
                }
            }
            #expect(try server.query(database, count) == "4\n")
            // Gateways may not drop rows.
            #expect(try await fleet.grantRights() == [])
            let mark = UInt32.random(in: .min ... .max)
            try server.query(database, "CREATE ROLE g_\(mark) LOGIN IN ROLE yardmaster_gateway")
            let settings = try Cluster.settings(server.address(database, user: "g_\(mark)"))
            await #expect(throws: FleetError.self) {
                try await Cluster.with(settings) { mine in
                    _ = try await mine.drop(from: .verdict, beyond: retention, in: 0..<9) { _ in }
                }
            }
            #expect(try server.query(database, count) == "4\n")
        }
    }
}
