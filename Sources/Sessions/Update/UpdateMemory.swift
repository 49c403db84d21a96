package import Domain

/// What of an update outlives the process that began it: the journal keeps it.
package struct UpdateMemory: Equatable, Sendable {
    /// How far the update is, by what we did; what the module says goes before it.
    package enum Stage: String, CaseIterable, Sendable {
        /// The module has not been told anything.
        case none
        /// It was told, or is about to be, to make itself ready.
        case preparing
        /// Bytes are on their way.
        case transferring
        /// It has all of it, and is told to run it.
        case activating
        /// It restarts, and is watched until it is at rest.
        case settling
        /// It is at rest with the new image and has to show that it is well.
        case checking
        /// It is asked to keep the new image.
        case confirming
        /// It is asked to go back to the old one.
        case rollingBack = "rolling-back"
    }

    package var stage = Stage.none
    /// The part that was being sent.
    package var part = 0
    /// Bytes of all parts that the module had, by its own words.
    package var acknowledged = 0
    package var interruptions = 0
    /// Signs of a restart since the image was complete.
    package var restarts = 0
    package var settleDeadline: WallTime?
    /// The target version was read after the transfer, so that another one later is a way back.
    package var targetSeen = false
    /// The module was told to start its bootloader and has not been seen to leave it.
    package var inBootloader = false

    package init() {}
}
