package import Base
package import Commands
import Images
package import Manifest
package import Radio
import Reports
package import Rollout
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
    /// How long an adapter had links; nil when it is not counted.
    var linkTime: (@Sendable (String) async -> Duration)?
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
        linkTime: (@Sendable (String) async -> Duration)? = nil,
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
        self.linkTime = linkTime
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

    /// The conditions of an update that another rollout began, by the plan that is kept of it.
    private func terms(of debt: Debt, _ journal: Journal) async -> UpdateTerms? {
        guard let began = try? await journal.execution(debt.execution), let digest = began.plan,
            let plan = PlanArchive(state: job.state).plan(digest, of: debt.rollout)
        else { return nil }
        return JobBuilder(plan, profiles: job.profiles).terms(of: debt)
    }

    private func rollout(_ journal: Journal) async throws -> ExitCode {
        let check = ListCheck(
            plan: job.plan,
            state: job.state,
            flags: job.flags.of(job.state)
        )
        try await check.requireWhole(journal)
        // In a fleet, what belongs to vehicles is kept by the fleet, under the ids of its lists.
        var differences: [String] = []
        if job.fleet == nil {
            differences = try await check.differences(journal, at: site.time.wallTime)
        }
        let room = ImageChecker(store: ImageStore(stateDirectory: job.state, executor: site.lane))
        var contents: [String: ImageContent] = [:]
        var ready: [(PlannedImage, ByteCount)] = []
        for image in job.plan.images {
            let (content, size) = try await room.content(of: image)
            contents[image.name] = content
            ready.append((image, size))
        }
        try ImageChecker.check(contents, of: job.plan, for: job.vehicles, job.profiles)
        let builder = JobBuilder(job.plan, profiles: job.profiles)
        guard let rules = builder.rules else {
            throw CommandError(.manifest, "the settle times of the manifest make no sense")
        }
        let chosen = Set(job.vehicles.map(\.id))
        let jobs = builder.jobs(images: contents.mapValues(\.parts), access: job.access)
            .filter { chosen.contains($0.vehicle) }
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
            let code = try await carryOut(
                jobs,
                rules,
                room,
                ready,
                builder,
                journal,
                seat,
                telling: differences
            )
            await seat?.leave()
            return code
        } catch {
            await seat?.leave()
            throw error
        }
    }

    private func carryOut(
        _ jobs: [VehicleJob],
        _ rules: RolloutRules,
        _ room: ImageChecker,
        _ ready: [(PlannedImage, ByteCount)],
        _ builder: JobBuilder,
        _ journal: Journal,
        _ seat: FleetSeat?,
        telling differences: [String]
    ) async throws -> ExitCode {
        let time = site.time
        let began = time.now
        var again = false
        var part: FleetPart?
        if let seat {
            let (own, isNew) = try await seat.enter(
                job.plan,
                jobs,
                again: job.isOrder || job.again && !job.isKept,
                starts: start,
                at: time.wallTime
            )
            again = isNew
            part = own
        } else {
            again = try await begins(journal, at: time.wallTime)
        }
        let run = try await journal.beginRun(
            rollout: job.plan.name,
            plan: job.plan.digest,
            listing: seat == nil ? job.plan.listed : [],
            at: time.wallTime,
            seed: site.seed,
            isOrder: job.isOrder,
            fleet: seat.flatMap { seat in
                part.map { part in
                    FleetStart(
                        instance: seat.holder.instance,
                        gateway: seat.holder.gateway,
                        beginning: part.beginning
                    )
                }
            }
        )
        job.output.follow(time)
        let events = EventStream(
            run: run,
            time: time,
            watcher: { [output = job.output] in output.look($0) }
        ) { [output = job.output] event in
            output.take(event, at: RealTime().now)
        }
        let adapters = site.adapters
        events.emit(
            .runStarted(
                RunStart(
                    rollout: job.plan.name,
                    plan: job.plan.digest,
                    vehicles: job.vehicles.count,
                    adapters: adapters,
                    run: run,
                    seed: site.seed
                )
            )
        )
        for difference in differences { events.emit(.warning(difference)) }
        let records = ImageRecords(StoreFolder(stateDirectory: job.state)).all()
        for (image, size) in ready {
            events.emit(
                .imageReady(
                    name: image.name,
                    digest: image.digest,
                    size: size,
                    // A simulated run must depend on its seed alone.
                    provenance: ImageProvenance(record: records[image.digest])
                        .words(withTimes: site.seed == nil)
                )
            )
        }
        let centrals = adapters.map { site.central($0) }
        var schedule = ScheduleBuilder(job.plan)
            .schedule(of: jobs.map(\.vehicle), zone: job.zone)
        schedule.again = again
        let (name, isRehearsal) = (job.plan.name, site.seed != nil)
        let asked = {
            @Sendable [checks = site.checks, stop = job.stop] (program: CheckProgram) async in
            guard let checks else { return program.run { stop.isRequested } }
            return await checks.answer(program) { stop.isRequested }
        }
        schedule.check = { [between = job.plan.rollout.between] wave in
            await asked(
                CheckProgram(between, rollout: name, wave: wave, isRehearsal: isRehearsal)
            ).objection
        }
        let local = LocalCoordinator(journal: journal, rollout: job.plan.name, run: run)
        var coordinator: any Coordinator = local
        if let seat, var part {
            part.check = schedule.check
            part.isRehearsal = site.seed != nil
            part.adapters = adapters
            part.links = adapters.count * job.plan.radio.linksPerAdapter
            let shared = seat.coordinator(
                over: local,
                journal: journal,
                rollout: job.plan.name,
                run: run,
                part: part,
                time: time
            )
            try await shared.begin()
            coordinator = shared
        }
        let result = try await RolloutRun(
            jobs,
            in: Depot(
                rollout: job.plan.name,
                run: run,
                air: SoleAirtime(centrals[0]),
                time: time,
                journal: journal,
                events: events,
                stop: job.stop,
                rules: rules,
                askPause: site.askPause,
                coordinator: coordinator,
                peripherals: site.peripheral,
                image: { debt in
                    let family = job.plan.vehicles.first { $0.serial == debt.serial }?.family
                    guard let family else { return nil }
                    return await room.image(of: debt, family: family)
                },
                terms: { debt in await terms(of: debt, journal) },
                denied: job.denied,
                step: { vehicle, text in builder.step(text, for: vehicle) },
                judge: {
                    await asked(CheckProgram($0, rollout: name, isRehearsal: isRehearsal)).verdict
                }
            ),
            adapters: centrals,
            schedule: schedule
        ).run()
        // An order is reported as not done when one vehicle has not carried it out.
        let tolerance = job.isOrder ? .none : job.plan.rollout.tolerance
        let hold = try await journal.hold(on: job.plan.name)
        let verdict = RunVerdict(
            tolerance,
            vehicles: job.vehicles.count,
            isPart: hold == nil && job.vehicles.count < job.plan.vehicles.count
        )
        let code = verdict.code(of: result, stoppedBy: Signals.exitCode)
        let reason = verdict.reason(code, result, hold)
        var end = RunEnd(
            rollout: job.plan.name,
            counts: result.counts,
            unfinished: result.unfinished,
            exitCode: Int(code.rawValue),
            reason: reason,
            took: began.duration(to: time.now)
        )
        end.adapters = result.adapters
        if let linkTime = site.linkTime {
            for index in end.adapters.indices {
                end.adapters[index].linked = await linkTime(end.adapters[index].name)
            }
        }
        events.emit(.runEnded(end))
        try await events.save(in: journal)
        try await journal.endRun(
            run,
            exitCode: Int(code.rawValue),
            reason: reason,
            at: time.wallTime,
            counts: seat == nil ? nil : end.vehicles.json.text,
            posting: job.notices?.wishes(
                run: run,
                of: job.plan.name,
                exitCode: Int(code.rawValue),
                failed: end.count(.failed),
                isRehearsal: site.seed != nil
            ) ?? [],
            made: RealTime().wallTime
        )
        try await seat?.reportEnd(journal)
        try await journal.compact(keepingRuns: 200)
        return code
    }

    private var start: RolloutStart {
        RolloutStart(
            job.plan,
            isWhole: job.vehicles.count == job.plan.vehicles.count,
            zone: job.zone
        )
    }

    /// Whether the run begins the rollout again, because of its flag or the manifest.
    private func begins(_ journal: Journal, at now: WallTime) async throws -> Bool {
        if job.isOrder { return true }
        if job.isKept { return false }
        if job.again { return true }
        let record = try await journal.rollout(job.plan.name)
        var begun: WallTime?
        if let record { begun = try await journal.run(record.began)?.started }
        do throws(RolloutStart.ClockBehind) {
            return try start.beginsAgain(record, begun: begun, at: now)
        } catch { throw CommandError(error) }
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
