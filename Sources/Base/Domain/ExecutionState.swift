/// The state of an execution while it runs.
package enum ExecutionState: String, CaseIterable, Sendable, Hashable {
    /// Not begun. Next: `seeking`.
    case queued
    /// Listening for the module. Next: `connecting`, `ended`.
    case seeking
    /// Making the link and finding the services. Next: `authenticating`, `seeking`.
    case connecting
    /// Proving the secret to the module.
    ///
    /// Next: `inspecting`, `ended`.
    case authenticating
    /// Reading versions and preconditions; nothing is changed. Next: `starting`, `ended`.
    case inspecting
    /// A step is being done that changes or waits for something. Next: any, `ended`.
    case acting
    /// The intent is on disk, and the module is asked to start.
    ///
    /// Next: `transferring`, `interrupted`.
    case starting
    /// Bytes are being sent.
    ///
    /// Next: `settling`, `interrupted`.
    case transferring
    /// The link was lost or one side restarted in the middle of a transfer.
    ///
    /// Next: `seeking`, `ended`.
    case interrupted
    /// The image is complete; the module may restart any number of times. Next: `confirming`.
    case settling
    /// The version was read once and is being read a second time.
    ///
    /// Next: `settling`, `ended`.
    case confirming
    /// There is an outcome.
    case ended
}
