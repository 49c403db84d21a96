package import Domain
import Synchronization

/// A clock that stands still while anything can run and jumps to the next deadline when not.
package final class VirtualTime: Timekeeper {
    fileprivate struct Timer: Comparable {
        let deadline: Moment
        /// Of two timers for one moment the one set first comes first.
        let order: UInt64
        let purpose: String?
        let action: @Sendable () -> Void

        static func < (left: Timer, right: Timer) -> Bool {
            (left.deadline, left.order) < (right.deadline, right.order)
        }

        static func == (left: Timer, right: Timer) -> Bool { left.order == right.order }
    }

    fileprivate struct State {
        var now: Moment
        var nextOrder: UInt64 = 0
        var timers = Heap<Timer>()
        /// Who sleeps; the timer of a cancelled sleep finds nobody when it comes up.
        var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state: Mutex<State>
    private let beginning: WallTime

    /// A clock whose wall time at moment zero is `beginning`.
    package init(beginning: WallTime, now: Moment = Moment(nanoseconds: 0)) {
        self.beginning = beginning
        state = Mutex(State(now: now))
    }

    package var now: Moment { state.withLock { $0.now } }

    package var wallTime: WallTime {
        beginning.advanced(by: .nanoseconds(now.nanoseconds))
    }

    /// Calls `action` on the simulation's thread when the time has come.
    package func schedule(
        at deadline: Moment,
        purpose: String? = nil,
        _ action: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.insert(deadline, purpose, action) }
    }

    package func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let ticket = state.withLock { state in
            defer { state.nextOrder += 1 }
            return state.nextOrder
        }
        let purpose = purpose()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let asleep = state.withLock { state in
                    guard !Task.isCancelled, deadline > state.now else { return false }
                    state.sleepers[ticket] = continuation
                    state.insert(deadline, purpose) { [weak self] in self?.wake(ticket) }
                    return true
                }
                if !asleep { continuation.resume() }
            }
        } onCancel: {
            wake(ticket)
        }
    }

    private func wake(_ ticket: UInt64) {
        state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.resume()
    }

    /// The next deadline that is set, or nil when nobody waits for time.
    package var nextDeadline: Moment? { state.withLock { $0.timers.first?.deadline } }

    /// Goes to the next deadline and does what was set for it.
    ///
    /// False when there is none.
    package func advance() -> Bool {
        guard let timer = state.withLock({ $0.takeFirst() }) else { return false }
        timer.action()
        return true
    }

    /// Moves on without anything falling due: a paced run that was woken early.
    package func advance(to moment: Moment) {
        state.withLock { state in
            let limit = min(moment, state.timers.first?.deadline ?? moment)
            if limit > state.now { state.now = limit }
        }
    }
}

extension VirtualTime.State {
    fileprivate mutating func insert(
        _ deadline: Moment,
        _ purpose: String?,
        _ action: @escaping @Sendable () -> Void
    ) {
        timers.insert(
            VirtualTime.Timer(
                deadline: max(deadline, now),
                order: nextOrder,
                purpose: purpose,
                action: action
            )
        )
        nextOrder += 1
    }

    fileprivate mutating func takeFirst() -> VirtualTime.Timer? {
        guard let first = timers.takeFirst() else { return nil }
        now = max(now, first.deadline)
        return first
    }
}
