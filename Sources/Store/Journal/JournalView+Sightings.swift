package import Base

/// The time when a vehicle was last heard, from the events of the runs that are kept.
package struct Sighting: Sendable, Equatable {
    package let vehicle: VehicleID
    package let time: WallTime

    package init(_ vehicle: VehicleID, at time: WallTime) {
        self.vehicle = vehicle
        self.time = time
    }
}

/// The signal of a vehicle when it was last heard.
package struct SignalSighting: Sendable, Equatable {
    package let vehicle: VehicleID
    /// The text of the run's event, such as `-71 dBm`.
    package let signal: String
}

/// A verdict that a run gave a vehicle.
package struct Ending: Sendable, Equatable {
    package let vehicle: VehicleID
    package let time: WallTime
    package let outcome: Outcome

    package init(_ vehicle: VehicleID, _ outcome: Outcome, at time: WallTime) {
        self.vehicle = vehicle
        self.time = time
        self.outcome = outcome
    }
}

extension JournalView {
    /// The last time that each vehicle answered.
    ///
    /// A step that acts or fails is no answer: a GO device may not have connected for it. The last
    /// event is the one with the highest number: a clock that was set back does not hide it.
    package func sightings() throws(JournalError) -> [Sighting] {
        try rows(
            """
            SELECT vehicle, time, MAX(run << 32 | number) FROM events
            WHERE vehicle IS NOT NULL AND (kind IN ('inspected', 'interrupted')
                OR (kind = 'step-ended' AND json_extract(json, '$.fate') <> 'failed')
                OR (kind = 'vehicle-ended' AND json_extract(json, '$.outcome') = 'succeeded')
                OR (kind = 'state-changed' AND json_extract(json, '$.state') IN (
                    'connecting', 'authenticating', 'inspecting', 'starting', 'transferring',
                     'settling', 'confirming')))
            GROUP BY vehicle
            """,
            [],
            { row throws(JournalError) in
                Sighting(
                    try row.value(0) { VehicleID($0) },
                    at: WallTime(milliseconds: row.integer(1))
                )
            }
        )
    }

    /// The signal of each vehicle when a link to it was last made, in this run or in all that are kept.
    package func signals(ofRun run: Int? = nil) throws(JournalError) -> [SignalSighting] {
        try rows(
            """
            SELECT vehicle, json_extract(json, '$.detail'), MAX(run << 32 | number) FROM events
            WHERE vehicle IS NOT NULL AND kind = 'state-changed'
                AND json_extract(json, '$.detail') LIKE '% dBm'
                \(run == nil ? "" : "AND run = ?")
            GROUP BY vehicle
            """,
            run.map { [Value($0)] } ?? [],
            { row throws(JournalError) in
                SignalSighting(
                    vehicle: try row.value(0) { VehicleID($0) },
                    signal: row.text(1) ?? ""
                )
            }
        )
    }

    /// All verdicts of the runs that are kept, except orders, in their order.
    package func endings() throws(JournalError) -> [Ending] {
        try rows(
            """
            SELECT e.vehicle, e.time, json_extract(e.json, '$.outcome') FROM events AS e
            JOIN runs AS r ON r.number = e.run
            WHERE e.kind = 'vehicle-ended' AND e.vehicle IS NOT NULL AND NOT r.is_order
            ORDER BY e.run, e.number
            """,
            [],
            { row throws(JournalError) in
                Ending(
                    try row.value(0) { VehicleID($0) },
                    try row.value(2) { Outcome(rawValue: $0) },
                    at: WallTime(milliseconds: row.integer(1))
                )
            }
        )
    }
}
