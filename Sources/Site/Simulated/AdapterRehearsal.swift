import Base
import BlueZ
package import Commands
package import Lab
package import Operations
package import Rollout
package import Simulation

/// `simulate --adapter`: a depot served from the host's own adapters.
package actor AdapterRehearsal {
    private nonisolated let executor: ThreadExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private init(executor: ThreadExecutor) { self.executor = executor }

    /// Serves until `stop` is requested; `note` is called with each event.
    package static func serve(
        _ file: DepotFile,
        on adapters: [String],
        seed: UInt64?,
        _ context: Context,
        until stop: StopSignal,
        note: @escaping @Sendable (RehearsalNote) -> Void
    ) async throws(CommandError) {
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
        defer { executor.stop() }
        let site = try HostBluetooth.open(
            bus: nil,
            state: nil,
            context,
            provesSubscriptions: false
        )
        let rehearsal = Rehearsal(
            file,
            on: adapters,
            by: site.radio,
            clock: site.time,
            note: note
        )
        let result = await AdapterRehearsal(executor: executor)
            .play(rehearsal, seed) { stop.isRequested }
        await site.close()
        guard case .failure(let error) = result else { return }
        throw refusal(error)
    }

    /// Blocks the thread for as long as it lasts.
    private func play(
        _ rehearsal: Rehearsal,
        _ seed: UInt64?,
        until isOver: @escaping @Sendable () -> Bool
    ) -> Result<Void, RehearsalError> {
        rehearsal.play(seed: seed, until: isOver)
    }

    private static func refusal(_ error: RehearsalError) -> CommandError {
        switch error {
        case .noModules, .tooFewAdapters:
            CommandError(
                .usage,
                "the depot cannot be served",
                because: [error.description],
                hint: "give --adapter once for each module, or a depot with fewer of them"
            )
        case .depot: CommandError(.internal, error.description)
        case .radio, .noAdapter, .adapterOff, .noPeripheralRole:
            CommandError(
                .unavailable,
                "the depot cannot be served",
                because: [error.description],
                hint: "yardmaster doctor says what to do"
            )
        }
    }
}
