import Base
package import Radio
import Synchronization

/// The retries, waiting times and limits of a rollout.
package struct RolloutRules: Sendable {
    /// Further attempts that failures of a class allow.
    package var transientRetries = 4
    package var deviceRetries = 1
    /// The pause before the second attempt; it doubles for each further one, up to the longest.
    package var retryPause = Duration.seconds(1)
    package var longestRetryPause = Duration.seconds(30)
    /// Further attempts of all vehicles of a run together.
    package var retryBudget = RetryBudget()
    /// How long one search for a module takes, and how many searches there are.
    package var seekTimeout: Duration = .seconds(30)
    package var seekAttempts = 4
    package var connectTimeout: Duration = .seconds(20)
    /// How long a GO device may take to connect, complete the handshake and carry out a command.
    package var commandTimeout: Duration = .seconds(120)
    /// How long a module may take to change from one role to the other.
    package var roleChangeTimeout: Duration = .seconds(60)
    /// Broken transfers in a row, without a further byte in the module, that end an update.
    package var fruitlessTransfers = 3
    /// How long a run waits for the host's radio to come back.
    package var hostPatience: Duration = .seconds(120)
    /// How long the host's radio must have worked before a run waits the full time for it again.
    package var hostRecovery: Duration = .seconds(60)
    /// How long to wait for a module that another program is connected to.
    package var heldPatience: Duration = .seconds(120)
    package var settle: SettleRules

    package init(settle: SettleRules) { self.settle = settle }

    /// The same limits in the form that an update session uses.
    var limits: UpdateLimits {
        var limits = UpdateLimits(settle: settle)
        limits.seek = seekTimeout
        limits.searches = seekAttempts
        limits.connect = connectTimeout
        limits.roleChange = roleChangeTimeout
        limits.fruitless = fruitlessTransfers
        return limits
    }

    /// How many further attempts a failure of this class allows.
    func retries(after failure: FailureClass) -> Int {
        switch failure {
        case .transient: transientRetries
        case .device: deviceRetries
        case .unreachable, .rejected, .integrity, .noReturn, .wrongVersion, .rolledBack, .inDoubt,
            .internal:
            0
        }
    }

    /// The pause after `attempt` attempts.
    func pause(beforeAttempt attempt: Int) -> Duration {
        min(longestRetryPause, retryPause * (1 << min(max(attempt - 1, 0), 20)))
    }
}

/// The further attempts that a whole run may make; closed when nothing is tried again.
package final class RetryBudget: Sendable {
    /// Nil for no limit.
    private let left: Mutex<Int?>

    package init(_ limit: Int? = nil) { left = Mutex(limit) }

    /// Takes one; false when there is none left.
    func take() -> Bool {
        left.withLock { left in
            guard let count = left else { return true }
            guard count > 0 else { return false }
            left = count - 1
            return true
        }
    }

    func close() { left.withLock { $0 = 0 } }
}
