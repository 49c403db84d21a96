package import Base

/// What gateways that share a rollout agree on about an update server's actions.
extension FleetDatabase {
    /// An arbitrary number, the first half of the lock.
    private static let serversLock: Int32 = 0x5941_5246

    /// The right to speak to the server of a rollout: the session that has it, or nil while another gateway has it.
    ///
    /// It ends with the session. Another number than before means that it was lost in between.
    package func holdServer(of rollout: String) throws(FleetError) -> Int64? {
        let row = try rows(
            "take the right to speak to an update server",
            """
            WITH known AS (
              SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
                AND classid::bigint = \(Self.serversLock) AND objid = hashtext($1)::oid AND granted
            )
            SELECT CASE WHEN EXISTS (SELECT FROM known)
              OR pg_try_advisory_lock(\(Self.serversLock), hashtext($1)) THEN pg_backend_pid()::bigint END
            """,
            [rollout]
        ).first
        return row?.integer(0)
    }

    /// The images that may not be sent to a module for this rollout.
    package func withdrawn(
        in rollout: String,
        from serial: Serial
    ) throws(FleetError) -> Set<SHA256Digest> {
        Set(
            try rows(
                "read what servers have withdrawn",
                "SELECT image FROM yardmaster.served WHERE rollout = $1 AND serial = $2 AND NOT open",
                [rollout, serial.text]
            ).compactMap { row in row.text(0).flatMap { SHA256Digest($0) } }
        )
    }

    /// Allows a transfer to begin, or forbids it, on every gateway.
    package func serve(
        _ image: SHA256Digest,
        to serial: Serial,
        in rollout: String,
        _ isOpen: Bool,
        _ sentence: String
    ) throws(FleetError) {
        _ = try rows(
            "note an action of an update server",
            """
            INSERT INTO yardmaster.served AS n (rollout, serial, image, open, sentence)
            VALUES ($1, $2, $3, $4::boolean, $5)
            ON CONFLICT (rollout, serial, image) DO UPDATE SET open = excluded.open,
              sentence = excluded.sentence
            WHERE n.open <> excluded.open
            """,
            [rollout, serial.text, image.description, "\(isOpen)", sentence]
        )
    }

    /// Forbids transfers to a module unless one has begun; false when one has.
    ///
    /// Waits for the beginnings that are being committed, and no later one passes. Without an image all that were
    /// allowed are forbidden.
    package func withdraw(
        _ image: SHA256Digest?,
        from serial: Serial,
        in rollout: String,
        _ sentence: String
    ) throws(FleetError) -> Bool {
        let operation = "withdraw an action of an update server"
        return try transaction(operation) { () throws(FleetError) -> Bool in
            _ = try rows(
                operation,
                "SELECT pg_advisory_xact_lock(\(FleetSchema.recallLock))"
            )
            guard
                try rows(
                    operation,
                    "SELECT FROM yardmaster.debt WHERE serial = $1",
                    [serial.text]
                ).isEmpty
            else { return false }
            if let image {
                try serve(image, to: serial, in: rollout, false, sentence)
            } else {
                _ = try rows(
                    operation,
                    """
                    UPDATE yardmaster.served SET open = false, sentence = $3
                    WHERE rollout = $1 AND serial = $2 AND open
                    """,
                    [rollout, serial.text, sentence]
                )
            }
            return true
        }
    }

    /// The debt of a module, and how often its vehicle has failed on one release.
    package func openWork(
        of vehicle: VehicleID,
        on serial: Serial
    ) throws(FleetError) -> (debt: Debt?, failures: Int) {
        let debt = try rows(
            "read the debt of module \(serial)",
            "\(Debt.shared) WHERE serial = $1",
            [serial.text]
        ).compactMap { Debt($0) }.first
        let count = try rows(
            "read the failures of \(vehicle)",
            "SELECT max(count)::bigint FROM yardmaster.failure WHERE vehicle = $1",
            [vehicle.text]
        ).first?.integer(0)
        return (debt, Int(count ?? 0))
    }
}
