package import Base

/// How an update session ended.
package enum UpdateEnding: Equatable, Sendable {
    /// There was nothing to do.
    case alreadyCurrent(FirmwareVersion?)
    /// The image is a stage on the way to another one, and the module runs a newer version.
    case passed(FirmwareVersion)
    case rejected(UpdateDecision.Reason)
    /// The module took the image, and settled with this verdict.
    case settled(SettleVerdict)
    /// The module is unhealthy with the new image; `runs` is the version that it runs now.
    case unhealthy(String, runs: FirmwareVersion?, revertible: Bool)
    /// Stopped at a safe point, as requested.
    case stopped
    /// The failure class decides whether another attempt makes sense.
    case failed(UpdateFault)
}
