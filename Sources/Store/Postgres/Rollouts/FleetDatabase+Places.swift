package import Base

extension FleetDatabase {
    /// Reports how well this gateway hears vehicles of the rollout, in dBm: a hint for the choice between gateways.
    package func hear(
        _ signals: [(vehicle: VehicleID, signal: Int)],
        of rollout: String,
        beginning: Int,
        as holder: FleetHolder
    ) throws(FleetError) {
        _ = try rows(
            "report which vehicles are heard",
            """
            INSERT INTO yardmaster.hearing AS h (rollout, vehicle, gateway, beginning, signal, at)
            SELECT $1, n.vehicle, $3, $2::bigint, n.signal, yardmaster.clock()
            FROM unnest($4::text[], $5::integer[]) AS n(vehicle, signal)
            ORDER BY n.vehicle
            ON CONFLICT (rollout, vehicle, gateway) DO UPDATE SET signal = excluded.signal,
              failures = CASE WHEN h.beginning = excluded.beginning THEN h.failures ELSE 0 END,
              beginning = excluded.beginning, at = excluded.at
            RETURNING \(Self.unsynced)
            """,
            [
                rollout, "\(beginning)", holder.gateway,
                Self.array(signals.map(\.vehicle.text)),
                Self.array(signals.map { "\($0.signal)" }),
            ]
        )
    }

    /// Reports that an attempt failed on the radio; returns the gateway that tries next, nil for this one.
    ///
    /// A vehicle that `isLost` is not heard by this gateway any more.
    package func wear(
        _ lease: FleetLease,
        _ vehicle: VehicleID,
        of rollout: String,
        beginning: Int,
        signal: Int?,
        isLost: Bool,
        as holder: FleetHolder
    ) throws(FleetError) -> String? {
        try rows(
            "report that an attempt on \(vehicle) has failed",
            """
            SELECT o_gateway FROM yardmaster.wear($1, $2::bigint, $3::uuid, $4, $5::bigint, $6,
              $7, $8::integer, $9::boolean)
            """,
            [
                lease.serial.text, "\(lease.epoch)", holder.instance, rollout, "\(beginning)",
                vehicle.text, holder.gateway, signal.map { "\($0)" }, "\(isLost)",
            ]
        ).first?.text(0)
    }
}
