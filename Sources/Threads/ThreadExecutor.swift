import CLinux
import Glibc
import Synchronization

/// A serial executor on one thread of its own, for actors around libraries that block.
///
/// Nothing that blocks may run on Swift's cooperative pool: it has as many threads as there are
/// cores, and one blocked call holds up everybody's timers.
///
/// The thread lives, and keeps this object alive, until `stop`.
package final class ThreadExecutor: SerialExecutor {
    /// What the thread is called in `top -H`, at most 15 bytes.
    package let name: String

    private let wake: CInt
    private let state = Mutex(State())

    private struct State {
        var jobs: [UnownedJob] = []
        var stopping = false
        /// Set by the thread itself, in the same step in which it finds nothing left to do.
        var finished = false
        /// Set before the first job can come, and nil again once the thread was joined.
        var thread: pthread_t?
    }

    private init(name: String, wake: CInt) {
        self.name = name
        self.wake = wake
    }

    deinit { close(wake) }

    /// Starts the thread, which takes no signals: those are the main thread's.
    package static func start(name: String) throws(ThreadError) -> ThreadExecutor {
        let wake = eventfd(0, CInt(EFD_CLOEXEC))
        guard wake >= 0 else { throw ThreadError(operation: "eventfd", code: errno) }
        let executor = ThreadExecutor(name: name, wake: wake)
        try executor.spawn()
        return executor
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { state in
            // A job that nobody runs would leave its task waiting for ever, without a word.
            precondition(!state.finished, "work came for the thread \(name) after it stopped")
            state.jobs.append(job)
        }
        signal()
    }

    /// Lets the thread finish what is queued, ends it, and returns when it is gone.
    ///
    /// The actors on it must be done: a job that comes later traps. Stopping twice is harmless.
    package func stop() {
        let thread = state.withLock { state -> pthread_t? in
            guard let thread = state.thread, !state.stopping else { return nil }
            precondition(pthread_equal(thread, pthread_self()) == 0, "\(name) cannot join itself")
            state.stopping = true
            return thread
        }
        guard let thread else { return }
        signal()
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
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let held = Unmanaged.passRetained(self)
        // Under the lock, so that the thread does not look before it is known.
        let code = state.withLock { state -> CInt in
            var thread = pthread_t()
            let code = pthread_create(
                &thread,
                nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<ThreadExecutor>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                },
                held.toOpaque()
            )
            if code == 0 { state.thread = thread }
            return code
        }
        guard code == 0 else {
            held.release()
            throw ThreadError(operation: "pthread_create", code: code)
        }
    }

    /// The body of the thread.
    private func run() {
        takeName()
        while true {
            let (jobs, finished) = state.withLock { state in
                state.finished = state.stopping && state.jobs.isEmpty
                defer { state.jobs = [] }
                return (state.jobs, state.finished)
            }
            if finished { return }
            if jobs.isEmpty { awaitSignal() }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    /// Through the file, because the Glibc module leaves out `pthread_setname_np`.
    private func takeName() {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        // A thread without a name works just as well.
        _ = Array(name.utf8.prefix(15)).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    private func signal() {
        var one: UInt64 = 1
        while write(wake, &one, 8) < 0, errno == EINTR {}
    }

    private func awaitSignal() {
        var count: UInt64 = 0
        while read(wake, &count, 8) < 0, errno == EINTR {}
    }
}

/// The system gave us no thread.
package struct ThreadError: Error, Equatable, CustomStringConvertible {
    package let operation: String
    package let code: CInt

    package var description: String {
        "no thread can be started (\(operation): \(String(cString: strerror(code))))"
    }
}
