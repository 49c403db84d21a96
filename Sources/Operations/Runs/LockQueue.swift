package import Base
package import Commands
import Glibc
package import Store

/// Waits for the state directory's lock while another run has it, on a thread of its own.
package actor LockQueue {
    private nonisolated let executor: ThreadExecutor
    private let directory: StateDirectory
    private let rollout: String

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    package init(_ directory: StateDirectory, rollout: String, executor: ThreadExecutor) {
        self.directory = directory
        self.rollout = rollout
        self.executor = executor
    }

    /// Asks the active run to end at its next safe point, whichever rollout it works on.
    package func askToYield() async throws(CommandError) {
        do throws(JournalError) {
            let journal = try await Journal.open(directory: directory.path, executor: executor)
            try await journal.leave(
                ControlRequest(
                    .yield,
                    rollout: directory.holder()?.rollout ?? rollout,
                    reason: "another run takes over",
                    at: RealTime().wallTime
                )
            )
            await journal.close()
        } catch { throw CommandError(error) }
    }

    /// Waits half a second, in which the lock may have become free; false when a signal asked to
    /// end.
    package func waits() -> Bool {
        _ = Signals.catchThem()
        // A signal ends the wait immediately.
        _ = poll(nil, 0, 500)
        return Signals.received == nil
    }
}
