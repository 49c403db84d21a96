import Glibc

/// A value that one thread at a time may touch, and that a thread can wait on.
///
/// Not `Mutex`, which cannot be waited on, and whose hand-over inside the kernel the thread
/// sanitizer takes for a race.
package final class Monitor<State: Sendable>: Sendable {
    // All three are touched only between lock and unlock, which are safe from any thread.
    private nonisolated(unsafe) var state: State
    // Made once and used only through its address.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
        capacity: 1
    )
    // Made once and used only through its address.
    private nonisolated(unsafe) let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(
        capacity: 1
    )

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    package func withLock<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// As `withLock`, and lets a thread that waits look again.
    package func change<R>(_ body: (inout State) -> R) -> R {
        // Behind the lock, or the thread that wakes would have to wait for it at once.
        defer { pthread_cond_signal(changed) }
        return withLock(body)
    }

    /// Waits until `body` gives a value.
    package func wait<R>(_ body: (inout State) -> R?) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }
}
