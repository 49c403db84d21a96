package import Base

/// An intent, or the reason why it was not written.
package enum IntentAnswer: Sendable {
    case intended(IntentID)
    case inhibited(Inhibit)
}

// People's commands about vehicles.

extension Journal {
    /// The inhibit that applies to the vehicle at a time; nil when none does.
    package func inhibition(
        of vehicle: VehicleID,
        at time: WallTime
    ) throws(JournalError) -> Inhibit? {
        try view().inhibition(of: vehicle, at: time)
    }

    /// Writes an intent like `intend`, unless the vehicle is inhibited: decided in the same
    /// transaction.
    package func intendUnlessInhibited(
        _ intent: Intent,
        opening debt: Debt? = nil,
        owing steps: [OwedStep] = [],
        isFleets: Bool = false
    ) throws(JournalError) -> IntentAnswer {
        let database = try opened()
        let answer = try database.transaction(.durable) {
            () throws(JournalError) -> IntentAnswer in
            let view = JournalView(database: database)
            if let inhibit = try view.inhibition(of: intent.vehicle, at: intent.begun) {
                return .inhibited(inhibit)
            }
            var act = Act(intent, opening: debt, owing: steps)
            act.isFleets = isFleets
            return .intended(try Self.intend(act, in: database))
        }
        if case .intended(let id) = answer { try writeOutside(id, intent) }
        return answer
    }

    /// Removes the verdicts of failed, unreachable and deferred vehicles: those named, and those
    /// among `chosen` that may be tried again without being named.
    ///
    /// Steps that they have carried out stay done. The doubts about a named vehicle are settled as
    /// not carried out. When one of the named vehicles may not be tried again, nothing is changed.
    /// An active run is informed in the same transaction. A vehicle that a run works on, while a
    /// process has the journal to itself (`isHeld`), stays as it is: its open steps are that run's.
    package func retry(
        _ rollout: String,
        _ named: [VehicleID],
        among chosen: Set<VehicleID>? = nil,
        whileHeld isHeld: @Sendable () -> Bool = { false },
        quarantined: Set<VehicleID>,
        tellingRun isAtWork: Bool = false,
        by author: String,
        at time: WallTime,
        saying: Saying? = nil
    ) throws(JournalError) -> Rearmed {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            var rearmed = Rearmed(hold: try view.hold(on: rollout)?.kind)
            guard rearmed.hold?.isForGood != true else { return rearmed }
            let atWork = isHeld() ? try view.vehiclesAtWork() : []
            let wanted = Set(named)
            let others = chosen ?? (named.isEmpty ? nil : [])
            let doubts = Set(try view.doubts(of: nil).map(\.intent.vehicle))
            var ended: [ExecutionRecord] = []
            for record in try view.executions(rollout: rollout) {
                let vehicle = record.vehicle
                let isNamed = wanted.contains(vehicle)
                let isDoubtful = doubts.contains(vehicle)
                if isDoubtful, !isNamed { rearmed.doubtful.append(vehicle) }
                guard isNamed || others?.contains(vehicle) ?? true else { continue }
                let known = VehicleCase(
                    outcome: record.end?.outcome,
                    isDoubtful: isDoubtful,
                    isInhibited: try view.inhibition(of: vehicle, at: time) != nil,
                    isQuarantined: quarantined.contains(vehicle),
                    isAtWork: atWork.contains(vehicle)
                )
                switch known.retry(vehicle, isNamed: isNamed) {
                case .left: continue
                case .refused(let why): rearmed.refused[vehicle] = why
                case .again(let verdict, let doubts):
                    if doubts { rearmed.answered.append(vehicle) }
                    if verdict { ended.append(record) }
                }
            }
            guard rearmed.refused.isEmpty else {
                rearmed.answered = []
                return rearmed
            }
            for vehicle in rearmed.answered {
                _ = try Self.answerDoubts(
                    of: vehicle,
                    as: IntentRecord.failed,
                    by: author,
                    at: time,
                    in: database
                )
            }
            for record in ended {
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
                rearmed.rollouts = [rollout]
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
            if !(rearmed.vehicles + rearmed.answered).isEmpty {
                try Self.note(saying, in: database)
            }
            return rearmed
        }
    }

    /// Clears vehicles after a person has looked: nothing is owed to them, and nothing is in doubt
    /// on those that were named in full.
    ///
    /// Nothing is changed when a run is working on one that has a debt or a doubt, or owes a step.
    /// The transaction that answers decides this, too: a step that has just begun is no doubt.
    package func clear(
        _ vehicles: [VehicleID],
        named: Set<VehicleID>,
        whileHeld isHeld: @Sendable () -> Bool,
        by author: String,
        at time: WallTime,
        saying: Saying? = nil
    ) throws(JournalError) -> Cleared {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            let doubts = Set(try view.doubts(of: nil).map(\.intent.vehicle))
            let atWork = isHeld() ? try view.vehiclesAtWork() : []
            let open = try view.debts()
            let debts = vehicles.flatMap { vehicle in open.filter { $0.vehicle == vehicle } }
            var owed: [OwedStep] = []
            for vehicle in vehicles { owed += try view.owed(by: vehicle) }
            let owing = Set(debts.map(\.vehicle) + owed.map(\.vehicle))
            let cases = vehicles.map { vehicle in
                let found = VehicleCase(
                    isDoubtful: doubts.contains(vehicle),
                    isAtWork: atWork.contains(vehicle),
                    owes: owing.contains(vehicle)
                )
                return (vehicle: vehicle, found: found)
            }
            var cleared = Cleared(cases, named: named, debts, owed)
            guard cleared.atWork == nil else { return cleared }
            for vehicle in cleared.answered {
                try Self.clearDoubts(of: vehicle, by: author, at: time, in: database)
            }
            for debt in debts { try Self.clear(debt, by: author, at: time, in: database) }
            for vehicle in vehicles {
                try database.statement("DELETE FROM owed WHERE vehicle = ?")
                    .run([.text(vehicle.text)])
                try database.statement("DELETE FROM failures WHERE vehicle = ?")
                    .run([.text(vehicle.text)])
                cleared.failures += database.changedRows
            }
            if !cleared.isEmpty { try Self.note(saying, in: database) }
            return cleared
        }
    }

    /// Its commands in doubt count as done; its rollout goes on from there, also when it was finished.
    private static func clearDoubts(
        of vehicle: VehicleID,
        by author: String,
        at time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        _ = try answerDoubts(
            of: vehicle,
            as: IntentRecord.done,
            by: author,
            at: time,
            in: database
        )
        try database.statement(
            """
            UPDATE rollouts SET state = 'running' WHERE state = 'finished' AND EXISTS (
                SELECT 1 FROM executions AS e WHERE e.vehicle = ?
                    AND e.outcome = '\(Outcome.inDoubt.rawValue)'
                    AND e.rollout = rollouts.name AND e.beginning = rollouts.began
            )
            """
        ).run([.text(vehicle.text)])
    }

    private static func clear(
        _ debt: Debt,
        by author: String,
        at time: WallTime,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement("DELETE FROM debts WHERE serial = ?").run([.text(debt.serial.text)])
        try database.statement(
            """
            UPDATE intents SET outcome = 'cleared', settled = ?, author = ?
            WHERE execution = ? AND image = ? AND settled IS NULL
            """
        ).run([
            Value(time), .text(author), Value(debt.execution), .text(debt.image.description),
        ])
    }

    /// Every vehicle that something is known of.
    package func vehicles() throws(JournalError) -> Set<VehicleID> { try view().vehicles() }

    /// Vehicles that a run has the right to at the moment.
    package func vehiclesAtWork() throws(JournalError) -> Set<VehicleID> {
        try view().vehiclesAtWork()
    }
}

extension JournalView {
    /// A run that was killed works on none, but its rights stay: only while a process has the
    /// journal to itself does this mean anything.
    package func vehiclesAtWork() throws(JournalError) -> Set<VehicleID> {
        Set(
            try rows(
                """
                SELECT leases.vehicle FROM leases JOIN runs ON runs.number = leases.run
                WHERE runs.ended IS NULL
                """,
                [],
                { row throws(JournalError) in try row.value(0) { VehicleID($0) } }
            )
        )
    }

    /// The inhibit that applies to the vehicle, or to the one that the module is in; that of a vehicle comes before the
    /// depot's.
    package func inhibition(
        of vehicle: VehicleID,
        with serial: Serial? = nil,
        at time: WallTime
    ) throws(JournalError) -> Inhibit? {
        try row(
            """
            SELECT \(Inhibit.columns) FROM inhibits
            WHERE vehicle IN (?, '', (SELECT vehicle FROM modules WHERE serial = ?))
              AND (expires IS NULL OR expires > ?)
            ORDER BY vehicle DESC LIMIT 1
            """,
            [.text(vehicle.text), Value(serial?.text), Value(time)]
        )
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
