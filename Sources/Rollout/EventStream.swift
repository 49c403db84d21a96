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
    }

    private let run: Int
    private let time: any Timekeeper
    private let state = Mutex(State())
    private let sink: @Sendable (Event) -> Void

    /// The sink is called on whatever thread emits, one event at a time.
    package init(
        run: Int,
        time: any Timekeeper,
        sink: @escaping @Sendable (Event) -> Void
    ) {
        self.run = run
        self.time = time
        self.sink = sink
    }

    package func emit(_ body: Event.Body) {
        state.withLock { state in
            state.count += 1
            let event = Event(number: state.count, time: time.wallTime, body: body)
            let json = state.line.line(event)
            if event.body.isKept {
                state.unsaved.append(
                    EventRecord(
                        run: run,
                        number: event.number,
                        time: event.time,
                        kind: event.body.kind,
                        vehicle: event.body.vehicle,
                        json: String(json.dropLast())
                    )
                )
            }
            sink(event)
        }
    }

    /// Writes what has happened since the last time into the journal.
    package func save(in journal: Journal) async throws(JournalError) {
        let records = state.withLock { state in
            defer { state.unsaved = [] }
            return state.unsaved
        }
        try await journal.append(records)
    }
}

extension Event.Body {
    /// Progress is for those who watch: the journal keeps where it ended.
    fileprivate var isKept: Bool {
        switch self {
        case .progress: false
        case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .interrupted,
            .problem, .retrying, .stepEnded, .vehicleEnded, .warning, .notice, .runEnded:
            true
        }
    }
}
