import Synchronization

/// Things that happen, for many who hear of each: anyone who is too slow misses the oldest, and is told how many.
package final class Announcements<Value: Sendable>: Sendable {
    /// How many a listener missed since it was told last.
    package final class Missed: Sendable {
        private let count = Atomic<Int>(0)

        fileprivate func add() { count.add(1, ordering: .relaxed) }

        package func take() -> Int { count.exchange(0, ordering: .relaxed) }
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

    package init() {}

    /// How many listen.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    package func send(_ value: Value) {
        // Under the lock: what two send at once comes to all in one order.
        state.withLock { state in
            for (_, listener) in state.listeners.sorted(by: { $0.key < $1.key }) {
                if case .dropped = listener.continuation.yield(value) { listener.missed.add() }
            }
        }
    }

    /// All that happens from now on; between two looks so many are kept.
    package func values(keeping count: Int) -> (stream: AsyncStream<Value>, missed: Missed) {
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
