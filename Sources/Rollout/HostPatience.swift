import Domain

/// How long an execution waits for the host's radio: as long again once that has worked for a while.
struct HostPatience: Equatable {
    private var since: Moment?
    private var began: Moment?

    /// Something is tried that needs the radio.
    mutating func begins(at now: Moment) { began = now }

    /// What went wrong was not the radio.
    mutating func works() { since = nil }

    /// The radio is not there; true while it is waited for.
    mutating func waits(at now: Moment, by rules: RolloutRules) -> Bool {
        if let began, began.duration(to: now) >= rules.hostRecovery { since = nil }
        let first = since ?? now
        since = first
        return first.duration(to: now) < rules.hostPatience
    }
}
