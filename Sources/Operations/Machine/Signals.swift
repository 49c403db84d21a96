import CLinux
package import Commands
import Glibc
package import Rollout
import Simulation
import Synchronization

/// INT and TERM: the first one requests a safe point, the second one ends the process immediately.
package enum Signals {
    /// Created before the handler is set, so that the handler only uses what exists.
    private static let stop = StopSignal()
    private static let last = Atomic<Int32>(0)

    /// Whether a signal has requested the end.
    static var isStopRequested: Bool { stop.isRequested }

    /// Catches the signals from now on; a run checks the returned value for whether to stop.
    package static func catchThem() -> StopSignal {
        let stop = stop
        _ = last.load(ordering: .relaxed)
        _ = Pulse.bell
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { @Sendable number in
            if Signals.last.exchange(number, ordering: .relaxed) != 0 {
                // The journal contains the last safe point: ending now loses nothing.
                Signals.farewell()
                _exit(128 + number)
            }
            Signals.stop.request()
            Pulse.ring()
        }
        action.sa_flags = SA_RESTART
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGHUP, &action, nil)
        return stop
    }

    private static let hurries = Atomic<Bool>(false)

    /// The pace of a simulation: the requested one, until USR1 demands the highest speed.
    static func pace(_ times: Double?) -> Simulation.Pace {
        guard let times, !hurries.load(ordering: .relaxed) else { return .asFastAsPossible }
        return .times(times)
    }

    /// From now on, USR1 ends the requested pace.
    static func catchHurry() {
        _ = hurries.load(ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { @Sendable _ in
            Signals.hurries.store(true, ordering: .relaxed)
        }
        action.sa_flags = SA_RESTART
        sigaction(SIGUSR1, &action, nil)
    }

    /// Prints that the process ends now; it does not wait for a stopped terminal.
    private static func farewell() {
        var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&entry, 1, 0) > 0, isatty(STDERR_FILENO) == 1 else { return }
        let text: StaticString =
            "\r\nyardmaster: ended at once; the same command goes on where this one stood\r\n"
        _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    /// The exit code after a signal; nil when there was none.
    package static var exitCode: ExitCode? {
        received.map { $0 == SIGINT ? .interrupted : .terminated }
    }

    /// The name of the last signal for people; nil when there was none.
    static var name: String? {
        switch received {
        case SIGINT?: "INT"
        case SIGTERM?: "TERM"
        case SIGHUP?: "HUP"
        case .some(let number): "signal \(number)"
        case nil: nil
        }
    }

    /// The last signal; nil when there was none.
    package static var received: Int32? {
        let number = last.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
