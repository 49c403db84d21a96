/// How an execution, which is one rollout on one vehicle, ended.
package enum Outcome: String, CaseIterable, Sendable, Hashable {
    /// The module reported the target version after its restarts, and every step was done.
    case succeeded
    /// There was nothing to do.
    case alreadyCurrent = "already-current"
    /// The module answered, and an error occurred.
    case failed
    /// The module ran the new image and returned to the old one.
    case rolledBack = "rolled-back"
    /// The module must not get this image, or it refused access.
    case rejected
    /// The module never answered; this says nothing about the image.
    case unreachable
    /// A precondition does not hold now; a later run tries again.
    case deferred
    /// The manifest states that the vehicle is skipped.
    case skipped
    /// The time for the vehicle was used up.
    case timedOut = "timed-out"
    /// A person or a gate ended the work.
    case aborted
    /// A command was sent and its effect is unknown.
    case inDoubt = "in-doubt"
}

extension Outcome {
    /// The counts of a run's last line, each for one or more outcomes.
    package enum Tally: String, CaseIterable, Sendable {
        case ok, current, deferred, unreachable, failed, skipped, aborted
    }

    package var tally: Tally {
        switch self {
        case .succeeded: .ok
        case .alreadyCurrent: .current
        case .deferred: .deferred
        case .unreachable: .unreachable
        case .failed, .rolledBack, .rejected, .timedOut, .inDoubt: .failed
        case .skipped: .skipped
        case .aborted: .aborted
        }
    }
}
