import Synchronization

/// A value that many tasks watch: each gets the newest value, and older unread values are dropped.
///
/// However fast the value changes, a slow watcher costs the memory of one value and never misses
/// the last one.
package final class Latest<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var watchers: [Int: AsyncStream<Value>.Continuation] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// The number of watchers.
    package var watcherCount: Int { state.withLock { $0.watchers.count } }

    package func set(_ value: Value) {
        // Watchers are notified under the lock: of two concurrent calls, the value that stays is
        // reported last.
        state.withLock { state in
            state.value = value
            for (_, watcher) in state.watchers.sorted(by: { $0.key < $1.key }) {
                watcher.yield(value)
            }
        }
    }

    /// The current value, then each new value; ends when the task is cancelled.
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
    /// Notifies watchers only when the value differs.
    package func change(to value: Value) {
        if self.value != value { set(value) }
    }
}
