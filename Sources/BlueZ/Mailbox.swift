package import DBus
import Domain
package import Radio
import Threads

/// What came and was not taken yet, in order, up to a bound; the oldest are dropped.
///
/// Ends with an error, which whoever waits hears once all that came before is taken.
package final class Mailbox<Element: Sendable>: Sendable {
    fileprivate struct State: Sendable {
        var waiting: [Element] = []
        /// Where the oldest of `waiting` is; moved instead of the others.
        var first = 0
        var end: RadioError?
        var taker: Once<Element>?
        var dropped = 0
    }

    private let capacity: Int
    private let loop: EventLoop
    private let state = Monitor(State())

    package init(capacity: Int, on loop: EventLoop) {
        self.capacity = capacity
        self.loop = loop
    }

    /// For one producer at a time.
    package func add(_ element: Element) {
        while true {
            // In one step: whoever comes to wait afterwards must see what was left.
            let taker = state.withLock { state -> Once<Element>? in
                if let taker = state.taker {
                    state.taker = nil
                    return taker
                }
                state.leave(element, capacity: capacity)
                return nil
            }
            guard let taker else { return }
            // Who waited may have given up in this very moment.
            if taker.settle(.success(element)) { return }
        }
    }

    /// The first end counts.
    func end(_ error: RadioError) {
        let taker = state.withLock { state -> Once<Element>? in
            if state.end == nil { state.end = error }
            defer { state.taker = nil }
            return state.taker
        }
        taker?.settle(.failure(error))
    }

    var dropped: Int { state.withLock { $0.dropped } }

    package func next(within time: Duration) async throws(RadioError) -> Element {
        if Task.isCancelled { throw .cancelled }
        let once = Once<Element>()
        let known = state.withLock { state -> Result<Element, RadioError>? in
            if state.first < state.waiting.count {
                defer {
                    state.first += 1
                    if state.first == state.waiting.count {
                        state.waiting.removeAll(keepingCapacity: true)
                        state.first = 0
                    }
                }
                return .success(state.waiting[state.first])
            }
            if let end = state.end { return .failure(end) }
            // Who does not wait must not be given what comes later.
            guard time > .zero else { return .failure(.timedOut) }
            state.taker = once
            return nil
        }
        if let known { return try known.get() }
        return try await once.outcome(within: time, on: loop)
    }
}

extension Mailbox.State {
    fileprivate mutating func leave(_ element: Element, capacity: Int) {
        guard end == nil else { return }
        if waiting.count - first == capacity {
            first += 1
            dropped += 1
        }
        if first >= capacity {
            waiting.removeFirst(first)
            first = 0
        }
        waiting.append(element)
    }
}
