import BlueZ

/// Makes the clock of this process's loops wait for its tasks.
///
/// Tests on a bus and the code that they test have deadlines. On a busy machine, and among many
/// tests, a deadline could pass before the task that must meet it had a turn.
package enum FairTime {
    private static let ticker = Task.detached {
        while true {
            LoopClock.tick()
            // The task continues only after all other waiting tasks have had their turn, which is
            // the purpose.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Applies to the rest of the process.
    package static func begin() { _ = ticker }
}
