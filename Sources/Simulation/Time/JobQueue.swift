import Base
import CLinux
import Glibc
import Synchronization

/// The jobs of a whole simulation, run on one thread; the seed chooses the next one.
///
/// Only the thread that drains the queue runs jobs, so no two jobs run at the same time.
package final class JobQueue: Sendable {
    fileprivate enum Job {
        case task(UnownedJob, TaskLane)
        case world(UnownedJob, WorldLane)
    }

    private struct State {
        var jobs: [Job] = []
        var random: SplitMix64
    }

    private let state: Mutex<State>
    /// The thread that drains the queue; 0 before the first time.
    private let thread = Atomic<UInt>(0)

    /// Signalled when a job arrives, so that a paced run can stop waiting for the next moment.
    private let arrival = Arrival()

    package init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    fileprivate func add(_ job: Job) {
        state.withLock { $0.jobs.append(job) }
        arrival.signal()
    }

    /// Runs every job that is ready, and those that become ready, until none is left; false when it
    /// stopped before that, after `most` jobs.
    @discardableResult
    package func drain(most: Int = .max) -> Bool {
        thread.store(Self.caller, ordering: .relaxed)
        var left = most
        while let job = takeOne() {
            switch job {
            case .task(let job, let lane):
                job.runSynchronously(on: lane.asUnownedTaskExecutor())
            case .world(let job, let lane):
                job.runSynchronously(on: lane.asUnownedSerialExecutor())
            }
            left -= 1
            if left == 0 { return false }
        }
        return true
    }

    private func takeOne() -> Job? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            let index = state.jobs.count == 1 ? 0 : state.random.below(state.jobs.count)
            state.jobs.swapAt(index, state.jobs.count - 1)
            return state.jobs.removeLast()
        }
    }

    /// Waits in real time until a job arrives, or for at most `duration`.
    package func waitForJob(upTo duration: Duration) {
        arrival.wait(upTo: duration)
    }

    /// Whether the caller is the thread that drains; relaxed, because a thread always sees its own
    /// store.
    fileprivate var isOwnThread: Bool { thread.load(ordering: .relaxed) == Self.caller }

    private static var caller: UInt { UInt(pthread_self()) }
}

/// Queues the tasks of a simulated run.
package final class TaskLane: TaskExecutor {
    private let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.task(UnownedJob(job), self))
    }
}

/// Queues the jobs of the simulated world's actors, and of actors that are pinned in production.
package final class WorldLane: SerialExecutor {
    private let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        queue.add(.world(UnownedJob(job), self))
    }

    /// Whether the caller is on the lane's thread: in a job, or called by the clock between two jobs.
    var isOwn: Bool { queue.isOwnThread }

    package func checkIsolated() {
        precondition(isOwn, "the simulated world is touched from outside its thread")
    }
}

/// A bell that one thread waits for and others ring.
private final class Arrival: Sendable {
    // Both are initialised once, used only through their addresses, and live as long as this.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
        capacity: 1
    )
    // As for the mutex: only its address is used, and it lives as long as this.
    private nonisolated(unsafe) let bell = UnsafeMutablePointer<pthread_cond_t>.allocate(
        capacity: 1
    )
    private let rung = Mutex(false)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(bell, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(bell)
        pthread_mutex_destroy(mutex)
        bell.deallocate()
        mutex.deallocate()
    }

    func signal() {
        let first = rung.withLock { rung in
            defer { rung = true }
            return !rung
        }
        guard first else { return }
        pthread_mutex_lock(mutex)
        pthread_cond_signal(bell)
        pthread_mutex_unlock(mutex)
    }

    func wait(upTo duration: Duration) {
        let until = clock_nanoseconds(CLOCK_MONOTONIC) + duration.nanoseconds
        pthread_mutex_lock(mutex)
        while !rung.withLock({ $0 }) {
            if condition_wait(bell, mutex, until) != 0 { break }
        }
        pthread_mutex_unlock(mutex)
        rung.withLock { $0 = false }
    }
}
