package import Base

/// The identity of a database's history, and whether it waits for one gateway's reports.
package struct FleetPlaceInHistory: Sendable, Equatable {
    /// Different after a standby took over or a backup was confirmed: earlier reports may be lost.
    package let mark: String
    /// Whether no right is granted before this gateway has reported again.
    package let isAwaited: Bool
    /// What the server's clock read.
    package let clock: WallTime

    fileprivate static let marked = """
        (SELECT s.system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
          || '/' || h.module_table || '/' || h.generation
        FROM yardmaster.history h, pg_control_system() s)
        """

    static func columns(of gateway: String) -> String {
        """
        \(marked), EXISTS (SELECT FROM yardmaster.awaited a WHERE a.gateway = \(gateway)),
          (extract(epoch FROM yardmaster.clock()) * 1000)::bigint
        """
    }

    /// Nil when the table of histories is empty.
    init?(_ row: DatabaseRow) {
        guard let mark = row.text(0), let clock = row.time(2) else { return nil }
        (self.mark, self.clock) = (mark, clock)
        isAwaited = row.isTrue(1)
    }
}

extension FleetDatabase {
    package func place(of gateway: String) throws(FleetError) -> FleetPlaceInHistory {
        let operation = "look which history this is"
        let found = try rows(
            operation,
            "SELECT \(FleetPlaceInHistory.columns(of: "$1"))",
            [gateway],
            isFrequent: true
        )
        guard let place = found.first.flatMap({ FleetPlaceInHistory($0) }) else {
            throw FleetError(.noSchema, operation, "the table is empty")
        }
        return place
    }

    /// This gateway has reported everything to this history: the database no longer waits for it.
    package func hasRetold(_ gateway: String, in place: FleetPlaceInHistory) throws(FleetError) {
        _ = try rows(
            "say that all is reported",
            "DELETE FROM yardmaster.awaited WHERE gateway = $1 AND \(FleetPlaceInHistory.marked) = $2",
            [gateway, place.mark]
        )
    }

    /// A person's decision to wait no longer for this gateway; false when it was not awaited.
    package func forget(_ gateway: String) throws(FleetError) -> Bool {
        try !rows(
            "wait no longer for \(gateway)",
            "DELETE FROM yardmaster.awaited WHERE gateway = $1 RETURNING gateway",
            [gateway]
        ).isEmpty
    }

    // MARK: Open records; existing ones stay unchanged

    /// Reports a step that must be done once and whose result is unknown.
    ///
    /// It belongs to the rollout's beginning that the gateway has last seen.
    package func report(
        doubt intent: Intent,
        under lease: FleetLease,
        beginning: Int?,
        of holder: FleetHolder
    ) throws(FleetError) {
        _ = try rows(
            "report `\(intent.description)` in doubt",
            """
            INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action,
              epoch, instance, gateway, begun, outcome, settled)
            VALUES ($1, coalesce($2::bigint,
                (SELECT beginning FROM yardmaster.rollout WHERE name = $1), 1),
              $3, $4, $5::integer, $6, $7, $8::bigint, $9::uuid, $10, yardmaster.clock(),
              'in-doubt', yardmaster.clock())
            ON CONFLICT (rollout, beginning, vehicle, digest, ordinal) DO NOTHING
            """,
            [
                intent.rollout, beginning.map { "\($0)" }, intent.vehicle.text,
                intent.step.text, "\(intent.step.ordinal)", lease.serial.text,
                intent.description, "\(lease.epoch)", holder.instance, holder.gateway,
            ]
        )
    }

    /// Reports the debt of a module, which it has until its update is proven.
    package func report(
        debt: Debt,
        epoch: Int,
        gateway: String
    ) throws(FleetError) {
        _ = try rows(
            "report the debt of module \(debt.serial)",
            """
            INSERT INTO yardmaster.debt
              (serial, vehicle, rollout, epoch, gateway, image, name, version, target, total)
            VALUES ($1, $2, $3, $4::bigint, $5, $6, $7, $8, $9, $10::bigint)
            ON CONFLICT (serial) DO NOTHING
            """,
            [
                debt.serial.text, debt.vehicle.text, debt.rollout, "\(epoch)", gateway,
                debt.image.description, debt.name, debt.version?.description, debt.target,
                "\(debt.total)",
            ]
        )
    }

    /// Reports a step of `always` that is still owed to a vehicle.
    package func report(
        owed step: OwedStep,
        epoch: Int,
        gateway: String
    ) throws(FleetError) {
        _ = try rows(
            "report what \(step.vehicle) is owed",
            """
            INSERT INTO yardmaster.owed (rollout, vehicle, digest, ordinal, epoch, gateway, action)
            VALUES ($1, $2, $3, $4::integer, $5::bigint, $6, $7) ON CONFLICT DO NOTHING
            """,
            [
                step.rollout, step.vehicle.text, step.step.text, "\(step.step.ordinal)",
                "\(epoch)", gateway, step.action,
            ]
        )
    }
}
