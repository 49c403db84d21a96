import Commands
import Domain
import Modules
import Radio
import Rollout
import Simulation
import Threads

/// A simulated depot for a command that needs no journal: nothing that happens there is kept.
actor SimulatedStage {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(executor: ThreadExecutor) { self.executor = executor }

    /// Runs `body` in the depot, on a thread of its own: virtual time is spent in one long call.
    static func run<R: Sendable>(
        _ options: SimulationOptions,
        _ context: Context,
        _ profiles: ProfileLibrary,
        _ body: @escaping @Sendable (any Central, any Timekeeper) async -> R
    ) async throws(CommandError) -> R {
        let file = try Inputs.depot(options.depot, context, profiles)
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
        let result = await SimulatedStage(executor: executor).play(file, options, body)
        executor.stop()
        return try result.get()
    }

    private func play<R: Sendable>(
        _ file: DepotFile,
        _ options: SimulationOptions,
        _ body: @escaping @Sendable (any Central, any Timekeeper) async -> R
    ) -> Result<R, CommandError> {
        let pace: Simulation.Pace = options.pace.map { .times($0) } ?? .asFastAsPossible
        do {
            let depot = try SimulatedDepot(file, seed: options.seed)
            let adapter = file.adapters[0]
            return try depot.simulation.run(pace: pace) { () async -> Result<R, CommandError> in
                do throws(SimulatedDepot.MemoryFailure) {
                    try await depot.populate()
                } catch {
                    return .failure(CommandError(.cannotCreate, error.description))
                }
                return .success(await body(depot.radio(adapter), depot.simulation.time))
            }
        } catch {
            return .failure(CommandError(.internal, "\(error)"))
        }
    }
}

extension StopSignal {
    /// Runs `body` until it ends, or ends it when a signal comes.
    func ending<R: Sendable>(
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
