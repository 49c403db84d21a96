package import Base

/// What a gateway asks of its rollout while it waits, as one statement answers it.
package struct FleetGlance: Sendable, Equatable {
    package let rollout: FleetRollout
    /// The number of the last change of its vehicles.
    package let changes: Int
    /// Whether a person wants this gateway to end its part.
    package let mustDrain: Bool
    /// Whether no gateway has looked lately whether the wave has ended.
    package let isLookDue: Bool
    /// Another text when images were recalled, or recalls lifted.
    package let recalls: String
    /// Those of the vehicles that were asked for that other gateways work on now.
    package let busy: [VehicleID]
    /// How many vehicles other gateways work on now; nil when that was not asked.
    package let underWay: Int?
    /// Vehicles that other gateways leave to this one.
    package let favoured: [VehicleID]

    init?(_ row: DatabaseRow) {
        guard let rollout = FleetRollout(row) else { return nil }
        self.rollout = rollout
        let first = FleetRollout.columnCount
        changes = Int(row.integer(first) ?? 0)
        mustDrain = row.isTrue(first + 1)
        isLookDue = row.isTrue(first + 2)
        recalls = row.text(first + 3) ?? ""
        // No name has a line feed.
        func names(_ column: Int) -> [VehicleID] {
            (row.text(column) ?? "").split(separator: "\n").compactMap { VehicleID($0) }
        }
        busy = names(first + 4)
        underWay = row.integer(first + 5).map { Int($0) }
        favoured = names(first + 6)
    }
}

/// What has changed in a rollout's vehicles since a look at it.
package struct FleetNews: Sendable, Equatable {
    package var ended: [FleetEnd] = []
    /// Vehicles that were queued again and that this gateway has not left since.
    package var opened: [VehicleID] = []
}

extension FleetDatabase {
    /// Looks at a rollout for all that a gateway waits for; nil when there is no such rollout.
    ///
    /// Gateways do so every few seconds, and many wait: it is one statement, which reads rows by key, and those that are
    /// under way only for a gateway that `counts` them, because it waits for a place at the gate.
    package func glance(
        at rollout: String,
        asking vehicles: [VehicleID] = [],
        counts: Bool = false,
        for holder: FleetHolder
    ) throws(FleetError) -> FleetGlance? {
        let held = """
            JOIN yardmaster.module m ON m.serial = e.serial AND m.holder = e.instance
              AND m.epoch = e.epoch AND m.expires > now
            WHERE e.state = 'claimed' AND e.instance <> $2::uuid
            """
        return try rows(
            "look at the rollout",
            """
            SELECT \(FleetRollout.columns), changes,
              (SELECT g.drain FROM yardmaster.gateway g WHERE g.instance = $2::uuid),
              hold IS NULL AND state = 'running'
                AND looked <= now - $4::bigint * interval '1 microsecond',
              (SELECT md5(string_agg(c.image || c.made, ' ' ORDER BY c.image))
                FROM yardmaster.recall c),
              -- Each by its key, and not all that are under way (which `OFFSET 0` ensures).
              (SELECT string_agg(e.vehicle, chr(10)) FROM unnest($5::text[]) AS v
                CROSS JOIN LATERAL (SELECT * FROM yardmaster.execution k
                  WHERE k.rollout = $1 AND k.beginning = r.beginning AND k.vehicle = v OFFSET 0) AS e
                \(held)),
              CASE WHEN $6::boolean THEN (SELECT count(*) FROM yardmaster.execution e \(held)
                AND e.rollout = $1 AND e.beginning = r.beginning) END,
              (SELECT string_agg(e.vehicle, chr(10)) FROM yardmaster.execution e
                WHERE e.rollout = r.name AND e.beginning = r.beginning AND e.state = 'queued'
                  AND e.favoured = $3 AND e.favoured_until > now)
            FROM yardmaster.rollout r, (SELECT yardmaster.clock() AS now) AS clock
            WHERE name = $1
            """,
            [
                rollout, holder.instance, holder.gateway, Self.lookShare.microseconds,
                Self.array(vehicles.map(\.text)), "\(counts)",
            ]
        ).first.flatMap { FleetGlance($0) }
    }

    /// What has changed in the vehicles of the rollout that was looked at since the change `changes`.
    package func news(
        of glance: FleetGlance,
        since changes: Int,
        for holder: FleetHolder
    ) throws(FleetError) -> FleetNews {
        var news = FleetNews()
        guard glance.changes > changes else { return news }
        // A change after the look is read again at the next one.
        let found = try rows(
            "look at its vehicles",
            """
            SELECT e.vehicle, e.state, EXISTS (SELECT FROM yardmaster.missed m
                WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                  AND m.vehicle = e.vehicle AND m.instance = $4::uuid),
              e.outcome, e.failure, e.sentence, e.version, e.gateway
            FROM yardmaster.execution e
            WHERE e.rollout = $1 AND e.beginning = $2::bigint AND e.changed > $3::bigint
            ORDER BY e.changed, e.vehicle
            """,
            [glance.rollout.name, "\(glance.rollout.beginning)", "\(changes)", holder.instance]
        )
        // The caller records these verdicts in its journal: the database must not lose them
        // afterwards.
        try sync()
        for row in found {
            guard let vehicle = row.vehicle(0) else { continue }
            if row.text(1) == "ended" {
                if let end = FleetEnd(row, from: 3, of: vehicle) { news.ended.append(end) }
            } else if !row.isTrue(2) {
                news.opened.append(vehicle)
            }
        }
        return news
    }
}
