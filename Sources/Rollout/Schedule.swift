package import Domain
package import Radio

/// How a run goes through its jobs; vehicles are indices into the list of jobs.
package struct Schedule: Sendable {
    /// Nil for a run that keeps no record of the rollout as a whole.
    package var plan: SHA256Digest?
    /// Whether it is begun again, whatever was done.
    package var again = false
    package var waves: [[Int]]
    /// Whether vehicles of the plan are left out: then its waves neither begin nor end.
    package var isPartial = false
    /// What the vehicles of one model have in common.
    package var models: [String]
    package var rules = WaveBoard.Rules()
    package var limits = Scheduler.Limits()
    package var linksPerAdapter = 1
    /// Whether an adapter works on the next module while one restarts.
    package var overlaps = true
    package var quarantineAfter: Int?
    /// Runs the check between two waves; what is returned is why it failed.
    package var check: @Sendable (_ wave: Int) async -> String? = { _ in nil }

    /// All vehicles at once.
    package init(vehicles: Int) {
        waves = [Array(0..<vehicles)]
        models = [String](repeating: "", count: vehicles)
    }
}

/// Which adapters there are, as far as the host knows at the moment.
package protocol AdapterRoster: Sendable {
    /// Nil when the host cannot tell: then those named at the start are tried.
    func present() async -> [any Central]?
}

/// The adapters that were named, and no others.
package struct NamedAdapters: AdapterRoster {
    package init() {}
    package func present() async -> [any Central]? { nil }
}
