import Base
import Radio

/// A place for one outcome: only the first one counts, and one task waits for it.
final class Once<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var outcome: Result<Value, RadioError>?
        var waiter: CheckedContinuation<Result<Value, RadioError>, Never>?
    }

    private let state = Monitor(State())

    /// Sets the outcome; returns false when there was one already.
    @discardableResult
    func settle(_ outcome: Result<Value, RadioError>) -> Bool {
        let (counts, waiter) = state.withLock { state in
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            defer { state.waiter = nil }
            return (isFirst, state.waiter)
        }
        waiter?.resume(returning: outcome)
        return counts
    }

    /// Waits for the outcome; a cancelled task gets `cancelled`, after `whenCancelled` was called.
    func outcome(
        whenCancelled: @escaping @Sendable () -> Void = {}
    ) async throws(RadioError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            whenCancelled()
            settle(.failure(.cancelled))
        }
        return try outcome.get()
    }

    /// Waits for the outcome until a moment of the loop's clock, and then throws `timedOut`.
    func outcome(before moment: Moment, on loop: EventLoop) async throws(RadioError) -> Value {
        let deadline = Deadline(on: loop) { [weak self] in self?.settle(.failure(.timedOut)) }
        deadline.set(moment)
        defer { deadline.set(nil) }
        return try await outcome()
    }
}
