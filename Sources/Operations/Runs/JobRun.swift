package import Base
package import Commands
import Images
package import Manifest
package import Radio
package import Rollout
package import Show
import Store

/// The parts of a run, wherever it takes place.
package struct RunJob: Sendable {
    package let plan: FrozenPlan
    package let vehicles: [PlannedVehicle]
    package let access: [VehicleID: VehicleAccess]
    package let profiles: ProfileLibrary
    /// The time zone of the window.
    package let zone: Zone
    package let state: String
    package let stop: StopSignal
    package let output: RunOutput
    /// Whether the rollout is to be begun again.
    package var again = false
    /// The hold on the rollout that vehicles are brought back from, from its beginning on.
    var recalling: Hold?
    /// Whether the plan is the kept one, not the one in the files: the rollout is continued, not
    /// begun.
    package var isKept = false
    /// Images that the files deny now, whatever the plan says.
    package var denied: Set<SHA256Digest> = []
    /// Whether it is an order of `exec`: always a rollout of its own.
    package var isOrder = false
    /// Sends notices of the end; nil for an order, whose author waits for it.
    package var notices: NoticeSender?
    /// The fleet that decides which gateway may touch a module; nil when there is only one gateway.
    package var fleet: FleetPlace?
    /// Flags after the command's name in shell commands for people.
    package var flags = PlaceFlags()
    /// Who has approved the plan; nil where no policy asks for that.
    package var approval: PlanApproval?

    package init(
        plan: FrozenPlan,
        vehicles: [PlannedVehicle],
        access: [VehicleID: VehicleAccess],
        profiles: ProfileLibrary,
        zone: Zone,
        state: String,
        stop: StopSignal,
        output: RunOutput,
        again: Bool = false,
        isKept: Bool = false,
        denied: Set<SHA256Digest> = [],
        isOrder: Bool = false,
        notices: NoticeSender? = nil,
        fleet: FleetPlace? = nil,
        flags: PlaceFlags = PlaceFlags()
    ) {
        self.flags = flags
        self.plan = plan
        self.vehicles = vehicles
        self.access = access
        self.profiles = profiles
        self.zone = zone
        self.state = state
        self.stop = stop
        self.output = output
        self.again = again
        self.isKept = isKept
        self.denied = denied
        self.isOrder = isOrder
        self.notices = notices
        self.fleet = fleet
    }
}

/// The environment of a run: real or simulated radio, with its time.
package struct RunPlace: Sendable {
    package let time: any Timekeeper
    /// The executor of the journal and the image store.
    package let lane: any SerialExecutor
    /// The seed of the simulation.
    package let seed: UInt64?
    package let adapters: [String]
    package let central: @Sendable (String) -> any Central
    package let peripheral: @Sendable (String) -> any Peripheral
    /// Waits for the program between two waves; nil when virtual time does not advance meanwhile.
    package var checks: CheckRunner?
    /// The executor for the work on vehicles, beside the packets of their links; nil for any.
    package var executor: (any TaskExecutor)?
    /// How long an adapter had links, and was on the air; nil when that is not counted.
    var radioTimes: (@Sendable (String) async -> (linked: Duration, aired: Duration))?
    /// Ends the links that the last run left; nil where a run leaves none.
    var letGo: (@Sendable () async -> Void)?
    /// The pause between two reads of people's requests in the journal.
    var askPause = Duration.seconds(2)

    package init(
        time: any Timekeeper,
        lane: any SerialExecutor,
        seed: UInt64?,
        adapters: [String],
        central: @escaping @Sendable (String) -> any Central,
        peripheral: @escaping @Sendable (String) -> any Peripheral,
        checks: CheckRunner? = nil,
        executor: (any TaskExecutor)? = nil,
        radioTimes: (@Sendable (String) async -> (linked: Duration, aired: Duration))? = nil,
        askPause: Duration = Duration.seconds(2)
    ) {
        self.time = time
        self.lane = lane
        self.seed = seed
        self.adapters = adapters
        self.central = central
        self.peripheral = peripheral
        self.checks = checks
        self.executor = executor
        self.radioTimes = radioTimes
        self.askPause = askPause
    }
}

/// The run itself: images, journal, rollout and verdict.
package struct JobRun {
    package let job: RunJob
    package let site: RunPlace

    package init(job: RunJob, site: RunPlace) {
        self.job = job
        self.site = site
    }

    package func run() async throws(CommandError) -> ExitCode {
        let result = await withTaskExecutorPreference(site.executor) {
            () -> Result<ExitCode, CommandError> in
            do throws(CommandError) {
                return .success(try await work())
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func work() async throws(CommandError) -> ExitCode {
        let journal: Journal
        do throws(JournalError) {
            journal = try await Journal.open(directory: job.state, executor: site.lane)
        } catch { throw CommandError(error) }
        let code: ExitCode
        do {
            code = try await rollout(journal)
        } catch {
            await journal.close()
            if let error = error as? JournalError { throw CommandError(error) }
            throw error as? CommandError ?? CommandError(.internal, "\(error)")
        }
        await journal.close()
        return code
    }

    private func rollout(_ journal: Journal) async throws -> ExitCode {
        let prepared = try await prepared(journal)
        // Signing in gives back what the last run had, and nobody else reaches a module that is still connected.
        if job.fleet != nil { await site.letGo?() }
        let seat = try await job.fleet?.sit(
            state: job.state,
            journal: journal,
            // Virtual time does not advance while a rehearsal asks; elsewhere a thread of its own
            // is used.
            on: site.seed == nil ? nil : site.lane,
            at: RealTime().wallTime,
            waiting: site.time
        )
        do {
            let code = try await carryOut(prepared, seat)
            await seat?.leave()
            return code
        } catch {
            await seat?.leave()
            throw error
        }
    }

    var listCheck: ListCheck {
        ListCheck(plan: job.plan, state: job.state, flags: job.flags.of(job.state))
    }

    /// Checks the list against the journal, and the images against the plan.
    private func prepared(_ journal: Journal) async throws -> PreparedRun {
        let check = listCheck
        try await check.requireWhole(journal)
        // In a fleet, what belongs to vehicles is kept by the fleet, under the ids of its lists.
        var differences: [String] = []
        if job.fleet == nil {
            differences = try await check.differences(journal, at: site.time.wallTime)
        }
        let checker = ImageChecker(
            store: ImageStore(stateDirectory: job.state, executor: site.lane)
        )
        var contents: [String: ImageContent] = [:]
        var images: [(PlannedImage, ByteCount)] = []
        for image in job.plan.images {
            let (content, size) = try await checker.content(of: image)
            contents[image.name] = content
            images.append((image, size))
        }
        try ImageChecker.check(contents, of: job.plan, for: job.vehicles, job.profiles)
        let builder = JobBuilder(job.plan, profiles: job.profiles)
        guard let rules = builder.rules else {
            throw CommandError(.manifest, "the settle times of the manifest make no sense")
        }
        let chosen = Set(job.vehicles.map(\.id))
        return PreparedRun(
            journal: journal,
            jobs: builder.jobs(images: contents.mapValues(\.parts), access: job.access)
                .filter { chosen.contains($0.vehicle) },
            rules: rules,
            builder: builder,
            checker: checker,
            images: images,
            differences: differences
        )
    }
}

extension CommandError {
    package init(_ clock: RolloutStart.ClockBehind) {
        self.init(
            .configuration,
            "the clock says \(clock.now), which is a day before the rollout was begun "
                + "(\(clock.begun))",
            hint: "set the clock; nothing was done"
        )
    }
}
