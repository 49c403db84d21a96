import Base
import PrivatePostgres
import Store
import Testing

/// `retry` of a whole rollout: which vehicles are taken again on all gateways, and which are left.
@Suite(.enabled(if: PrivatePostgres.absence == nil, "PostgreSQL is not installed"))
struct RetryTests {
    /// A vehicle in each state of the table of promises, by its name.
    private let yard = """
        INSERT INTO yardmaster.rollout (name, plan, state) VALUES ('city', 'p', 'finished'),
          ('other', 'q', 'running');
        INSERT INTO yardmaster.plan (digest, rollout, quarantine_after, view, mark)
        VALUES ('p', 'city', 3, '{}', 'm');
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, outcome, changed)
        SELECT 'city', 1, v, v, 0, CASE v WHEN 'fresh' THEN 'queued' WHEN 'working' THEN 'claimed'
          WHEN 'again' THEN 'queued' ELSE 'ended' END,
          CASE v WHEN 'fresh' THEN NULL WHEN 'working' THEN NULL WHEN 'done' THEN 'succeeded'
            WHEN 'current' THEN 'already-current' WHEN 'skipped' THEN 'skipped'
            WHEN 'away' THEN 'unreachable' WHEN 'later' THEN 'deferred' WHEN 'back' THEN 'rolled-back'
            WHEN 'refusing' THEN 'rejected' WHEN 'slow' THEN 'timed-out' WHEN 'doubt' THEN 'in-doubt'
            WHEN 'cleared' THEN 'in-doubt' ELSE 'failed' END, 1
        FROM unnest(ARRAY['again', 'away', 'back', 'bad', 'cleared', 'current', 'debt', 'done', 'doubt',
          'doubtful', 'fresh', 'later', 'left', 'owing', 'paying', 'quarantined', 'refusing', 'skipped',
          'slow', 'tried', 'working']) v;
        INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, outcome)
        VALUES ('other', 1, 'bad', 'bad', 0, 'ended', 'failed');
        INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action, epoch,
          instance, gateway, begun, outcome, settled)
        VALUES ('city', 1, 'doubt', 'd', 0, 'doubt', 'horn', 1, gen_random_uuid(), 'north', now(), NULL, NULL),
          ('before', 1, 'doubtful', 'd', 0, 'doubtful', 'horn', 1, gen_random_uuid(), 'north', now(),
            'in-doubt', now()),
          ('city', 1, 'cleared', 'd', 0, 'cleared', 'horn', 1, gen_random_uuid(), 'north', now(), 'done', now());
        INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, target, total)
        VALUES ('debt', 'debt', 'city', 1, 'north', 'i', 'n', 't', 1);
        INSERT INTO yardmaster.owed VALUES ('city', 'owing', 'd', 0, 1, 'north', 'lock');
        INSERT INTO yardmaster.inhibit (vehicle, reason, author) VALUES ('left', 'r', 'a');
        INSERT INTO yardmaster.failure VALUES ('quarantined', 'r', 3, 'm', now()),
          ('tried', 'r', 2, 'm', now());
        INSERT INTO yardmaster.module (serial, epoch, holder, vehicle, expires)
        VALUES ('paying', 1, gen_random_uuid(), 'paying', now() + interval '1 min');
        INSERT INTO yardmaster.missed SELECT 'city', 1, v, gen_random_uuid() FROM unnest(ARRAY['away', 'done']) v;
        """

    private let taken = [
        "again", "away", "back", "bad", "cleared", "debt", "later", "owing", "refusing", "slow",
        "tried",
    ]

    @Test func `every vehicle that the table names is taken again by all gateways, and no other`()
        async throws
    {
        try await Cluster.withFleet { fleet, server, database in
            try server.query(database, yard)
            let rearmed = try #require(try await fleet.retry("city", reason: "r", by: "anna"))
            #expect(rearmed.hold == nil)
            #expect(rearmed.vehicles.map(\.text) == taken)
            #expect(rearmed.doubtful.map(\.text) == ["doubt", "doubtful"])
            let open = try server.query(
                database,
                """
                SELECT string_agg(vehicle, ' ' ORDER BY vehicle) FROM yardmaster.execution
                WHERE rollout = 'city' AND state = 'queued' AND outcome IS NULL AND changed = 1;
                SELECT state, changes FROM yardmaster.rollout WHERE name = 'city';
                SELECT count(*) FROM yardmaster.missed;
                SELECT outcome, author FROM yardmaster.step WHERE vehicle = 'doubt';
                SELECT state FROM yardmaster.execution WHERE rollout = 'other';
                SELECT count(*) FROM yardmaster.debt;
                SELECT verb, rollout, vehicle, reason, author FROM yardmaster.said
                """
            )
            let words = (taken + ["fresh"]).sorted().joined(separator: " ")
            #expect(open == "\(words)\nrunning|1\n1\n|\nended\n1\nretry|city||r|anna\n")
            // Safe to repeat: nothing is left to be taken, and nothing is said again.
            let none = try #require(try await fleet.retry("city", by: "anna"))
            #expect(none.all == [] && none.doubtful.map(\.text) == ["doubt", "doubtful"])
            #expect(try server.query(database, "SELECT count(*) FROM yardmaster.said") == "1\n")
        }
    }

    @Test func `a hold is obeyed, and what nobody knows is said`() async throws {
        try await Cluster.withFleet { fleet, server, database in
            try server.query(database, yard)
            #expect(try await fleet.retry("none", by: "anna") == nil)
            _ = try await fleet.hold("other", .paused, reason: "r", by: "anna")
            let paused = try await fleet.retry("other", by: "anna")
            #expect(paused?.hold == .paused && paused?.vehicles.map(\.text) == ["bad"])
            _ = try await fleet.hold("other", .aborted, reason: "r", by: "anna")
            let aborted = try await fleet.retry("other", by: "anna")
            #expect(aborted?.hold == .aborted && aborted?.all == [])
            // The whole depot is left alone.
            try server.query(
                database,
                "INSERT INTO yardmaster.inhibit (vehicle, reason, author) VALUES ('', 'r', 'a')"
            )
            #expect(try await fleet.retry("city", by: "anna")?.all == [])
        }
    }

    @Test func `of those that are named one that may not be taken again keeps all as they are`()
        async throws
    {
        try await Cluster.withFleet { fleet, server, database in
            try server.query(database, yard)
            func retry(_ names: [String], named: [String]) async throws -> Rearmed {
                let rearmed = try await fleet.retry(
                    nil,
                    among: try names.map { try #require(VehicleID($0)) },
                    named: Set(try named.map { try #require(VehicleID($0)) }),
                    by: "anna"
                )
                return try #require(rearmed)
            }
            for (name, why) in [
                ("left", "it is inhibited"), ("quarantined", "it is in quarantine"),
            ] {
                let refused = try await retry(
                    ["bad", "doubt", name],
                    named: ["bad", "doubt", name]
                )
                #expect(refused.refused.keys.map(\.text) == [name])
                #expect(refused.refusal?.hasPrefix("\(name) is left: \(why)") == true)
                #expect(refused.all.isEmpty)
            }
            #expect(try server.query(database, "SELECT count(*) FROM yardmaster.said") == "0\n")
            // By a pattern they are passed over, and so is a doubt.
            let some = try await retry(["bad", "doubt", "left", "quarantined"], named: [])
            #expect(some.vehicles.map(\.text) == ["bad"] && some.answered.isEmpty)
            let doubt = try await retry(["doubt"], named: ["doubt"])
            #expect(doubt.answered.map(\.text) == ["doubt"] && doubt.vehicles == doubt.answered)
        }
    }
}
