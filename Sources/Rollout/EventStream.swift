package import Domain
package import Journal
package import Reports
import Synchronization

/// The one stream of events of a run: numbers them, stamps them, hands them on in order.
package final class EventStream: Sendable {
    private struct State {
        var count = 0
        var line = EventLine()
        /// What the journal has not got yet.
        var unsaved: [EventRecord] = []
        /// From the first event on that the journal must have before anybody is told.
        var waiting: [Event] = []
        /// Their numbers.
        var held: Set<Int> = []
        /// What was awaited when it was said last.
        var outlook: Outlook?
    }

    private let run: Int
    private let time: any Timekeeper
    private let state = Mutex(State())
    private let watcher: @Sendable (Outlook) -> Void
    private let sink: @Sendable (Event) -> Void

    /// The sink is called on whatever thread emits, one event at a time.
    ///
    /// `watcher` hears what the run awaits whenever that changes: it is for those who look on, and no
    /// event.
    package init(
        run: Int,
        time: any Timekeeper,
        watcher: @escaping @Sendable (Outlook) -> Void = { _ in },
        sink: @escaping @Sendable (Event) -> Void
    ) {
        self.run = run
        self.time = time
        self.watcher = watcher
        self.sink = sink
    }

    package func look(_ outlook: Outlook) {
        state.withLock { state in
            guard state.outlook != outlook else { return }
            state.outlook = outlook
            watcher(outlook)
        }
    }

    package func emit(_ body: Event.Body) {
        state.withLock { state in
            state.waiting.append(make(body, &state))
            handOn(&state)
        }
    }

    /// The same for an event that nobody is told before it is written, so that no end of ours
    /// loses it: `write` gets it with all that was not written before.
    package func emit(
        _ body: Event.Body,
        after write: ([EventRecord]) async throws(JournalError) -> Void
    ) async throws(JournalError) {
        let (number, records) = state.withLock { state in
            let event = make(body, &state)
            state.waiting.append(event)
            state.held.insert(event.number)
            defer { state.unsaved = [] }
            return (event.number, state.unsaved)
        }
        let failure: JournalError?
        do throws(JournalError) {
            try await write(records)
            failure = nil
        } catch { failure = error }
        state.withLock { state in
            state.held.remove(number)
            if failure != nil { state.waiting.removeAll { $0.number == number } }
            handOn(&state)
        }
        if let failure { throw failure }
    }

    private func make(_ body: Event.Body, _ state: inout State) -> Event {
        state.count += 1
        let event = Event(number: state.count, time: time.wallTime, body: body)
        guard event.body.isKept else { return event }
        let json = state.line.document(event)
        state.unsaved.append(
            EventRecord(
                run: run,
                number: event.number,
                time: event.time,
                kind: event.body.kind,
                vehicle: event.body.vehicle,
                json: json
            )
        )
        return event
    }

    /// Those behind one that is held wait with it: the order is that of the numbers.
    private func handOn(_ state: inout State) {
        let count = state.waiting.firstIndex { state.held.contains($0.number) }
        for event in state.waiting.prefix(count ?? state.waiting.count) { sink(event) }
        state.waiting.removeFirst(count ?? state.waiting.count)
    }

    /// Writes what has happened since the last time into the journal.
    package func save(in journal: Journal) async throws(JournalError) {
        let records = state.withLock { state in
            defer { state.unsaved = [] }
            return state.unsaved
        }
        guard !records.isEmpty else { return }
        try await journal.append(records)
    }
}

extension Event.Body {
    /// Progress is for those who watch: the journal keeps where it ended.
    fileprivate var isKept: Bool {
        switch self {
        case .progress: false
        case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .interrupted,
            .problem, .retrying, .stepEnded, .vehicleEnded, .vehicleStands, .warning, .notice,
            .runEnded:
            true
        }
    }
}
