import Domain
package import Sessions

/// How patient a rollout is.
package struct RolloutRules: Sendable {
    /// Attempts after the first that a failure of a class may cost.
    package var transientRetries = 4
    package var deviceRetries = 1
    /// How long one search for a module takes, and how many searches there are.
    package var seekTimeout: Duration = .seconds(30)
    package var seekAttempts = 4
    package var connectTimeout: Duration = .seconds(20)
    /// How long a GO device may take to come, shake hands and carry a command out.
    package var commandTimeout: Duration = .seconds(120)
    /// How long a module may take from one role to the other.
    package var roleChangeTimeout: Duration = .seconds(60)
    /// Broken transfers in a row without a byte more in the module.
    package var fruitlessTransfers = 3
    /// How long a run waits for the host's radio to come back.
    package var hostPatience: Duration = .seconds(120)
    package var settle: SettleRules

    package init(settle: SettleRules) { self.settle = settle }

    /// The same for the states of an update.
    var limits: UpdateLimits {
        var limits = UpdateLimits(settle: settle)
        limits.seek = seekTimeout
        limits.connect = connectTimeout
        limits.roleChange = roleChangeTimeout
        limits.fruitless = fruitlessTransfers
        return limits
    }

    /// Attempts that a failure of this class may still be followed by.
    func retries(after failure: FailureClass) -> Int {
        switch failure {
        case .transient: transientRetries
        case .device: deviceRetries
        case .unreachable, .rejected, .integrity, .noReturn, .wrongVersion, .rolledBack, .inDoubt,
            .internal:
            0
        }
    }

    /// The pause before the next attempt doubles up to half a minute.
    func pause(beforeAttempt attempt: Int) -> Duration {
        .seconds(min(30, 1 << min(attempt - 1, 5)))
    }
}
