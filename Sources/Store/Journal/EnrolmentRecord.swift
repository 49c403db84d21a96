package import Base

/// The stage of a module on its way into service or out of it.
package struct EnrolmentRecord: Sendable, Equatable {
    package enum Stage: String, CaseIterable, Sendable, Hashable {
        /// Begun: the module's current secret may be in doubt, but all its possible secrets are
        /// known.
        case begun
        /// Its secret is proven and in its file, and its vehicle is listed.
        case enrolled
        /// It is being taken out of service.
        case leaving
        case undone
    }

    package let serial: Serial
    package let family: Family
    package let vehicle: VehicleID
    package let stage: Stage
    package let time: WallTime

    package init(
        serial: Serial,
        family: Family,
        vehicle: VehicleID,
        stage: Stage,
        time: WallTime
    ) {
        self.serial = serial
        self.family = family
        self.vehicle = vehicle
        self.stage = stage
        self.time = time
    }
}

extension Journal {
    package func enrolments() throws(JournalError) -> [EnrolmentRecord] {
        try view().enrolments()
    }

    package func note(_ record: EnrolmentRecord) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                """
                INSERT INTO enrolments (serial, family, vehicle, stage, time)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (serial, family) DO UPDATE SET
                    vehicle = excluded.vehicle, stage = excluded.stage, time = excluded.time
                """
            ).run([
                .text(record.serial.text), .text(record.family.rawValue),
                .text(record.vehicle.text), .text(record.stage.rawValue), Value(record.time),
            ])
        }
    }
}

extension JournalView {
    /// Every module that was brought into service here, by vehicle.
    package func enrolments() throws(JournalError) -> [EnrolmentRecord] {
        try rows(
            """
            SELECT serial, family, vehicle, stage, time FROM enrolments
            ORDER BY vehicle, serial, family
            """,
            [],
            { row throws(JournalError) in
                EnrolmentRecord(
                    serial: try row.value(0) { Serial($0) },
                    family: try row.value(1) { Family(rawValue: $0) },
                    vehicle: try row.value(2) { VehicleID($0) },
                    stage: try row.value(3) { EnrolmentRecord.Stage(rawValue: $0) },
                    time: WallTime(milliseconds: row.integer(4))
                )
            }
        )
    }
}
