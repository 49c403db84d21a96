import Synchronization

/// Wakes the one task that waits for something to happen; a ring that nobody waits for is kept.
final class Bell: Sendable {
    private enum State {
        case quiet
        case rung
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.quiet)

    func ring() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .waiting(let waiter) = state else {
                state = .rung
                return nil
            }
            state = .quiet
            return waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isRung = state.withLock { state in
                if case .rung = state {
                    state = .quiet
                    return true
                }
                state = .waiting(continuation)
                return false
            }
            if isRung { continuation.resume() }
        }
    }
}
