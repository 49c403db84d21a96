import Commands
import Domain
import Images
import Journal
import Manifest
import Reports
import Rollout
import Sessions
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
            throw CommandError(
                .unavailable,
                "this version works on simulated vehicles only",
                hint: "rehearse with --simulate DEPOT.yaml"
            )
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
        let access = try access(to: vehicles)
        let zone = try ZoneSource.zone(of: plan, context)
        let directory = try stateDirectory()
        let lock = try lock(directory, plan)
        let output = try RunOutput(options, context)
        let thread = try Self.thread("simulation")
        let site = SimulatedSite(executor: thread)
        let job = SimulatedJob(
            plan: plan,
            vehicles: vehicles,
            access: access,
            zone: zone,
            file: file,
            options: simulation,
            state: directory.path,
            stop: Signals.catchThem(),
            output: output
        )
        let result = await output.whileWriting { await site.run(job) }
        thread.stop()
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
