import Base

extension FleetDatabase {
    /// Vehicles of a list whose module was in a vehicle that is not in it any more, and on which something is open.
    ///
    /// What people have set, doubts and owed steps are under the id of the vehicle: under another one nobody would find
    /// them.
    package func changes(in list: [ListedVehicle]) throws(FleetError) -> [ListChange] {
        try rows(
            "compare the list with what is open",
            """
            WITH list AS MATERIALIZED (
              SELECT * FROM unnest($1::text[], $2::text[]) AS l(vehicle, serial)
            ), open AS MATERIALIZED (
              SELECT i.vehicle, NULL AS serial, i.vehicle || ' is inhibited: ' || i.reason AS why
              FROM yardmaster.inhibit i
              WHERE i.vehicle <> '' AND (i.expires IS NULL OR i.expires > yardmaster.clock())
              UNION ALL SELECT s.vehicle, s.serial,
                'nobody knows whether ' || s.vehicle || ' carried out `' || s.action || '`'
              FROM yardmaster.step s WHERE s.outcome IS NULL OR s.outcome = 'in-doubt'
              UNION ALL SELECT w.vehicle, NULL, w.vehicle || ' owes `' || w.action || '`'
              FROM yardmaster.owed w
            )
            SELECT l.vehicle, l.serial, o.vehicle, o.why
            FROM open o
            -- The module that it had last.
            LEFT JOIN LATERAL (SELECT e.serial FROM yardmaster.rollout r
              JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
                AND e.vehicle = o.vehicle
              ORDER BY r.updated DESC LIMIT 1) AS known ON true
            JOIN list l ON l.serial = coalesce(known.serial, o.serial)
            WHERE NOT EXISTS (SELECT FROM list WHERE list.vehicle = o.vehicle)
            ORDER BY l.vehicle, o.vehicle LIMIT 1
            """,
            [Self.array(list.map(\.id.text)), Self.array(list.map(\.serial.text))]
        ).compactMap { row in
            guard let id = row.vehicle(0), let serial = row.text(1).flatMap({ Serial($0) }),
                let known = row.vehicle(2)
            else { return nil }
            return .elsewhere(ListedVehicle(id, serial), known: known, open: row.text(3))
        }
    }
}
