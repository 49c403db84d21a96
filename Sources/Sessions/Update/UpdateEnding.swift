package import Domain

/// How an update session ended.
package enum UpdateEnding: Equatable, Sendable {
    /// Nothing was to be done.
    case alreadyCurrent(FirmwareVersion?)
    /// The image is a stage on the way to another one, and the module is beyond it.
    case passed(FirmwareVersion)
    case rejected(UpdateDecision.Reason)
    /// The module took the image, and this is what came of it.
    case settled(SettleVerdict)
    /// It runs the new image and is not well; with what it runs now.
    case unhealthy(String, runs: FirmwareVersion?, revertible: Bool)
    /// At a safe point, as asked.
    case stopped
    /// The class says whether another attempt makes sense.
    case failed(UpdateFault)
}
