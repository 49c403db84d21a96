import Base
import Radio
import Store

/// The state of an execution, for the journal and the reports.
extension Execution {
    /// Records the execution's state in the journal and reports it as an event.
    ///
    /// An act that is about to begin is intended in the same transaction.
    func note(
        _ state: ExecutionState,
        durably: Bool,
        intending act: Act? = nil,
        detail: String? = nil,
        deadline: (label: String, in: Duration)? = nil
    ) async throws(JournalError) {
        record.state = state
        record.linked = record.linked || state.isReached
        record.updated = time.wallTime
        record.nextDeadline = deadline.map {
            ExecutionRecord.Deadline($0.label, at: time.wallTime.advanced(by: $0.in))
        }
        try await save(durably: durably, intending: act)
        depot.events.emit(
            .stateChanged(vehicle, state, adapter: depot.central.adapter, detail: detail)
        )
    }

    /// Writes the record, the debt if it differs from the journal's, and a payment that was not
    /// written yet.
    func save(durably: Bool, intending act: Act?) async throws(JournalError) {
        let debt = debt
        let isKept = debt == act?.debt ?? keptDebt
        try await depot.journal.record(
            record,
            durably: durably,
            intending: act,
            debt: isKept ? nil : debt,
            paying: payment
        )
        (keptDebt, payment) = (debt, nil)
    }

    /// Writes the record as it stands now, without a change of its state.
    func touch(durably: Bool, intending act: Act?) async throws(JournalError) {
        record.updated = time.wallTime
        try await save(durably: durably, intending: act)
    }

    func enter(
        _ state: ExecutionState,
        durably: Bool = false,
        detail: String? = nil,
        deadline: (label: String, in: Duration)? = nil
    ) async throws(Halt) {
        do throws(JournalError) {
            try await note(state, durably: durably, detail: detail, deadline: deadline)
        } catch { throw .journal(error) }
    }
}
