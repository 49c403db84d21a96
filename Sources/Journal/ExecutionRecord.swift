package import Domain

/// What the journal knows of one beginning of a rollout on one vehicle.
package struct ExecutionRecord: Sendable, Equatable {
    /// Counted up in the journal; 0 before it was recorded.
    package let number: Int
    package let rollout: String
    package let vehicle: VehicleID
    package let serial: Serial
    /// The plan it is done by; nil for a run that keeps no record of the rollout.
    package let plan: SHA256Digest?
    /// The run that began it, or the rollout that it was taken over by.
    package var beginning: Int
    package let started: WallTime
    /// An intent of a step with effect was written in it.
    package var acted = false
    /// A link to the vehicle was made in it, or a step was begun.
    package var linked = false
    /// It was counted at a gate before somebody said `resume`.
    package var forgiven = false
    package var state = ExecutionState.queued
    package var attempt = 0
    /// The run that wrote this last.
    package var run: Int
    /// The gateway of that run; nil for a run of this machine's journal.
    package var gateway: String?
    package var image: SHA256Digest?
    package var totalBytes: ByteCount?
    /// Lags behind by design: only a cross-check of what the module says.
    ///
    /// Nil before any.
    package var acknowledged: ByteCount?
    /// Restarts of the module seen since the image was complete.
    package var restarts = 0
    package var interruptions = 0
    /// A restart of ours resumes this very deadline.
    package var settleDeadline: WallTime?
    /// The module was told to start its bootloader and has not left it.
    package var inBootloader = false
    /// Where its bootloader is heard, which may bear no name: a radio's handle.
    package var bootloaderPlace: String?
    /// How far the update of `image` is, in the update session's words.
    package var stage = "none"
    /// Which part of a package was being sent.
    package var part = 0
    /// The target version was read after the transfer: evidence should the module go back.
    package var targetSeen = false
    package var versionBefore: FirmwareVersion?
    package var versionAfter: FirmwareVersion?
    package var updated: WallTime
    /// There exactly when the state is `ended`.
    package var end: End?
    /// What fires next if nothing happens.
    package var nextDeadline: Deadline?

    /// How an execution ended.
    package struct End: Sendable, Equatable {
        package var outcome: Outcome
        package var failure: FailureClass?
        package var message: String
        package var time: WallTime

        package init(
            _ outcome: Outcome,
            failure: FailureClass? = nil,
            message: String,
            at time: WallTime
        ) {
            self.outcome = outcome
            self.failure = failure
            self.message = message
            self.time = time
        }
    }

    /// A named point in time at which something gives up.
    package struct Deadline: Sendable, Equatable {
        package var label: String
        package var time: WallTime

        package init(_ label: String, at time: WallTime) {
            self.label = label
            self.time = time
        }
    }

    /// An execution that has not begun.
    package init(
        number: Int = 0,
        rollout: String,
        vehicle: VehicleID,
        serial: Serial,
        plan: SHA256Digest? = nil,
        beginning: Int? = nil,
        run: Int,
        started: WallTime
    ) {
        self.number = number
        self.plan = plan
        self.beginning = beginning ?? run
        self.rollout = rollout
        self.vehicle = vehicle
        self.serial = serial
        self.run = run
        self.started = started
        updated = started
    }
}
