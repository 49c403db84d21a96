import Synchronization

/// A value that many watch: each gets the newest, and what came in between is dropped.
///
/// However fast it changes, a watcher that is slow costs one value of memory and never misses the
/// last one.
package final class Latest<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var watchers: [Int: AsyncStream<Value>.Continuation] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// How many watch.
    package var watcherCount: Int { state.withLock { $0.watchers.count } }

    package func set(_ value: Value) {
        // Told under the lock: of two who set at once, the one whose value stays is reported last.
        state.withLock { state in
            state.value = value
            for (_, watcher) in state.watchers.sorted(by: { $0.key < $1.key }) {
                watcher.yield(value)
            }
        }
    }

    /// The value of now, then each newest one; ends when its task is cancelled.
    package func values() -> AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                state.next += 1
                state.watchers[state.next] = continuation
                continuation.yield(state.value)
                return state.next
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.watchers[number] = nil }
            }
        }
    }
}

extension Latest where Value: Equatable {
    /// Tells nobody of what is the same.
    package func change(to value: Value) {
        if self.value != value { set(value) }
    }
}
