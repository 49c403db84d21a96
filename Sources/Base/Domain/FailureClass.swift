/// Why an attempt failed: decides about retry, gates, and the exit code.
package enum FailureClass: String, CaseIterable, Sendable, Hashable {
    /// Link lost, busy, or no airtime: the same attempt may succeed later.
    case transient
    /// The module did not answer at all.
    case unreachable
    /// The module or our own rules forbid the action: wrong hardware, wrong secret, downgrade.
    case rejected
    /// A digest, signature or package is invalid.
    ///
    /// Never tried again.
    case integrity
    /// The module reported an error of its own.
    case device
    /// The image was complete and the module did not come back in time.
    case noReturn = "no-return"
    /// It came back with a version that is not the target.
    case wrongVersion = "wrong-version"
    /// It ran the new image and reverted.
    case rolledBack = "rolled-back"
    /// A command may or may not have been carried out.
    case inDoubt = "in-doubt"
    /// A bug in this program.
    case `internal`
}
