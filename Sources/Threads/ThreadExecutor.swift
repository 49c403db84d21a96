import Glibc

/// A serial executor on one thread of its own, for actors around libraries that block.
///
/// Nothing that blocks may run on Swift's cooperative pool: it has as many threads as there are
/// cores, and one blocked call holds up everybody's timers. Tasks that have to do with such an actor
/// all the time can prefer its thread, and then need not change threads to talk to it.
///
/// The thread lives, and keeps this object alive, until `stop`.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    /// What the thread is called in `top -H`, at most 15 bytes.
    package let name: String

    private let state = Monitor(State())

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var stopping = false
        /// Set by the thread itself, in the same step in which it finds nothing left to do.
        var finished = false
        /// Set before the first job can come, and nil again once the thread was joined.
        var thread: pthread_t?
    }

    private init(name: String) { self.name = name }

    /// Starts the thread, which takes no signals: those are the main thread's.
    package static func start(name: String) throws(ThreadError) -> ThreadExecutor {
        let executor = ThreadExecutor(name: name)
        try executor.spawn()
        return executor
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.change { state in
            // A job that nobody runs would leave its task waiting forever, without a word.
            precondition(!state.finished, "work came for the thread \(name) after it stopped")
            state.jobs.append(job)
        }
    }

    /// Lets the thread finish what is queued, ends it, and returns when it is gone.
    ///
    /// The actors on it must be done: a job that comes later traps. Stopping twice is harmless.
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
        // Under the lock, so that the thread does not look before it is known.
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
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
    }
}
