import DBus

/// Makes the clock of this process's loops wait for its tasks.
///
/// What is tried on a bus has deadlines, and so has what is tried there against it. On a busy machine,
/// and among many tests, a deadline would be over before the one who is to keep it had a turn.
package enum FairTime {
    private static let ticker = Task.detached {
        while true {
            LoopClock.tick()
            // Comes back in its turn among all tasks, which is the point.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// For the rest of the process.
    package static func begin() { _ = ticker }
}
