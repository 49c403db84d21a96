package import Domain
package import Reports
import Synchronization

/// The one stream of events of a run: numbers them, stamps them, hands them on in order.
package final class EventStream: Sendable {
    private let time: any Timekeeper
    private let count = Mutex(0)
    private let sink: @Sendable (Event) -> Void

    /// The sink is called on whatever thread emits, one event at a time.
    package init(time: any Timekeeper, sink: @escaping @Sendable (Event) -> Void) {
        self.time = time
        self.sink = sink
    }

    package func emit(_ body: Event.Body) {
        count.withLock { count in
            count += 1
            sink(Event(number: count, time: time.wallTime, body: body))
        }
    }
}
