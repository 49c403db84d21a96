package import Base
package import Commands
package import Manifest
package import Simulation
import Store

/// All values that a run in a simulated depot needs.
package struct SimulatedJob: Sendable {
    package let run: RunJob
    package let file: DepotFile
    package let options: SimulationOptions

    package init(run: RunJob, file: DepotFile, options: SimulationOptions) {
        self.run = run
        self.file = file
        self.options = options
    }

    package var plan: FrozenPlan { run.plan }
    package var state: String { run.state }
}

/// The thread on which simulations run: its own, because virtual time is spent in one long call.
package actor SimulationThread {
    private nonisolated let executor: ThreadExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    package init(executor: ThreadExecutor) { self.executor = executor }

    package func run(_ job: SimulatedJob) -> Result<ExitCode, CommandError> {
        do throws(CommandError) {
            return .success(try simulate(job))
        } catch {
            return .failure(error)
        }
    }

    /// When the last simulated run of the directory ended: a new depot begins at that time.
    package static func lastMoment(in state: String) -> WallTime? {
        try? JournalReader(directory: state).read { view throws(JournalError) -> WallTime? in
            guard let last = try view.runs(rollout: nil, limit: 1).first, last.seed != nil else {
                return nil
            }
            if let end = last.end { return end.time }
            return try view.lastEvent(run: last.number)?.time
        }
    }

    private func simulate(_ job: SimulatedJob) throws(CommandError) -> ExitCode {
        let depot: SimulatedDepot
        let memory = try DepotMemoryFile.path(of: job.file, in: job.state)
        do throws(SimulatedDepot.MemoryFailure) {
            depot = try SimulatedDepot(
                job.file,
                seed: job.options.seed,
                memoryPath: memory,
                notBefore: Self.lastMoment(in: job.state)
            )
        } catch {
            throw CommandError(.cannotCreate, error.description)
        }
        Signals.catchHurry()
        let result: Result<ExitCode, CommandError>
        do throws(Simulation.Deadlock) {
            result = try depot.simulation.run(pace: Signals.pace(job.options.pace)) {
                await SimulatedRun(job: job, depot: depot).result()
            }
        } catch {
            throw CommandError(.internal, error.description)
        }
        do throws(SimulatedDepot.MemoryFailure) {
            try depot.keepTime()
        } catch {
            throw CommandError(.cannotWrite, error.description)
        }
        return try result.get()
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
        var site = RunPlace(
            time: depot.simulation.time,
            lane: depot.simulation.worldLane,
            seed: depot.simulation.seed,
            adapters: job.plan.radio.adapters.isEmpty
                ? job.file.adapters : job.plan.radio.adapters,
            central: { [depot] in depot.radio($0) },
            peripheral: { [depot] in depot.radio($0) },
            radioTimes: { [air = depot.simulation.air] in
                (await air.linkTime(of: $0), await air.airTime(of: $0))
            }
        )
        // At full speed, half a minute of a simulated night passes before a person can send a
        // request.
        if job.options.pace == nil { site.askPause = .seconds(30) }
        return try await JobRun(job: job.run, site: site).run()
    }
}
