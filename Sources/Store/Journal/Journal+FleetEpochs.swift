package import Base

/// This gateway's record of the fleet's last grant of one module.
package struct FleetEpoch: Sendable, Equatable {
    package let serial: Serial
    package let epoch: Int
    /// The generation of the fleet's database at the time of the grant.
    package let generation: Int

    package init(serial: Serial, epoch: Int, generation: Int) {
        self.serial = serial
        self.epoch = epoch
        self.generation = generation
    }
}

extension Journal {
    /// The last grant of a module; nil when there was none.
    package func fleetEpoch(of serial: Serial) throws(JournalError) -> FleetEpoch? {
        let found = try opened().statement(
            "SELECT epoch, generation FROM fleet_epochs WHERE serial = ?"
        )
        try found.bind([.text(serial.text)])
        guard try found.step() else { return nil }
        return FleetEpoch(
            serial: serial,
            epoch: Int(found.integer(0)),
            generation: Int(found.integer(1))
        )
    }

    /// The highest generation of the fleet that was seen; nil when none was.
    package func fleetGeneration() throws(JournalError) -> Int? {
        let found = try opened().statement("SELECT max(generation) FROM fleet_epochs")
        guard try found.step(), !found.isNull(0) else { return nil }
        return Int(found.integer(0))
    }

    /// Remembers a grant; ignores one of an older generation, or with a lower epoch of the same
    /// generation.
    package func remember(_ grant: FleetEpoch) throws(JournalError) {
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            try database.statement(
                """
                INSERT INTO fleet_epochs (serial, epoch, generation) VALUES (?1, ?2, ?3)
                ON CONFLICT (serial) DO UPDATE SET
                    epoch = excluded.epoch, generation = excluded.generation
                WHERE (excluded.generation, excluded.epoch) > (generation, epoch)
                """
            ).run([.text(grant.serial.text), Value(grant.epoch), Value(grant.generation)])
        }
    }
}
