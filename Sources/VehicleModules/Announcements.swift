import Synchronization

/// Sends each event to every listener.
///
/// A listener that is too slow loses the oldest events and gets their number.
final class Announcements<Value: Sendable>: Sendable {
    /// How many events a listener has missed since it last took the number.
    final class Missed: Sendable {
        private let count = Atomic<Int>(0)

        fileprivate func add() { count.add(1, ordering: .relaxed) }

        func take() -> Int { count.exchange(0, ordering: .relaxed) }
    }

    private struct Listener {
        let continuation: AsyncStream<Value>.Continuation
        let missed: Missed
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    init() {}

    /// The number of listeners.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    func send(_ value: Value) {
        // The lock is held while sending, so that every listener gets concurrent events in the same
        // order.
        state.withLock { state in
            for (_, listener) in state.listeners.sorted(by: { $0.key < $1.key }) {
                if case .dropped = listener.continuation.yield(value) { listener.missed.add() }
            }
        }
    }

    /// All events from now on.
    ///
    /// Up to `count` of them are kept between two reads.
    func values(keeping count: Int) -> (stream: AsyncStream<Value>, missed: Missed) {
        let missed = Missed()
        let stream = AsyncStream(
            Value.self,
            bufferingPolicy: .bufferingNewest(max(1, count))
        ) { continuation in
            let number = state.withLock { state in
                state.next += 1
                state.listeners[state.next] = Listener(continuation: continuation, missed: missed)
                return state.next
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners[number] = nil }
            }
        }
        return (stream, missed)
    }
}
