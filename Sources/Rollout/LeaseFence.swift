import Synchronization

/// Keeps an execution from touching a module after the right to that module has ended.
///
/// Every turn of every loop checks it, by the run's own clock. So it also works when nothing had
/// the time to report the end of the right, for instance after the whole process was suspended.
package final class LeaseFence: Sendable {
    private enum State {
        case whole
        case awaited(CheckedContinuation<Void, Never>)
        case cut
        /// The work has ended, on its own or with the run.
        case over
    }

    private let mustEnd: @Sendable () -> Bool
    private let hasEnded: @Sendable () -> Bool
    private let state = Mutex(State.whole)

    /// `mustEnd` returns whether the work is to end at its next safe point, and `hasEnded` whether
    /// the right is over.
    package init(
        mustEnd: @escaping @Sendable () -> Bool,
        hasEnded: @escaping @Sendable () -> Bool
    ) {
        self.mustEnd = mustEnd
        self.hasEnded = hasEnded
    }

    /// Whether the right is about to end, or is over.
    package var isClosing: Bool { isCut || mustEnd() }

    /// Whether the right is over: nothing more may be sent to the module.
    package var isOver: Bool { isCut || hasEnded() }

    private var isCut: Bool { state.withLock { if case .cut = $0 { true } else { false } } }

    /// Ends the work immediately: its link is closed, and no other one is opened.
    package func cut() { leave(for: .cut) }

    /// Performs the work, and cancels it when the fence is cut.
    package func guarding(_ work: @escaping @Sendable () async -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                await work()
                leave(for: .over)
            }
            await withTaskCancellationHandler {
                await whenLeft()
            } onCancel: {
                leave(for: .over)
            }
            group.cancelAll()
        }
    }

    private func leave(for next: sending State) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch state {
            case .whole:
                state = next
                return nil
            case .awaited(let waiter):
                state = next
                return waiter
            case .cut, .over: return nil
            }
        }
        waiter?.resume()
    }

    private func whenLeft() async {
        await withCheckedContinuation { continuation in
            let isLeft = state.withLock { state in
                switch state {
                case .whole:
                    state = .awaited(continuation)
                    return false
                case .awaited: preconditionFailure("a fence guards one work")
                case .cut, .over: return true
                }
            }
            if isLeft { continuation.resume() }
        }
    }
}
