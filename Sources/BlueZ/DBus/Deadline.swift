package import Base

/// A deadline that is set often and rarely reached: kept by the loop, set and cleared on any
/// thread.
///
/// Moving it later, which happens with every new wait, needs neither a timer nor a change of
/// threads: the existing timer checks the new moment when it expires.
package final class Deadline: Sendable {
    private struct State: Sendable {
        var wanted: Moment?
        /// When the earliest pending timer expires.
        var armed: Moment?
    }

    private let loop: EventLoop
    private let action: @Sendable () -> Void
    private let state = Monitor(State())

    /// `action` is called on the loop's thread, not before the moment that was set last.
    package init(on loop: EventLoop, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets the deadline on the loop's clock; nil clears it.
    package func set(_ moment: Moment?) {
        let mustArm = state.withLock { state in
            state.wanted = moment
            guard let moment else { return false }
            if let armed = state.armed, armed <= moment { return false }
            state.armed = moment
            return true
        }
        guard mustArm, let moment else { return }
        if loop.isIsolatingCurrentContext() == true {
            arm(moment)
        } else {
            loop.perform { [weak self] in self?.arm(moment) }
        }
    }

    package func set(after time: Duration) { set(EventLoop.now.advanced(by: time)) }

    private func arm(_ moment: Moment) {
        _ = loop.schedule(after: max(.zero, EventLoop.now.duration(to: moment))) { [weak self] in
            self?.cameUp(moment)
        }
    }

    private func cameUp(_ moment: Moment) {
        let now = EventLoop.now
        let (isDue, next) = state.withLock { state -> (Bool, Moment?) in
            // A later timer, which an earlier one has replaced.
            guard state.armed == moment else { return (false, nil) }
            state.armed = nil
            guard let wanted = state.wanted else { return (false, nil) }
            if wanted <= now {
                state.wanted = nil
                return (true, nil)
            }
            state.armed = wanted
            return (false, wanted)
        }
        if let next { arm(next) }
        if isDue { action() }
    }
}
