package import Base
package import Store
import Synchronization

/// The only stream of events of a run: gives them numbers and times, and passes them on in order.
package final class EventStream: Sendable {
    private struct State {
        var count = 0
        var line = EventLine()
        /// Events that are not in the journal yet.
        var unsaved: [EventRecord] = []
        /// Events from the first one on that must be in the journal before it is passed on.
        var waiting: [Event] = []
        /// The numbers of the events that must be in the journal first.
        var held: Set<Int> = []
        /// The last outlook that was reported.
        var outlook: Outlook?
    }

    private let run: Int
    private let time: any Timekeeper
    private let state = Mutex(State())
    private let watcher: @Sendable (Outlook) -> Void
    private let sink: @Sendable (Event) -> Void

    /// The sink is called on whatever thread emits, one event at a time.
    ///
    /// `watcher` is called when the run's outlook changes: this is for people who watch, and is no
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

    /// Emits an event only after it is written, so that no crash loses an event that was shown.
    ///
    /// `write` gets it together with all unwritten events.
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

    /// Events after a held one wait with it: they are passed on in the order of their numbers.
    private func handOn(_ state: inout State) {
        let count = state.waiting.firstIndex { state.held.contains($0.number) }
        for event in state.waiting.prefix(count ?? state.waiting.count) { sink(event) }
        state.waiting.removeFirst(count ?? state.waiting.count)
    }

    /// Writes the events since the last time into the journal.
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
    /// Progress is only for people who watch: the journal has the final count.
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
