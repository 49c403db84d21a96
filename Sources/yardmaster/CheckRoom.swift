import Threads

/// Waits for check programs on a thread of its own, so that adapters and requests are looked after
/// meanwhile.
actor CheckRoom {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(executor: ThreadExecutor) { self.executor = executor }

    /// Why the rollout may not go on, nil when it may.
    func answer(
        _ program: CheckProgram,
        _ rollout: String,
        _ wave: Int,
        unless isOver: @Sendable () -> Bool
    ) -> String? {
        program.run(rollout: rollout, wave: wave) { isOver() || Task.isCancelled }
    }
}
