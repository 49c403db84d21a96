import Base

/// Waits for check programs on a thread of its own, so that adapters and requests are handled
/// meanwhile.
package actor CheckRunner {
    private nonisolated let executor: ThreadExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(executor: ThreadExecutor) { self.executor = executor }

    func answer(
        _ program: CheckProgram,
        unless isOver: @Sendable () -> Bool
    ) -> CheckProgram.Answer {
        program.run { isOver() || Task.isCancelled }
    }

    /// The same for other blocking work.
    func wait<R: Sendable>(for work: @Sendable () -> R) -> R { work() }
}
