package import Base

/// The right to touch one module, as this machine's journal grants it.
package struct LeaseRecord: Sendable, Equatable {
    package let serial: Serial
    /// Counts the grants of this module's right, and never decreases.
    package let epoch: Int
    package let run: Int
    package let vehicle: VehicleID

    package init(serial: Serial, epoch: Int, run: Int, vehicle: VehicleID) {
        self.serial = serial
        self.epoch = epoch
        self.run = run
        self.vehicle = vehicle
    }
}

/// The answer to a request for the right to a module.
package enum LeaseAnswer: Sendable, Equatable {
    case granted(LeaseRecord)
    /// Another vehicle's execution of this run has it.
    case held
    /// The rollout is paused or aborted: nothing may be begun.
    case stopped(Hold)
    /// The vehicle must be left alone.
    case inhibited(Inhibit)
}

extension Journal {
    /// Claims the right like the next function, and refuses while the vehicle is inhibited or the
    /// rollout is held.
    ///
    /// Debts may be paid under a hold (`paying`). The transaction that grants also decides.
    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        of rollout: String,
        run: Int,
        paying: Bool,
        at time: WallTime
    ) throws(JournalError) -> LeaseAnswer {
        let database = try opened()
        return try database.transaction(.relaxed) { () throws(JournalError) in
            let view = JournalView(database: database)
            // The module may be in another vehicle by now, which somebody works on.
            if let inhibit = try view.inhibition(of: vehicle, with: serial, at: time) {
                return .inhibited(inhibit)
            }
            if !paying, let hold = try view.hold(on: rollout) { return .stopped(hold) }
            let record = try Self.claim(serial, for: vehicle, run: run, in: database)
            return record.map { .granted($0) } ?? .held
        }
    }

    /// Grants the right when no other vehicle of this run has it.
    ///
    /// A right that an earlier run held is free, because that run's process is gone: there is only
    /// one writer at a time.
    ///
    /// A holder that asks again gets the same answer; nil while another vehicle's execution has the
    /// right.
    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        run: Int
    ) throws(JournalError) -> LeaseRecord? {
        let database = try opened()
        return try database.transaction(.relaxed) { () throws(JournalError) in
            try Self.claim(serial, for: vehicle, run: run, in: database)
        }
    }

    private static func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        run: Int,
        in database: JournalDatabase
    ) throws(JournalError) -> LeaseRecord? {
        let found = try database.statement(
            "SELECT epoch, run, vehicle FROM leases WHERE serial = ?"
        )
        try found.bind([.text(serial.text)])
        var epoch = 0
        if try found.step() {
            epoch = Int(found.integer(0))
            if !found.isNull(1), Int(found.integer(1)) == run {
                guard found.text(2) == vehicle.text else { return nil }
                return LeaseRecord(serial: serial, epoch: epoch, run: run, vehicle: vehicle)
            }
        }
        try database.statement(
            """
            INSERT INTO leases (serial, epoch, run, vehicle) VALUES (?, ?, ?, ?)
            ON CONFLICT (serial) DO UPDATE SET
                epoch = excluded.epoch, run = excluded.run, vehicle = excluded.vehicle
            """
        ).run([
            .text(serial.text), Value(epoch + 1), Value(run), .text(vehicle.text),
        ])
        return LeaseRecord(serial: serial, epoch: epoch + 1, run: run, vehicle: vehicle)
    }

    /// Gives the right back; does nothing when it is no longer held.
    package func release(_ lease: LeaseRecord) throws(JournalError) {
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            try Self.release(lease, in: database)
        }
    }

    static func release(
        _ lease: LeaseRecord,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            """
            UPDATE leases SET run = NULL, vehicle = NULL
            WHERE serial = ? AND epoch = ? AND run = ?
            """
        ).run([.text(lease.serial.text), Value(lease.epoch), Value(lease.run)])
    }
}
