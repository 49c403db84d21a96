import Base
import CLinux
import Glibc
import Synchronization

/// Calls a function regularly while a run goes on, and immediately after a signal.
///
/// Waiting is displayed by a clock, not by events: while a run waits there are none.
package final class Pulse: Sendable {
    /// Written to by signal handlers, which may do nothing else.
    static let bell = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))

    /// Often enough for a clock that shows seconds.
    private static let pause: CInt = 250

    /// The number of calls in a second without a signal.
    package static let perSecond = 4

    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<pthread_t?>(nil)

    /// With `isSteady` it calls regularly, else only after a signal.
    package static func start(isSteady: Bool, _ beat: @escaping @Sendable () -> Void) -> Pulse {
        let pulse = Pulse()
        guard bell >= 0 else { return pulse }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { @Sendable _ in Pulse.ring() }
        action.sa_flags = SA_RESTART
        sigaction(SIGWINCH, &action, nil)
        let started = NativeThread.start(name: "pulse") {
            while !pulse.isStopped.load(ordering: .relaxed) {
                var entry = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, isSteady ? pause : -1) > 0 {
                    var count: UInt64 = 0
                    _ = read(bell, &count, MemoryLayout<UInt64>.size)
                }
                if !pulse.isStopped.load(ordering: .relaxed) { beat() }
            }
        }
        // Without the thread, the run goes on without a live display.
        if case .success(let thread) = started { pulse.thread.withLock { $0 = thread } }
        return pulse
    }

    /// May be called by signal handlers, too.
    static func ring() {
        let before = errno
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
        errno = before
    }

    /// Returns after the last call has ended.
    package func stop() {
        isStopped.store(true, ordering: .relaxed)
        Pulse.ring()
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }
}
