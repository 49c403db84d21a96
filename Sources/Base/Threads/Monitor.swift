import Glibc

/// A value that only one thread at a time may access, and that a thread can wait on.
///
/// Not a `Mutex`, which cannot be waited on, and whose hand-over inside the kernel the thread
/// sanitizer reports as a race.
@usableFromInline @safe package final class Monitor<State: Sendable>: Sendable {
    // All three are accessed only between lock and unlock, which are safe from any thread.
    @usableFromInline nonisolated(unsafe) var state: State
    // Created once and used only through its address.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
        capacity: 1
    )
    // Created once and used only through its address.
    private nonisolated(unsafe) let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(
        capacity: 1
    )

    package init(_ state: State) {
        unsafe self.state = state
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Inlined: a call through generics takes longer than the lock itself.
    @inlinable package func withLock<R>(_ body: (inout State) -> R) -> R {
        lock()
        defer { unlock() }
        return unsafe body(&state)
    }

    @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }

    /// Like `withLock`, and makes a waiting thread check again.
    package func change<R>(_ body: (inout State) -> R) -> R {
        // After unlocking, or the thread that wakes would immediately have to wait for the lock.
        defer { unsafe pthread_cond_signal(changed) }
        return withLock(body)
    }

    /// Waits until `body` returns a value.
    package func wait<R>(_ body: (inout State) -> R?) -> R {
        lock()
        defer { unlock() }
        while true {
            if let result = unsafe body(&state) { return result }
            unsafe pthread_cond_wait(changed, mutex)
        }
    }
}
