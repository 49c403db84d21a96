import Base

/// Signals for one reader, up to a capacity; the oldest are dropped, and the stream reports this.
package final class SignalStream: Sendable {
    package enum Element: Sendable, Equatable {
        case signal(Message)
        /// This many signals were dropped at this place, because the reader was too slow.
        case dropped(Int)
    }

    fileprivate struct State: Sendable {
        var waiting: [Message] = []
        /// The index of the oldest element of `waiting`: it is moved instead of the elements.
        var first = 0
        var dropped = 0
        var ended = false
        var reader: CheckedContinuation<Element?, Never>?
    }

    private let capacity: Int
    private let state = Monitor(State())

    init(capacity: Int) {
        precondition(capacity > 0, "a stream that holds nothing")
        self.capacity = capacity
    }

    /// The next element; nil when the stream has ended or the task is cancelled.
    ///
    /// Only one reader at a time.
    package func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let element = state.withLock { state -> Element?? in
                    precondition(state.reader == nil, "two read one stream")
                    if let element = state.take() { return element }
                    if state.ended || Task.isCancelled { return .some(nil) }
                    state.reader = continuation
                    return nil
                }
                if let element { continuation.resume(returning: element) }
            }
        } onCancel: {
            resume(with: nil)
        }
    }

    func add(_ message: Message) {
        let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.waiting.count - state.first == capacity {
                state.first += 1
                state.dropped += 1
            }
            if state.first >= capacity {
                state.waiting.removeFirst(state.first)
                state.first = 0
            }
            state.waiting.append(message)
            return nil
        }
        reader?.resume(returning: .signal(message))
    }

    func end() {
        state.withLock { $0.ended = true }
        resume(with: nil)
    }

    private func resume(with element: Element?) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: element)
    }
}

extension SignalStream.State {
    fileprivate mutating func take() -> SignalStream.Element? {
        if dropped > 0 {
            defer { dropped = 0 }
            return .dropped(dropped)
        }
        guard first < waiting.count else { return nil }
        defer {
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                first = 0
            }
        }
        return .signal(waiting[first])
    }
}
