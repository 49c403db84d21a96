/// How an execution, that is one rollout on one vehicle, ended.
package enum Outcome: String, CaseIterable, Sendable, Hashable {
    /// The module reported the target version after its restarts, and every step was done.
    case succeeded
    /// There was nothing to do.
    case alreadyCurrent = "already-current"
    /// It answered, and something went wrong.
    case failed
    /// It ran the new image and went back to the old one.
    case rolledBack = "rolled-back"
    /// It must not have this image, or refused us.
    case rejected
    /// It never answered; says nothing about the image.
    case unreachable
    /// A precondition does not hold now; a later run tries again.
    case deferred
    /// The manifest says to leave it alone.
    case skipped
    /// It used up its time.
    case timedOut = "timed-out"
    /// A person or a gate ended it.
    case aborted
    /// An order was given and its effect is not known.
    case inDoubt = "in-doubt"
}

extension Outcome {
    /// Which count of a run's last line an outcome goes into.
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
