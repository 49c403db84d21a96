package import Base
import Synchronization

/// A clock that stops while anything can run, and jumps to the next deadline otherwise.
package final class VirtualTime: Timekeeper {
    /// A struct of its own, because generic code wraps a bare closure again each time it takes or
    /// returns it.
    fileprivate struct Timer: Sendable {
        let fire: @Sendable () -> Void
    }

    fileprivate struct State {
        var now: Moment
        var nextTicket: UInt64 = 0
        var timers = Agenda<Timer>()
        /// When the air wants to be called next; not among the timers, because it is the most
        /// frequent event.
        var alarm: Moment?
        var onAlarm = Timer {}
        /// The sleeping tasks; the timer of a cancelled sleep finds none when it is due.
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

    /// Calls `action` on the simulation's thread at the deadline.
    package func schedule(at deadline: Moment, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.insert(deadline, action) }
    }

    /// Sets the action that is called on the simulation's thread when the alarm is due.
    func onAlarm(_ action: @escaping @Sendable () -> Void) {
        let timer = Timer(fire: action)
        state.withLock { $0.onAlarm = timer }
    }

    /// Sets the only alarm: an earlier moment replaces a later one.
    func setAlarm(at moment: Moment) {
        state.withLock { state in
            guard state.alarm.map({ moment < $0 }) ?? true else { return }
            state.alarm = max(moment, state.now)
        }
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

    /// The next deadline; nil when nothing waits for time.
    package var nextDeadline: Moment? { state.withLock { $0.nextMoment } }

    /// Advances to the next deadline and runs its action.
    ///
    /// False when there is no deadline.
    package func advance() -> Bool {
        guard let timer = state.withLock({ $0.takeFirst() }) else { return false }
        timer.fire()
        return true
    }

    /// Advances without reaching a deadline: for a paced run that was woken early.
    package func advance(to moment: Moment) {
        state.withLock { state in
            let limit = min(moment, state.nextMoment ?? moment)
            if limit > state.now { state.now = limit }
        }
    }
}

extension VirtualTime.State {
    fileprivate mutating func insert(
        _ deadline: Moment,
        _ action: @escaping @Sendable () -> Void
    ) {
        timers.add(VirtualTime.Timer(fire: action), at: max(deadline, now))
    }

    fileprivate var nextMoment: Moment? {
        guard let alarm else { return timers.nextMoment }
        return timers.nextMoment.map { min($0, alarm) } ?? alarm
    }

    fileprivate mutating func takeFirst() -> VirtualTime.Timer? {
        if let alarm, timers.nextMoment.map({ alarm < $0 }) ?? true {
            now = max(now, alarm)
            self.alarm = nil
            return onAlarm
        }
        guard let first = timers.takeFirst() else { return nil }
        now = max(now, first.moment)
        return first.entry
    }
}
