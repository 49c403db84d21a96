package import Domain

/// What `clear` came to.
package struct Cleared: Sendable, Equatable {
    package var debts: [Debt] = []
    package var doubts = 0
    package var owed: [OwedStep] = []
    package var failures = 0
    /// A run is at work on the vehicle: nothing was changed.
    package var isAtWork = false

    package init() {}
}

/// What `retry` came to, by vehicle.
package struct Rearmed: Sendable, Equatable {
    package var vehicles: [VehicleID] = []
    /// Those that were named and may not be taken again, with why.
    package var refused: [VehicleID: String] = [:]

    package init() {}
}

/// An intent, or why it was not written.
package enum IntentAnswer: Sendable {
    case intended(IntentID)
    case inhibited(Inhibit)
}

// What people say of vehicles.

extension Journal {
    /// What leaves the vehicle alone at a time, if anything does.
    package func inhibition(
        of vehicle: VehicleID,
        at time: WallTime
    ) throws(JournalError) -> Inhibit? {
        try view().inhibition(of: vehicle, at: time)
    }

    /// As `intend`, unless the vehicle is to be left alone: decided in the same transaction.
    package func intendUnlessInhibited(
        _ intent: Intent,
        opening debt: Debt? = nil,
        owing steps: [OwedStep] = []
    ) throws(JournalError) -> IntentAnswer {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            if let inhibit = try view.inhibition(of: intent.vehicle, at: intent.begun) {
                return .inhibited(inhibit)
            }
            return .intended(
                try Self.intend(intent, opening: debt, owing: steps, in: database)
            )
        }
    }

    /// Takes the verdicts of failed, unreachable and deferred vehicles away: those named, or all
    /// that may be taken again without being named.
    ///
    /// What they have carried out stays done. For one that is named it is also said that what is in
    /// doubt was not carried out. Where one of those that are named may not be taken again, nothing
    /// is changed. A run under way is told in the same transaction.
    package func retry(
        _ rollout: String,
        _ named: [VehicleID],
        quarantined: Set<VehicleID>,
        tellingRun isAtWork: Bool = false,
        by author: String,
        at time: WallTime
    ) throws(JournalError) -> Rearmed {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            let wanted = Set(named)
            let doubts = Set(try view.doubts(of: nil).map(\.intent.vehicle))
            var rearmed = Rearmed()
            var chosen: [ExecutionRecord] = []
            for record in try view.executions(rollout: rollout) {
                let vehicle = record.vehicle
                let isNamed = wanted.contains(vehicle)
                guard isNamed || wanted.isEmpty else { continue }
                var why: String?
                if try view.inhibition(of: vehicle, at: time) != nil {
                    why = "it is inhibited: 'yardmaster uninhibit' first"
                } else if quarantined.contains(vehicle) {
                    why = "it is in quarantine: 'yardmaster clear \(vehicle)' first"
                }
                if let why {
                    if isNamed { rearmed.refused[vehicle] = why }
                    continue
                }
                if doubts.contains(vehicle), !isNamed { continue }
                guard let tally = record.end?.outcome.tally else { continue }
                switch tally {
                case .failed, .unreachable, .deferred: break
                case .ok, .current, .skipped, .aborted: continue
                }
                chosen.append(record)
            }
            guard rearmed.refused.isEmpty else { return rearmed }
            for record in chosen {
                if doubts.contains(record.vehicle) {
                    _ = try Self.answerDoubts(
                        of: record.vehicle,
                        as: IntentRecord.failed,
                        by: author,
                        at: time,
                        in: database
                    )
                }
                try database.statement(
                    """
                    UPDATE executions SET state = 'queued', outcome = NULL, failure = NULL,
                        message = NULL, ended = NULL WHERE number = ?
                    """
                ).run([Value(record.number)])
                try Self.dropVerdict(of: record.number, in: database)
                rearmed.vehicles.append(record.vehicle)
            }
            if !rearmed.vehicles.isEmpty {
                try database.statement("UPDATE rollouts SET state = 'running' WHERE name = ?")
                    .run([.text(rollout)])
                if isAtWork {
                    let request = ControlRequest(
                        .retry,
                        rollout: rollout,
                        vehicles: rearmed.vehicles,
                        at: time
                    )
                    try Self.leave(request, in: database)
                }
            }
            return rearmed
        }
    }

    /// A person has looked at the vehicle: nothing is owed to it, nothing is in doubt.
    package func clear(
        _ vehicle: VehicleID,
        isAtWork: Bool,
        by author: String,
        at time: WallTime
    ) throws(JournalError) -> Cleared {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            var cleared = Cleared()
            cleared.debts = try view.debts().filter { $0.vehicle == vehicle }
            cleared.owed = try view.owed(by: vehicle)
            let hasDoubts = try !view.doubts(of: vehicle).isEmpty
            if isAtWork, hasDoubts || !cleared.debts.isEmpty {
                cleared.isAtWork = true
                return cleared
            }
            cleared.doubts = try Self.answerDoubts(
                of: vehicle,
                as: IntentRecord.done,
                by: author,
                at: time,
                in: database
            )
            for debt in cleared.debts {
                try database.statement("DELETE FROM debts WHERE serial = ?")
                    .run([.text(debt.serial.text)])
                try database.statement(
                    """
                    UPDATE intents SET outcome = 'cleared', settled = ?, author = ?
                    WHERE vehicle = ? AND image = ? AND settled IS NULL
                    """
                ).run([
                    Value(time), .text(author), .text(vehicle.text),
                    .text(debt.image.description),
                ])
            }
            try database.statement("DELETE FROM owed WHERE vehicle = ?").run([.text(vehicle.text)])
            try database.statement("DELETE FROM failures WHERE vehicle = ?")
                .run([.text(vehicle.text)])
            cleared.failures = database.changedRows
            return cleared
        }
    }

    /// Every vehicle that something is known of.
    package func vehicles() throws(JournalError) -> Set<VehicleID> { try view().vehicles() }

    /// Vehicles that a run has the right to at the moment.
    package func vehiclesAtWork() throws(JournalError) -> Set<VehicleID> {
        Set(
            try view().rows(
                """
                SELECT leases.vehicle FROM leases JOIN runs ON runs.number = leases.run
                WHERE runs.ended IS NULL
                """,
                [],
                { row throws(JournalError) in try row.value(0) { VehicleID($0) } }
            )
        )
    }
}

extension JournalView {
    /// What is said of the vehicle comes before what is said of the depot.
    package func inhibition(
        of vehicle: VehicleID,
        at time: WallTime
    ) throws(JournalError) -> Inhibit? {
        try rows(
            """
            SELECT \(Inhibit.columns) FROM inhibits
            WHERE vehicle IN (?, '') AND (expires IS NULL OR expires > ?)
            ORDER BY vehicle DESC LIMIT 1
            """,
            [.text(vehicle.text), Value(time)],
            { row throws(JournalError) in try Inhibit(row: row) }
        ).first
    }

    package func vehicles() throws(JournalError) -> Set<VehicleID> {
        Set(
            try rows(
                """
                SELECT vehicle FROM executions UNION SELECT vehicle FROM debts
                UNION SELECT vehicle FROM owed UNION SELECT vehicle FROM failures
                UNION SELECT vehicle FROM inhibits WHERE vehicle <> ''
                """,
                [],
                { row throws(JournalError) in try row.value(0) { VehicleID($0) } }
            )
        )
    }
}
