import DBus
import Domain
import Radio
import Threads

/// A place for one outcome: the first one counts, and one task waits for it.
final class Once<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var outcome: Result<Value, RadioError>?
        var waiter: CheckedContinuation<Result<Value, RadioError>, Never>?
    }

    private let state = Monitor(State())

    /// False when there was an outcome already.
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

    var isSettled: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the outcome, `timedOut` after the time, `cancelled` with the task.
    func outcome(within time: Duration, on loop: EventLoop) async throws(RadioError) -> Value {
        if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
        let alarm = Alarm(after: time, on: loop) { [weak self] in self?.settle(.failure(.timedOut))
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            settle(.failure(.cancelled))
        }
        alarm.cancel()
        return try outcome.get()
    }
}

/// A timer that can be set and cancelled from any thread.
final class Alarm: Sendable {
    private enum State: Sendable {
        case setting
        case set(EventLoop.TimerID)
        case done
    }

    private let loop: EventLoop
    private let state = Monitor(State.setting)

    init(after time: Duration, on loop: EventLoop, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        if loop.isIsolatingCurrentContext() == true {
            set(time, action)
        } else {
            loop.perform { self.set(time, action) }
        }
    }

    private func set(_ time: Duration, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard case .setting = state else { return }
            state = .set(
                loop.schedule(after: time) { [weak self] in
                    self?.state.withLock { $0 = .done }
                    action()
                }
            )
        }
    }

    func cancel() {
        let timer = state.withLock { state -> EventLoop.TimerID? in
            defer { state = .done }
            if case .set(let timer) = state { return timer }
            return nil
        }
        guard let timer else { return }
        if loop.isIsolatingCurrentContext() == true {
            loop.cancel(timer)
        } else {
            loop.perform { self.loop.cancel(timer) }
        }
    }
}
