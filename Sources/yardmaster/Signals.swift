import Glibc
import Rollout
import Synchronization

/// INT and TERM: the first asks for a safe point, the second ends the process there and then.
enum Signals {
    /// Made before the handler is set, so that the handler only touches what exists.
    private static let stop = StopSignal()
    private static let last = Atomic<Int32>(0)

    /// Catches the signals from now on; a run asks the returned value whether to stop.
    static func catchThem() -> StopSignal {
        let stop = stop
        _ = last.load(ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { @Sendable number in
            if Signals.last.exchange(number, ordering: .relaxed) != 0 {
                // The journal holds the last safe point: leaving at once loses nothing.
                _exit(128 + number)
            }
            Signals.stop.request()
        }
        action.sa_flags = SA_RESTART
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGHUP, &action, nil)
        return stop
    }

    /// The signal that came last, nil when none did.
    static var received: Int32? {
        let number = last.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
