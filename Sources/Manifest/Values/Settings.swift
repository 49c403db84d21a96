/// The controllers to use, and the number of vehicles for each.
package struct RadioSettings: Sendable, Hashable {
    /// Empty means all available controllers.
    package let adapters: [String]
    /// The most of each; how many it has is found by trying.
    package let linksPerAdapter: Int
    /// Whether a controller works on the next module while one restarts.
    package let takesTurns: Bool

    package init(adapters: [String], linksPerAdapter: Int, takesTurns: Bool = true) {
        self.takesTurns = takesTurns
        self.adapters = adapters
        self.linksPerAdapter = linksPerAdapter
    }
}

/// When an updated module counts as at rest.
package struct SettleSettings: Sendable, Hashable {
    /// Connected time without a sign of the update.
    package let quiet: Duration
    /// The time between the two readings of the version.
    package let confirmGap: Duration
    package let deadline: Duration

    package init(quiet: Duration, confirmGap: Duration, deadline: Duration) {
        self.quiet = quiet
        self.confirmGap = confirmGap
        self.deadline = deadline
    }

    /// The settings of a manifest without this section.
    package static var usual: SettleSettings {
        SettleSettings(
            quiet: Grammar.settle.defaultDuration("quiet"),
            confirmGap: Grammar.settle.defaultDuration("confirm-gap"),
            deadline: Grammar.settle.defaultDuration("deadline")
        )
    }
}

/// How long and how often a link is tried.
package struct ConnectSettings: Sendable, Hashable {
    package let timeout: Duration
    package let attempts: Int

    package init(timeout: Duration, attempts: Int) {
        self.timeout = timeout
        self.attempts = attempts
    }
}
