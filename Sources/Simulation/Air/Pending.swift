import Radio

/// A wait for something on the air, whatever its type.
protocol AirWaiter: AnyObject {
    /// The awaited thing, and from or on whom, for the report of a stuck run.
    var what: StaticString { get }
    var whom: String { get }

    /// Ends the wait without a value.
    func fail(_ error: RadioError)
}

/// A wait for a value from the air; it ends exactly once.
final class Pending<Value: Sendable>: AirWaiter {
    /// The result; nil until there is one.
    private(set) var result: Result<Value, RadioError>?
    private(set) var what: StaticString = "something on"
    private(set) var whom = "the air"
    /// Called at the end; the argument is true when there is a value.
    var onEnd: ((Bool) -> Void)?
    /// Replaces the error with a more precise one.
    var refine: ((RadioError) -> RadioError)?
    /// Removes everything that was set up for the wait.
    private var cleanUp: (() -> Void)?
    private let listener: ((Result<Value, RadioError>) -> Void)?
    // Resumed once, by `resume`. A wait that never ends is listed in the report of a stuck run.
    private var continuation: UnsafeContinuation<Void, Never>?

    /// For a task, which waits unless there is a result immediately.
    init() { listener = nil }

    /// For callers that cannot suspend: `listener` is called on the world's thread.
    init(_ listener: @escaping (Result<Value, RadioError>) -> Void) { self.listener = listener }

    var isOpen: Bool { result == nil }

    /// Records what is awaited; false when the task is cancelled, so that nothing is begun.
    func begin(_ what: StaticString, _ whom: String) -> Bool {
        (self.what, self.whom) = (what, whom)
        if Task.isCancelled { fail(.cancelled) }
        return isOpen
    }

    /// Resumes the continuation when there is a result.
    ///
    /// Before a task waits here, its executor may run others: the result may be there already.
    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOpen { self.continuation = continuation } else { continuation.resume() }
    }

    func atEnd(_ cleanUp: @escaping () -> Void) { self.cleanUp = cleanUp }

    func fail(_ error: RadioError) { resume(.failure(error)) }

    /// Ends the wait with this result, unless it has one.
    func resume(_ result: Result<Value, RadioError>) {
        guard isOpen else { return }
        if case .failure(let error) = result, let refine {
            self.result = .failure(refine(error))
        } else {
            self.result = result
        }
        cleanUp?()
        cleanUp = nil
        if let onEnd {
            if case .success = result { onEnd(true) } else { onEnd(false) }
        }
        listener?(result)
        continuation?.resume()
    }
}
