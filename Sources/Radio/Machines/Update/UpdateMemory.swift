package import Base

/// The facts of an update that outlive the process that began it: the journal keeps them.
package struct UpdateMemory: Equatable, Sendable {
    /// The stage of the update, by our own actions; what the module reports takes precedence.
    package enum Stage: String, CaseIterable, Sendable {
        /// Nothing was sent to the module.
        case none
        /// The module was asked, or is about to be asked, to prepare for the image.
        case preparing
        /// Bytes are being sent.
        case transferring
        /// The module has the whole image, and is asked to run it.
        case activating
        /// The module restarts, and is observed until it is at rest.
        case settling
        /// The module is at rest with the new image and must show that it is healthy.
        case checking
        /// The module is asked to keep the new image.
        case confirming
        /// The module is asked to return to the old image.
        case rollingBack = "rolling-back"

        /// Whether the module may have bytes of the image.
        var hasSent: Bool {
            switch self {
            case .none, .preparing: false
            case .transferring, .activating, .settling, .checking, .confirming, .rollingBack: true
            }
        }
    }

    package var stage = Stage.none
    /// The part that was being sent.
    package var part = 0
    /// Bytes of all parts that the module had, by its own reports.
    package var acknowledged = 0
    package var interruptions = 0
    /// The number of signs of a restart since the image was complete.
    package var restarts = 0
    package var settleDeadline: WallTime?
    /// Whether the target version was read after the transfer, so that another version later means
    /// a rollback.
    package var targetSeen = false
    /// Whether the module was asked to start its bootloader and has not been seen to leave it.
    package var inBootloader = false

    package init() {}
}
