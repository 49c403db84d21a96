import Domain
import Journal
import Modules
import Radio
import Reports

/// Where an execution stands, as the journal and the reports have it.
extension Execution {
    /// Says where the execution stands, in the journal and to anyone who watches.
    func note(
        _ state: ExecutionState,
        durably: Bool,
        detail: String? = nil,
        deadline: (label: String, in: Duration)? = nil
    ) async throws(JournalError) {
        record.state = state
        record.linked = record.linked || state.isReached
        record.updated = time.wallTime
        record.nextDeadline = deadline.map {
            ExecutionRecord.Deadline($0.label, at: time.wallTime.advanced(by: $0.in))
        }
        try await depot.journal.record(record, durably: durably, debt: debt)
        depot.events.emit(
            .stateChanged(vehicle, state, adapter: depot.central.adapter, detail: detail)
        )
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
