import Commands
import Domain
import Glibc
import Images
import Journal
import Manifest
import Reports
import Rollout
import Sessions
import Simulation
import Threads
import Wire

/// All that a run in a simulated depot is made of.
struct SimulatedJob: Sendable {
    let plan: FrozenPlan
    let vehicles: [PlannedVehicle]
    let access: [VehicleID: VehicleAccess]
    /// Of the window.
    let zone: Zone
    let file: DepotFile
    let options: SimulationOptions
    let state: String
    let stop: StopSignal
    let output: RunOutput
}

/// Where simulations run: a thread of its own, since virtual time is spent in one long call.
actor SimulatedSite {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(executor: ThreadExecutor) { self.executor = executor }

    func run(_ job: SimulatedJob) -> Result<ExitCode, CommandError> {
        do throws(CommandError) {
            return .success(try simulate(job))
        } catch {
            return .failure(error)
        }
    }

    private func simulate(_ job: SimulatedJob) throws(CommandError) -> ExitCode {
        let folder = job.state + "/simulation"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw CommandError(
                .cannotCreate,
                "cannot make \(folder)",
                because: [Descriptor.text(of: errno)]
            )
        }
        let depot: SimulatedDepot
        do throws(SimulatedDepot.MemoryFailure) {
            depot = try SimulatedDepot(
                job.file,
                seed: job.options.seed,
                memoryPath: "\(folder)/\(Self.fileName(job.file.name)).memory"
            )
        } catch {
            throw CommandError(.cannotCreate, error.description)
        }
        let pace: Simulation.Pace =
            job.options.pace.map { .times($0) } ?? .asFastAsPossible
        let result: Result<ExitCode, CommandError>
        do throws(Simulation.Deadlock) {
            result = try depot.simulation.run(pace: pace) {
                await SimulatedRun(job: job, depot: depot).result()
            }
        } catch {
            throw CommandError(.internal, error.description)
        }
        return try result.get()
    }

    /// A depot's name as part of a file's name.
    private static func fileName(_ name: String) -> String {
        String(
            decoding: name.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
    }
}

/// The run itself, in virtual time.
private struct SimulatedRun {
    let job: SimulatedJob
    let depot: SimulatedDepot

    func result() async -> Result<ExitCode, CommandError> {
        do throws(CommandError) {
            return .success(try await run())
        } catch {
            return .failure(error)
        }
    }

    private func run() async throws(CommandError) -> ExitCode {
        do throws(SimulatedDepot.MemoryFailure) {
            try await depot.populate()
        } catch { throw CommandError(.cannotCreate, error.description) }
        let lane = depot.simulation.worldLane
        let journal: Journal
        do throws(JournalError) {
            journal = try await Journal.open(directory: job.state, executor: lane)
        } catch { throw RunCommand.refusal(error) }
        let code: ExitCode
        do {
            code = try await rollout(journal, lane)
        } catch {
            await journal.close()
            if let error = error as? JournalError { throw RunCommand.refusal(error) }
            throw error as? CommandError ?? CommandError(.internal, "\(error)")
        }
        await journal.close()
        return code
    }

    private func rollout(_ journal: Journal, _ lane: WorldLane) async throws -> ExitCode {
        let time = depot.simulation.time
        let room = ImageRoom(store: ImageStore(stateDirectory: job.state, executor: lane))
        var images: [String: [FirmwarePart]] = [:]
        var ready: [(PlannedImage, ByteCount)] = []
        for image in job.plan.images {
            let (parts, size) = try await room.parts(of: image)
            images[image.name] = parts
            ready.append((image, size))
        }
        let builder = JobBuilder(job.plan)
        guard let rules = builder.rules else {
            throw CommandError(.manifest, "the settle times of the manifest make no sense")
        }
        let began = time.now
        let run = try await journal.beginRun(
            rollout: job.plan.name,
            plan: job.plan.digest,
            at: time.wallTime,
            seed: depot.simulation.seed
        )
        let events = EventStream(run: run, time: time) { [output = job.output] event in
            output.take(event, at: RealTime().now)
        }
        let adapters =
            job.plan.radio.adapters.isEmpty ? job.file.adapters : job.plan.radio.adapters
        events.emit(
            .runStarted(
                RunStart(
                    rollout: job.plan.name,
                    plan: job.plan.digest,
                    vehicles: job.vehicles.count,
                    adapters: adapters,
                    run: run,
                    seed: depot.simulation.seed
                )
            )
        )
        for (image, size) in ready {
            events.emit(.imageReady(name: image.name, digest: image.digest, size: size))
        }
        let chosen = Set(job.vehicles.map(\.id))
        let jobs = builder.jobs(images: images, access: job.access)
            .filter { chosen.contains($0.vehicle) }
        let centrals = adapters.map { depot.radio($0) }
        var schedule = ScheduleBuilder(job.plan)
            .schedule(of: jobs.map(\.vehicle), zone: job.zone)
        let check = CheckProgram(job.plan.rollout.between)
        let name = job.plan.name
        schedule.check = { wave in check.run(rollout: name, wave: wave) }
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
                peripherals: { [depot] in depot.radio($0) }
            ),
            adapters: centrals,
            schedule: schedule
        ).run()
        let code = RunVerdict(job.plan, vehicles: job.vehicles.count).code(of: result)
        let reason = RunVerdict.reason(code, result)
        events.emit(
            .runEnded(
                RunEnd(
                    rollout: job.plan.name,
                    counts: result.counts,
                    unfinished: result.unfinished,
                    exitCode: Int(code.rawValue),
                    reason: reason,
                    took: began.duration(to: time.now)
                )
            )
        )
        try await events.save(in: journal)
        try await journal.endRun(
            run,
            exitCode: Int(code.rawValue),
            reason: reason,
            at: time.wallTime
        )
        try await journal.compact(keepingRuns: 200)
        return code
    }
}
