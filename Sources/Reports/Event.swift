package import Domain

/// One thing that happened in a run: what every printer prints from.
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
        /// `provenance` says in sentences where it came from and who stood behind it.
        case imageReady(
            name: String,
            digest: SHA256Digest,
            size: ByteCount,
            provenance: [String] = []
        )
        /// An attempt begins; `position` counts from 1.
        case attemptStarted(VehicleID, serial: Serial, attempt: Int, position: Int)
        /// The adapter is nil where no radio is needed, or nobody said which.
        case stateChanged(VehicleID, ExecutionState, adapter: String?, detail: String?)
        case inspected(VehicleID, version: FirmwareVersion?, facts: [Fact])
        case progress(VehicleID, Progress)
        /// The link was lost or one side restarted; the transfer goes on from where it stands.
        case interrupted(VehicleID, cause: String, count: Int)
        case problem(VehicleID, Problem)
        /// An attempt failed and another one follows after `pause`.
        case retrying(VehicleID, FailureClass, message: String, pause: Duration)
        /// A step with effect, or one that reads, is over.
        case stepEnded(VehicleID, StepResult)
        case vehicleEnded(VehicleID, Verdict)
        /// Of each vehicle that has no verdict of this run, or more to it, when the run ends.
        case vehicleStands(VehicleID, Standing)
        case warning(String)
        /// Something about the rollout as a whole: its waves, its gates, its window.
        case notice(Notice)
        case runEnded(RunEnd)
    }
}

/// What the scheduler has to say.
package struct Notice: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        case waveBegan = "wave-began"
        case waveEnded = "wave-ended"
        /// A vehicle that was not reached gave its place in a wave to another one.
        case replaced
        /// Nothing new is begun from now on.
        case draining
        /// The window is closed, and the run waits for it.
        case waiting
        case windowOpened = "window-opened"
        case adapterLost = "adapter-lost"
        case adapterFound = "adapter-found"
        /// A request from outside was taken up.
        case request
    }

    package let kind: Kind
    /// Counts from 1.
    package let wave: Int?
    /// How many waves there are.
    package let waves: Int?
    package let vehicle: VehicleID?
    /// Those that a wave begins with, or the one that takes the place of `vehicle`.
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

/// What a run sets out to do.
package struct RunStart: Sendable, Equatable {
    package let rollout: String
    package let plan: SHA256Digest
    package let vehicles: Int
    package let adapters: [String]
    /// Counts the runs in this state directory from 1.
    package let run: Int
    /// The seed when the radio is simulated.
    package let seed: UInt64?

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

/// How far an upload is: only what the module has acknowledged counts.
package struct Progress: Sendable, Equatable {
    package let acknowledged: ByteCount
    package let total: ByteCount
    /// Where this link took the transfer up.
    package let resumedFrom: ByteCount
    /// Bytes a second on this link, nil until there is something to measure.
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

/// A precondition that does not hold, with what was measured and what is required.
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

/// What became of one step on one vehicle.
package struct StepResult: Sendable, Equatable {
    package enum Fate: String, Sendable, Equatable {
        case done
        /// Refused or gone wrong, and surely without effect.
        case failed
        /// Told to the vehicle, and nobody knows whether it was done.
        case inDoubt = "in-doubt"
    }

    /// Counts from 1 over the steps and, after them, those of `always`.
    package let number: Int
    /// As a manifest writes it, such as `set: {lights: disabled}`.
    package let action: String
    package let fate: Fate
    /// What was read, or what was said about it.
    package let facts: [Fact]

    package init(_ number: Int, _ action: String, _ fate: Fate, facts: [Fact] = []) {
        self.number = number
        self.action = action
        self.fate = fate
        self.facts = facts
    }
}

/// How an execution ended and what shows it.
package struct Verdict: Sendable, Equatable {
    package let outcome: Outcome
    package let failure: FailureClass?
    /// A sentence for people: what happened, and what to do when something is to be done.
    package let message: String
    package let versionBefore: FirmwareVersion?
    package let versionAfter: FirmwareVersion?
    package let attempts: Int
    package let interruptions: Int
    /// Image bytes sent over the air in this run, repeats included.
    package let bytesSent: ByteCount
    package let took: Duration
    /// Preconditions that did not hold.
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

/// How long an adapter was at work in a run.
package struct AdapterUse: Sendable, Equatable {
    package let name: String
    /// Time in which some vehicle had a turn on it.
    package let busy: Duration
    /// Time of its links, where the radio can tell.
    package var linked: Duration?
    /// When it was at work, from the run's begin on, in the order of time.
    package var spans: [Span] = []

    /// A time in which some vehicle had a turn, as distances from the run's begin.
    package struct Span: Sendable, Equatable {
        package let from: Duration
        package let to: Duration

        package init(from: Duration, to: Duration) {
            self.from = from
            self.to = to
        }
    }

    package init(name: String, busy: Duration) {
        self.name = name
        self.busy = busy
    }
}

/// The counts of a run and the code it ends with.
package struct RunEnd: Sendable, Equatable {
    package let rollout: String
    package let counts: [Outcome: Int]
    /// Vehicles that have no outcome because the run was ended early.
    package let unfinished: Int
    package let exitCode: Int
    /// What the exit code stands for, in one sentence.
    package let reason: String
    package let took: Duration
    /// How long each adapter was at work.
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

    /// How many vehicles go into one of the counts of the last line.
    package func count(_ tally: Outcome.Tally) -> Int { vehicles.count(tally) }
}
