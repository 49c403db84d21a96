import Base

/// How long an execution waits for the host's radio: the full time again after the radio has worked
/// for `hostRecovery`.
struct HostPatience: Equatable {
    private var since: Moment?
    private var began: Moment?

    /// An attempt that needs the radio begins.
    mutating func begins(at now: Moment) { began = now }

    /// An attempt failed for a reason other than the radio.
    mutating func works() { since = nil }

    /// The radio is not available; true as long as the execution is to wait for it.
    mutating func waits(at now: Moment, by rules: RolloutRules) -> Bool {
        if let began, began.duration(to: now) >= rules.hostRecovery { since = nil }
        let first = since ?? now
        since = first
        return first.duration(to: now) < rules.hostPatience
    }
}
