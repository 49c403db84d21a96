package import Base
package import Commands
package import Radio
import Rollout
import Simulation

/// A simulated depot for a command other than a run: nothing is kept, unless a state directory is
/// given for the depot's memory.
package actor SimulatedCommand {
    private nonisolated let executor: ThreadExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private init(executor: ThreadExecutor) { self.executor = executor }

    /// Runs `body` in the depot, on a thread of its own: virtual time is spent in one long call.
    package static func run<R: Sendable>(
        _ options: SimulationOptions,
        _ context: Context,
        _ profiles: ProfileLibrary,
        keptIn state: String? = nil,
        adapter: String? = nil,
        _ body: @escaping @Sendable (any Central, any Timekeeper) async -> R
    ) async throws(CommandError) -> R {
        try await stage(options, context, profiles, keptIn: state, adapter: adapter) { place in
            await body(place.central, place.time)
        }
    }

    /// The values that a body may use while it runs.
    package struct Lent: Sendable {
        package let central: any Central
        package let time: any Timekeeper
        /// The executor for files and the journal, so that virtual time waits for them.
        package let lane: any SerialExecutor
    }

    /// The same for a body that also works on files.
    package static func stage<R: Sendable>(
        _ options: SimulationOptions,
        _ context: Context,
        _ profiles: ProfileLibrary,
        keptIn state: String? = nil,
        adapter: String? = nil,
        _ body: @escaping @Sendable (Lent) async -> R
    ) async throws(CommandError) -> R {
        guard case .file(let path) = options.depot else {
            throw CommandError(.internal, "a depot was to be made up without a plan")
        }
        let file = try Inputs.depot(path, context, profiles)
        let memory = try state.map { (state) throws(CommandError) in
            try DepotMemoryFile.path(of: file, in: state)
        }
        let executor: ThreadExecutor
        do throws(ThreadError) {
            executor = try ThreadExecutor.start(name: "simulation")
        } catch {
            throw CommandError(
                .unavailable,
                "no thread for the simulation",
                because: [error.description]
            )
        }
        let result = await SimulatedCommand(executor: executor)
            .play(file, options, memory, adapter, body)
        executor.stop()
        return try result.get()
    }

    private func play<R: Sendable>(
        _ file: DepotFile,
        _ options: SimulationOptions,
        _ memory: String?,
        _ adapter: String?,
        _ body: @escaping @Sendable (Lent) async -> R
    ) -> Result<R, CommandError> {
        Signals.catchHurry()
        do {
            let depot = try SimulatedDepot(file, seed: options.seed, memoryPath: memory)
            let adapter = adapter ?? file.adapters[0]
            let result = try depot.simulation.run(pace: Signals.pace(options.pace)) {
                () async -> Result<R, CommandError> in
                do throws(SimulatedDepot.MemoryFailure) {
                    try await depot.populate()
                } catch {
                    return .failure(CommandError(.cannotCreate, error.description))
                }
                let place = Lent(
                    central: depot.radio(adapter),
                    time: depot.simulation.time,
                    lane: depot.simulation.worldLane
                )
                return .success(await body(place))
            }
            try depot.keepTime()
            return result
        } catch {
            return .failure(CommandError(.internal, "\(error)"))
        }
    }
}

extension StopSignal {
    /// Runs `body` until it ends, or cancels it when a signal arrives.
    package func ending<R: Sendable>(
        by time: any Timekeeper,
        _ body: @escaping @Sendable () async -> R
    ) async -> R {
        await withTaskGroup(of: R?.self) { group in
            group.addTask { await body() }
            group.addTask {
                while !Task.isCancelled, !self.isRequested {
                    await time.sleep(for: .milliseconds(250), "a signal to end")
                }
                return nil
            }
            var result: R?
            while result == nil, let next = await group.next() {
                result = next
                group.cancelAll()
            }
            guard let result else { preconditionFailure("a body ends with what it returns") }
            return result
        }
    }
}
