package import Base

/// One event of a run; every printer works from events.
package struct Event: Sendable, Equatable {
    /// Counts from 1 within the run.
    package let number: Int
    package let time: WallTime
    package let body: Body

    package init(number: Int, time: WallTime, body: Body) {
        self.number = number
        self.time = time
        self.body = body
    }

    package enum Body: Sendable, Equatable {
        case runStarted(RunStart)
        /// `provenance` contains sentences about the image's origin and its signers.
        case imageReady(
            name: String,
            digest: SHA256Digest,
            size: ByteCount,
            provenance: [String] = []
        )
        /// An attempt begins; `position` counts from 1.
        case attemptStarted(VehicleID, serial: Serial, attempt: Int, position: Int)
        /// The adapter is nil where no radio is needed, or where the adapter is unknown.
        case stateChanged(VehicleID, ExecutionState, adapter: String?, detail: String?)
        case inspected(VehicleID, version: FirmwareVersion?, facts: [Fact])
        case progress(VehicleID, Progress)
        /// The link was lost or one side restarted; the transfer will continue from where it was.
        case interrupted(VehicleID, cause: String, count: Int)
        case problem(VehicleID, Problem)
        /// An attempt failed and another one follows after `pause`.
        case retrying(VehicleID, FailureClass, message: String, pause: Duration)
        /// A step that changes or reads something has ended.
        case stepEnded(VehicleID, StepResult)
        case vehicleEnded(VehicleID, Verdict)
        /// Reported at the end of the run for each vehicle that has no verdict of this run, or more
        /// facts than the verdict.
        case vehicleStands(VehicleID, Standing)
        case warning(String)
        /// An event of the whole rollout: its waves, its gates, its window.
        case notice(Notice)
        case runEnded(RunEnd)
    }
}

/// A message of the scheduler.
package struct Notice: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        case waveBegan = "wave-began"
        case waveEnded = "wave-ended"
        /// A vehicle that was not reached was replaced by another one in its wave.
        case replaced
        /// From now on, work on no further vehicle begins.
        case draining
        /// The window is closed, and the run waits until it opens.
        case waiting
        case windowOpened = "window-opened"
        case adapterLost = "adapter-lost"
        case adapterFound = "adapter-found"
        /// A request from outside was accepted.
        case request
    }

    package let kind: Kind
    /// Counts from 1.
    package let wave: Int?
    /// The number of waves.
    package let waves: Int?
    package let vehicle: VehicleID?
    /// The vehicles with which a wave begins, or the one that replaces `vehicle`.
    package let vehicles: [VehicleID]
    package let message: String

    package init(
        _ kind: Kind,
        wave: Int? = nil,
        of waves: Int? = nil,
        vehicle: VehicleID? = nil,
        vehicles: [VehicleID] = [],
        _ message: String
    ) {
        self.kind = kind
        self.wave = wave
        self.waves = waves
        self.vehicle = vehicle
        self.vehicles = vehicles
        self.message = message
    }
}

/// A name and a value that were read from a module, as text.
package struct Fact: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The facts of a run when it starts.
package struct RunStart: Sendable, Equatable {
    package let rollout: String
    package let plan: SHA256Digest
    package let vehicles: Int
    package let adapters: [String]
    /// The number of the run in this state directory, from 1.
    package let run: Int
    /// The seed, when the radio is simulated.
    package let seed: UInt64?
    /// The gateway of the run, in a report on a fleet.
    package var gateway: String?
    /// Who has approved the plan; empty where no policy asks for that.
    package var approvers: [String] = []

    /// The name of the run.
    package var name: RunName { RunName(run, of: gateway) }

    /// A text such as "approved by anna, bo"; nil when nobody had to.
    package var approval: String? { Self.approval(by: approvers) }

    package static func approval(by approvers: [String]) -> String? {
        approvers.isEmpty
            ? nil : "approved by " + approvers.map(\.visible).joined(separator: ", ")
    }

    package init(
        rollout: String,
        plan: SHA256Digest,
        vehicles: Int,
        adapters: [String],
        run: Int,
        seed: UInt64?
    ) {
        self.rollout = rollout
        self.plan = plan
        self.vehicles = vehicles
        self.adapters = adapters
        self.run = run
        self.seed = seed
    }
}

/// The progress of an upload: only bytes count that the module has acknowledged.
package struct Progress: Sendable, Equatable {
    package let acknowledged: ByteCount
    package let total: ByteCount
    /// The offset at which this link continued the transfer.
    package let resumedFrom: ByteCount
    /// Bytes per second on this link; nil until there is enough to measure.
    package let rate: Double?
    package let remaining: Duration?

    package init(
        acknowledged: ByteCount,
        total: ByteCount,
        resumedFrom: ByteCount,
        rate: Double?,
        remaining: Duration?
    ) {
        self.acknowledged = acknowledged
        self.total = total
        self.resumedFrom = resumedFrom
        self.rate = rate
        self.remaining = remaining
    }
}

/// A precondition that does not hold, with the measured and the required value.
package struct Problem: Sendable, Equatable {
    package let check: String
    package let measured: String
    package let required: String

    package init(check: String, measured: String, required: String) {
        self.check = check
        self.measured = measured
        self.required = required
    }
}

/// The result of one step on one vehicle.
package struct StepResult: Sendable, Equatable {
    package enum Fate: String, Sendable, Equatable {
        case done
        /// Refused or failed, and certainly without effect.
        case failed
        /// Sent to the vehicle, and it is unknown whether it was carried out.
        case inDoubt = "in-doubt"
    }

    /// Counts from 1 over the steps, and then over the steps of `always`.
    package let number: Int
    /// The action as a manifest writes it, such as `set: {lights: disabled}`.
    package let action: String
    package let fate: Fate
    /// The values that were read, or other facts about the step.
    package let facts: [Fact]

    package init(_ number: Int, _ action: String, _ fate: Fate, facts: [Fact] = []) {
        self.number = number
        self.action = action
        self.fate = fate
        self.facts = facts
    }
}

/// How an execution ended, with the evidence.
package struct Verdict: Sendable, Equatable {
    package let outcome: Outcome
    package let failure: FailureClass?
    /// A sentence for people: what happened, and what to do, if anything.
    package let message: String
    package let versionBefore: FirmwareVersion?
    package let versionAfter: FirmwareVersion?
    package let attempts: Int
    package let interruptions: Int
    /// Image bytes sent over the air in this run, including repeated ones.
    package let bytesSent: ByteCount
    package let took: Duration
    /// The preconditions that did not hold.
    package let problems: [Problem]

    package init(
        outcome: Outcome,
        failure: FailureClass? = nil,
        message: String,
        versionBefore: FirmwareVersion? = nil,
        versionAfter: FirmwareVersion? = nil,
        attempts: Int,
        interruptions: Int = 0,
        bytesSent: ByteCount,
        took: Duration,
        problems: [Problem] = []
    ) {
        self.problems = problems
        self.outcome = outcome
        self.failure = failure
        self.message = message
        self.versionBefore = versionBefore
        self.versionAfter = versionAfter
        self.attempts = attempts
        self.interruptions = interruptions
        self.bytesSent = bytesSent
        self.took = took
    }
}

/// How long an adapter worked in a run.
package struct AdapterUse: Sendable, Equatable {
    package let name: String
    /// The time in which a vehicle occupied it.
    package let busy: Duration
    /// The time of its links, if the radio can report it.
    package var linked: Duration?
    /// The time in which it sent or received on them, if the radio can report it.
    package var aired: Duration?
    /// The periods of its work since the beginning of the run, in order of time.
    package var spans: [Span] = []

    /// A period in which a vehicle occupied the adapter, as offsets from the beginning of the run.
    package struct Span: Sendable, Equatable {
        package let from: Duration
        package let to: Duration

        /// In whole milliseconds, as events are written: a later report shows the same.
        package init(from: Duration, to: Duration) {
            self.from = .milliseconds(from.nanoseconds / 1_000_000)
            self.to = .milliseconds(to.nanoseconds / 1_000_000)
        }
    }

    package init(name: String, busy: Duration) {
        self.name = name
        self.busy = busy
    }
}

/// The counts of a run and its exit code.
package struct RunEnd: Sendable, Equatable {
    package let rollout: String
    package let counts: [Outcome: Int]
    /// Vehicles without an outcome, because the run was ended early.
    package let unfinished: Int
    package let exitCode: Int
    /// The meaning of the exit code, in one sentence.
    package let reason: String
    package let took: Duration
    /// How long each adapter worked.
    package var adapters: [AdapterUse] = []

    package init(
        rollout: String,
        counts: [Outcome: Int],
        unfinished: Int,
        exitCode: Int,
        reason: String,
        took: Duration
    ) {
        self.rollout = rollout
        self.counts = counts
        self.unfinished = unfinished
        self.exitCode = exitCode
        self.reason = reason
        self.took = took
    }

    package var vehicles: VehicleCounts {
        VehicleCounts(outcomes: counts, unfinished: unfinished)
    }

    /// The number of vehicles in one of the counts of the last line.
    package func count(_ tally: Outcome.Tally) -> Int { vehicles.count(tally) }
}
