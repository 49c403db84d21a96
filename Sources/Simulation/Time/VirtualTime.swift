package import Domain
import Synchronization

/// A clock that stands still while anything can run and jumps to the next deadline when not.
package final class VirtualTime: Timekeeper {
    fileprivate struct State {
        var now: Moment
        var nextTicket: UInt64 = 0
        var timers = Agenda<@Sendable () -> Void>()
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
    package func schedule(at deadline: Moment, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.insert(deadline, action) }
    }

    package func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let ticket = state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let asleep = state.withLock { state in
                    guard !Task.isCancelled, deadline > state.now else { return false }
                    state.sleepers[ticket] = continuation
                    state.insert(deadline) { [weak self] in self?.wake(ticket) }
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
    package var nextDeadline: Moment? { state.withLock { $0.timers.nextMoment } }

    /// Goes to the next deadline and does what was set for it.
    ///
    /// False when there is none.
    package func advance() -> Bool {
        guard let action = state.withLock({ $0.takeFirst() }) else { return false }
        action()
        return true
    }

    /// Moves on without anything falling due: a paced run that was woken early.
    package func advance(to moment: Moment) {
        state.withLock { state in
            let limit = min(moment, state.timers.nextMoment ?? moment)
            if limit > state.now { state.now = limit }
        }
    }
}

extension VirtualTime.State {
    fileprivate mutating func insert(
        _ deadline: Moment,
        _ action: @escaping @Sendable () -> Void
    ) {
        timers.add(action, at: max(deadline, now))
    }

    fileprivate mutating func takeFirst() -> (@Sendable () -> Void)? {
        guard let first = timers.takeFirst() else { return nil }
        now = max(now, first.moment)
        return first.entry
    }
}
