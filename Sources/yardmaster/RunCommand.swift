import BlueZ
import Commands
import Domain
import Journal
import Manifest
import Reports
import Rollout
import Simulation
import Threads

/// `run`: everything before the first packet, the run itself, and its result.
struct RunCommand {
    let options: RunOptions
    let context: Context

    func run() async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        let vehicles = try Inputs.selected(plan, options.common)
        try Inputs.refuseObstacles(plan, options.manifest, context)
        guard let simulation = options.simulation else {
            return try await runForReal(plan, vehicles)
        }
        let file = try Inputs.depot(simulation.depot, context)
        for adapter in plan.radio.adapters where !file.adapters.contains(adapter) {
            throw CommandError(
                .unavailable,
                "there is no adapter \(adapter)",
                because: ["the depot has \(file.adapters.joined(separator: ", "))"],
                hint: "name one of these under `radio` in \(options.manifest)"
            )
        }
        return try await within(plan, vehicles) { job throws(CommandError) in
            let thread = try Self.thread("simulation")
            let site = SimulatedSite(executor: thread)
            let result = await site.run(
                SimulatedJob(run: job, file: file, options: simulation)
            )
            thread.stop()
            return try result.get()
        }
    }

    /// On the host's own Bluetooth.
    private func runForReal(
        _ plan: FrozenPlan,
        _ vehicles: [PlannedVehicle]
    ) async throws(CommandError) -> ExitCode {
        let console = context.console
        let real = try RealSite.open(bus: options.bus, state: options.state, context) { note in
            console.note("yardmaster: warning: \(note.description)\n")
        }
        do throws(CommandError) {
            let adapters = try await real.adapters(named: plan.radio.adapters)
            let code = try await within(plan, vehicles) { job throws(CommandError) in
                let thread = try Self.thread("files")
                let site = Site(
                    time: real.time,
                    lane: thread,
                    seed: nil,
                    adapters: adapters,
                    central: { BlueZCentral($0, of: real.radio) },
                    peripheral: { BlueZPeripheral($0, of: real.radio) }
                )
                do throws(CommandError) {
                    let code = try await SiteRun(job: job, site: site).run()
                    thread.stop()
                    return code
                } catch {
                    thread.stop()
                    throw error
                }
            }
            await real.close()
            return code
        } catch {
            await real.close()
            throw error
        }
    }

    /// Everything before the first packet, and what follows the last.
    private func within(
        _ plan: FrozenPlan,
        _ vehicles: [PlannedVehicle],
        _ body: @Sendable (RunJob) async throws(CommandError) -> ExitCode
    ) async throws(CommandError) -> ExitCode {
        let access = try access(to: vehicles)
        let zone = try ZoneSource.zone(of: plan, context)
        let directory = try stateDirectory()
        let lock = try lock(directory, plan)
        let output = try RunOutput(options, context)
        let job = RunJob(
            plan: plan,
            vehicles: vehicles,
            access: access,
            zone: zone,
            state: directory.path,
            stop: Signals.catchThem(),
            output: output
        )
        let result = await output.whileWriting { () -> Result<ExitCode, CommandError> in
            do throws(CommandError) {
                return .success(try await body(job))
            } catch { return .failure(error) }
        }
        lock.release()
        return try result.get()
    }

    private func access(
        to vehicles: [PlannedVehicle]
    ) throws(CommandError) -> [VehicleID: VehicleAccess] {
        let source = SecretSource(context: context)
        var access: [VehicleID: VehicleAccess] = [:]
        for vehicle in vehicles { access[vehicle.id] = try source.access(to: vehicle) }
        return access
    }

    private func stateDirectory() throws(CommandError) -> StateDirectory {
        do throws(StateDirectoryError) {
            return try StateDirectory.create(at: options.state)
        } catch { throw Self.refusal(error) }
    }

    private func lock(
        _ directory: StateDirectory,
        _ plan: FrozenPlan
    ) throws(CommandError) -> StateLock {
        do throws(StateDirectoryError) {
            return try directory.lock(rollout: plan.name, started: RealTime().wallTime)
        } catch { throw Self.refusal(error) }
    }

    private static func thread(_ name: String) throws(CommandError) -> ThreadExecutor {
        do throws(ThreadError) {
            return try ThreadExecutor.start(name: name)
        } catch {
            throw CommandError(.unavailable, "no thread for the run", because: [error.description])
        }
    }

    static func refusal(_ error: StateDirectoryError) -> CommandError {
        switch error {
        case .busy:
            CommandError(
                .busy,
                error.description,
                hint: "wait for it, or use another --state directory"
            )
        case .missing, .notADirectory, .notPermitted, .readOnly, .full, .networkFileSystem, .failed:
            CommandError(
                .cannotCreate,
                error.description,
                hint: "name a directory on a local disk that can be written with --state DIR"
            )
        }
    }

    static func refusal(_ error: JournalError) -> CommandError {
        let kind: CommandError.Kind =
            switch error.kind {
            case .cannotCreate, .missing: .cannotCreate
            case .full, .readOnly, .disk: .cannotWrite
            case .busy: .busy
            case .corrupt, .foreign, .schema: .configuration
            case .internal: .internal
            }
        return CommandError(
            kind,
            error.description,
            hint: kind == .cannotWrite
                ? "make room or mend the disk, then run again: it goes on where it stood" : nil
        )
    }
}
