import Radio

/// Values from the air that were not taken yet; bounded, the oldest is dropped first.
final class Inbox<Value: Sendable> {
    private let bound: Int
    private var queue: [Value] = []
    private var waiter: Pending<Value>?
    private(set) var isUp = true
    /// Gets each value immediately, instead of the queue.
    var listener: ((Value) -> Void)?

    init(bound: Int, listener: ((Value) -> Void)? = nil) {
        self.bound = bound
        self.listener = listener
    }

    func put(_ value: Value) {
        if let listener { return listener(value) }
        if let waiter, waiter.isOpen { return waiter.resume(.success(value)) }
        if queue.count == bound { queue.removeFirst() }
        queue.append(value)
    }

    func takeFirst() -> Value? { queue.isEmpty ? nil : queue.removeFirst() }

    /// Resumes with the first value, or with the next one that arrives.
    func next(
        _ pending: Pending<Value>,
        _ what: StaticString,
        _ whom: String
    ) throws(RadioError) {
        if let first = takeFirst() { return pending.resume(.success(first)) }
        guard isUp else { throw .linkLost }
        if pending.begin(what, whom) { waiter = pending }
    }

    /// Nothing arrives any more.
    func end(_ error: RadioError = .linkLost) {
        isUp = false
        waiter?.resume(.failure(error))
    }
}
