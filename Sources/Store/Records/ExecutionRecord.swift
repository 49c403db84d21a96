package import Base

/// The journal's record of one beginning of a rollout on one vehicle.
package struct ExecutionRecord: JournalRecord, Sendable, Equatable {
    /// Its number in the journal, which increases; 0 before it was recorded.
    package let number: Int
    package let rollout: String
    package let vehicle: VehicleID
    package let serial: Serial
    /// The plan that it follows; nil for a run that keeps no record of the rollout.
    package let plan: SHA256Digest?
    /// The run that began it, or the beginning of the rollout that took it over.
    package var beginning: Int
    /// Whether a run with `--limit` began it outside its plan's beginning, and no beginning of that
    /// plan has taken it over since.
    package var apart = false
    package let started: WallTime
    /// Whether the intent of a step with effect was written in it.
    package var acted = false
    /// Whether a link to the vehicle was made in it, or a step was begun.
    package var linked = false
    /// Whether it was counted at a gate before a person used `resume`.
    package var forgiven = false
    package var state = ExecutionState.queued
    package var attempt = 0
    /// The run that wrote this last.
    package var run: Int
    /// The gateway of that run; nil for a run of this machine's journal.
    package var gateway: String?
    package var image: SHA256Digest?
    package var totalBytes: ByteCount?
    /// The acknowledged bytes, nil before any.
    ///
    /// It lags behind by design: it is only a cross-check of the module's own report.
    package var acknowledged: ByteCount?
    /// Restarts of the module seen since the image was complete.
    package var restarts = 0
    package var interruptions = 0
    /// The deadline for settling; after a restart of the program the same one applies.
    package var settleDeadline: WallTime?
    /// Whether the module was ordered to start its bootloader and has not left it.
    package var inBootloader = false
    /// A radio's handle of its bootloader, which may advertise without a name.
    package var bootloaderPlace: String?
    /// The progress of the update of `image`, in the update session's words.
    package var stage = "none"
    /// The part of a package that was being sent.
    package var part = 0
    /// Whether the target version was read after the transfer: evidence in case the module goes
    /// back.
    package var targetSeen = false
    package var versionBefore: FirmwareVersion?
    package var versionAfter: FirmwareVersion?
    package var updated: WallTime
    /// Not nil exactly when the state is `ended`.
    package var end: End?
    /// The next deadline, which applies if nothing happens before.
    package var nextDeadline: Deadline?

    /// Drops what an earlier run has counted and read: the record belongs to another one from now on.
    ///
    /// The version before an update that is under way stays: the module cannot report it any more.
    package mutating func belongs(to run: Int) {
        guard self.run != run else { return }
        self.run = run
        (attempt, interruptions, versionAfter) = (0, 0, nil)
        if stage == "none" || end != nil { versionBefore = nil }
    }

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

    /// A named point in time at which an attempt is given up.
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
