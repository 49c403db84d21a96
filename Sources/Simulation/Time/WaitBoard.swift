import Synchronization

/// Who waits for what just now, so that a run that is stuck can say why.
package final class WaitBoard: Sendable {
    package struct Entry: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private let entries = Mutex<(next: UInt64, waits: [UInt64: (StaticString, String)])>((0, [:]))

    package init() {}

    /// Notes that somebody waits for `what` from or on `whom`.
    package func begin(_ what: StaticString, _ whom: String) -> Entry {
        entries.withLock { state in
            defer { state.next += 1 }
            state.waits[state.next] = (what, whom)
            return Entry(number: state.next)
        }
    }

    package func end(_ entry: Entry) {
        _ = entries.withLock { $0.waits.removeValue(forKey: entry.number) }
    }

    /// In the order in which the waits began.
    package var waits: [String] {
        entries.withLock { state in
            state.waits.sorted { $0.key < $1.key }.map { "\($0.value.0) \($0.value.1)" }
        }
    }
}
