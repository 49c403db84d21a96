import Radio

/// Somebody who waits for something on the air: is resumed exactly once.
final class Pending<Value: Sendable> {
    private var continuation: CheckedContinuation<Result<Value, RadioError>, Never>?
    private let onEnd: () -> Void

    init(
        _ continuation: CheckedContinuation<Result<Value, RadioError>, Never>,
        onEnd: @escaping () -> Void
    ) {
        self.continuation = continuation
        self.onEnd = onEnd
    }

    var isOpen: Bool { continuation != nil }

    /// Resumes the waiter unless it was resumed before.
    func resume(_ result: Result<Value, RadioError>) {
        guard let continuation else { return }
        self.continuation = nil
        onEnd()
        continuation.resume(returning: result)
    }
}
