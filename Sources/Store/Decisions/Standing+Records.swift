package import Base

extension Standing {
    /// The standing of a vehicle from the journal: the same for runs, reports and `status`.
    ///
    /// `run` is the run that asks. A doubt is left out for a job that only reads, which it does not
    /// concern.
    package init(
        _ record: ExecutionRecord,
        asking run: Int,
        debt: Debt?,
        doubt: IntentRecord?,
        owed: [OwedStep],
        check: String? = nil
    ) {
        // What another run began after that one changes no verdict: it is reported beside it.
        let due = (
            debt: debt.flatMap { $0.gateway != nil || $0.run <= run ? $0 : nil },
            doubt: doubt.flatMap { $0.gateway != nil || $0.intent.run <= run ? $0 : nil },
            owed: owed.filter { $0.gateway != nil || $0.run <= run }
        )
        let closing: Closing?
        if let doubt = due.doubt {
            closing = Closing(inDoubt: doubt, check).owing(due.debt).owing(due.owed)
        } else if let end = record.end, end.outcome.tally != .failed {
            closing = Closing(end.outcome, end.failure, end.message)
                .owing(due.debt).owing(due.owed)
        } else {
            // The message of a failed vehicle already has what it owed then.
            closing = record.end.map { Closing($0.outcome, $0.failure, $0.message) }
        }
        let isEarlier = record.end != nil && (record.run != run || record.gateway != nil)
        self.init(
            record.serial,
            State(record, debt),
            verdict: closing.map { closing in
                Verdict(
                    outcome: closing.outcome,
                    failure: closing.failure,
                    message: record.end?.outcome == closing.outcome
                        ? record.end?.message ?? closing.message : closing.message,
                    versionBefore: record.versionBefore,
                    versionAfter: due.debt == nil ? record.versionAfter : nil,
                    // The run that reports an earlier verdict has done nothing for it.
                    attempts: isEarlier ? 0 : record.attempt,
                    interruptions: isEarlier ? 0 : record.interruptions,
                    bytesSent: .zero,
                    took: .zero
                )
            },
            run: isEarlier ? record.run : nil
        )
        if self.run != nil { gateway = record.gateway }
        self.debt = debt.map { debt in
            Unproven(
                image: debt.title,
                rollout: debt.rollout,
                run: debt.run,
                seenRun: debt.seenRun,
                percent: debt.percent
            )
        }
        self.debt?.gateway = debt?.gateway
        self.debt?.seenGateway = debt?.seenGateway
        self.doubt = doubt?.intent.description
        self.owed = owed.map(\.action)
    }
}

extension Standing.State {
    fileprivate init(_ record: ExecutionRecord, _ debt: Debt?) {
        self =
            switch debt {
            case let debt? where debt.inBootloader: .inBootloader
            case let debt? where debt.total > 0 && debt.acknowledged >= debt.total: .unproven
            case _?: .midUpdate
            case nil: record.linked || record.acted ? .waiting : .notBegun
            }
    }
}

extension ExecutionState {
    /// Whether there is a link to the vehicle, or a step is under way.
    package var isReached: Bool {
        switch self {
        case .queued, .seeking, .connecting, .interrupted, .ended: false
        case .authenticating, .inspecting, .acting, .starting, .transferring, .settling,
            .confirming:
            true
        }
    }
}

extension OpenAccount {
    /// The execution of a vehicle that is not in the list of this run, with the verdict that it has
    /// because of what it owes.
    package func record(asking run: Int, at time: WallTime) -> ExecutionRecord {
        let closing = Closing(.skipped, nil, "it is not in the list of this run")
            .owing(debt).owing(owed)
        var record = ExecutionRecord(
            number: execution,
            rollout: rollout,
            vehicle: vehicle,
            serial: serial,
            run: run,
            started: begun
        )
        record.end = ExecutionRecord.End(
            closing.outcome,
            failure: closing.failure,
            message: closing.message,
            at: time
        )
        return record
    }

    /// The standing in the report of the run that asks.
    package func standing(asking run: Int, at time: WallTime) -> Standing {
        Standing(
            record(asking: run, at: time),
            asking: run,
            debt: debt,
            doubt: doubt,
            owed: owed
        )
    }
}

/// The open debts, doubts and owed steps of a depot, by vehicle.
package struct OpenAccounts: Sendable {
    /// By the vehicle that the module is in now; what other gateways have begun, by the module.
    private var debts: [VehicleID: Debt] = [:]
    private var elsewhere: [Serial: Debt] = [:]
    private var doubts: [VehicleID: IntentRecord] = [:]
    private var owed: [VehicleID: [OwedStep]] = [:]

    package init(debts: [Debt], doubts: [IntentRecord], owed: [OwedStep]) {
        for debt in debts {
            self.debts[debt.vehicle] = debt
            if debt.gateway != nil { elsewhere[debt.serial] = debt }
        }
        for doubt in doubts where self.doubts[doubt.intent.vehicle] == nil {
            self.doubts[doubt.intent.vehicle] = doubt
        }
        for step in owed { self.owed[step.vehicle, default: []].append(step) }
    }

    /// The standing of the vehicle, for the run that asks.
    package func standing(
        of record: ExecutionRecord,
        asking run: Int,
        onlyReads: Bool = false,
        check: (IntentRecord) -> String? = { _ in nil }
    ) -> Standing {
        let doubt = onlyReads ? nil : doubts[record.vehicle]
        var record = record
        // A doubt ends when a person has answered it: the next run continues from there.
        if !onlyReads, doubt == nil, record.end?.outcome == .inDoubt { record.end = nil }
        return Standing(
            record,
            asking: run,
            debt: debts[record.vehicle] ?? elsewhere[record.serial],
            doubt: doubt,
            owed: owed[record.vehicle] ?? [],
            check: doubt.flatMap(check)
        )
    }
}
