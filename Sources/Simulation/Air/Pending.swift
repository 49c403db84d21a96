import Radio

/// Somebody who waits for something on the air: hears of it exactly once.
final class Pending<Value: Sendable> {
    private var listener: ((Result<Value, RadioError>) -> Void)?
    private let onEnd: () -> Void

    init(
        _ continuation: CheckedContinuation<Result<Value, RadioError>, Never>,
        onEnd: @escaping () -> Void
    ) {
        listener = { continuation.resume(returning: $0) }
        self.onEnd = onEnd
    }

    /// For those who cannot wait: `listener` is called on the world's thread.
    init(_ listener: @escaping (Result<Value, RadioError>) -> Void) {
        self.listener = listener
        onEnd = {}
    }

    var isOpen: Bool { listener != nil }

    /// Resumes the waiter unless it was resumed before.
    func resume(_ result: Result<Value, RadioError>) {
        guard let listener else { return }
        self.listener = nil
        onEnd()
        listener(result)
    }
}
