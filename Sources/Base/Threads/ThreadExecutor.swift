import Glibc

/// A serial executor on its own thread, for actors around libraries that block.
///
/// Nothing that blocks may run on Swift's cooperative pool: it has as many threads as there are
/// cores, and one blocked call delays the timers of all tasks. Tasks that often call such an actor
/// can prefer its thread, and then need no change of threads for a call.
///
/// The thread runs, and keeps this object alive, until `stop`.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    /// The name of the thread in `top -H`, at most 15 bytes.
    package let name: String

    private let state = Monitor(State())

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var stopping = false
        /// Set by the thread itself, in the same step in which it finds no more work.
        var finished = false
        /// Set before the first job can arrive, and nil again after the thread was joined.
        var thread: pthread_t?
    }

    private init(name: String) { self.name = name }

    /// Starts the thread, which receives no signals: the main thread handles those.
    package static func start(name: String) throws(ThreadError) -> ThreadExecutor {
        let executor = ThreadExecutor(name: name)
        try executor.spawn()
        return executor
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.change { state in
            // A job that is never run would make its task wait forever, without an error.
            precondition(!state.finished, "work came for the thread \(name) after it stopped")
            state.jobs.append(job)
        }
    }

    /// Lets the thread finish the queued jobs, ends it, and returns when it is gone.
    ///
    /// The actors on it must be done: a later job traps. Stopping twice is harmless.
    package func stop() {
        let thread = state.change { state -> pthread_t? in
            guard let thread = state.thread, !state.stopping else { return nil }
            precondition(pthread_equal(thread, pthread_self()) == 0, "\(name) cannot join itself")
            state.stopping = true
            return thread
        }
        guard let thread else { return }
        pthread_join(thread, nil)
        state.withLock { $0.thread = nil }
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the thread \(name)")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        state.withLock { state in
            guard let thread = state.thread else { return false }
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    private func spawn() throws(ThreadError) {
        // Under the lock, so that the thread cannot read the handle before it is set.
        let started = state.withLock { state -> Result<Void, ThreadError> in
            NativeThread.start(name: name) { self.run() }.map { state.thread = $0 }
        }
        try started.get()
    }

    /// The body of the thread.
    private func run() {
        while true {
            let jobs = state.wait { state -> [UnownedJob]? in
                guard state.jobs.isEmpty else {
                    defer { state.jobs = [] }
                    return state.jobs
                }
                state.finished = state.stopping
                return state.finished ? [] : nil
            }
            if jobs.isEmpty { return }
            for job in jobs {
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
    }
}
