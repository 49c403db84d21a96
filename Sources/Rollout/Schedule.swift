package import Base
package import Radio
package import Store

/// How a run goes through its jobs; vehicles are indices into the list of jobs.
package struct Schedule: Sendable {
    /// Nil for a run that keeps no record of the rollout as a whole.
    package var plan: SHA256Digest?
    /// Whether the rollout is begun again, no matter what was done.
    package var again = false
    /// The hold on the rollout that vehicles are brought back from, from the beginning on.
    package var recalling: Hold?
    package var waves: [[Int]]
    /// Whether vehicles of the plan are left out: then its waves neither begin nor end.
    package var isPartial = false
    /// The model of each vehicle, as a text that is the same for all vehicles of one model.
    package var models: [String]
    package var rules = WaveBoard.Rules()
    package var limits = Scheduler.Limits()
    /// The most links of each adapter.
    package var linksPerAdapter = 1
    /// Whether an adapter works on the next module while one restarts.
    package var overlaps = true
    package var quarantineAfter: Int?
    /// Runs the check between two waves; returns why it failed, nil when it passed.
    package var check: @Sendable (_ wave: Int) async -> String? = { _ in nil }

    /// All vehicles in one wave.
    package init(vehicles: Int) {
        waves = [Array(0..<vehicles)]
        models = [String](repeating: "", count: vehicles)
    }
}

/// Lists the adapters that the host has at the moment.
package protocol AdapterRoster: Sendable {
    /// Nil when the host cannot tell: then those named at the start are tried.
    func present() async -> [any Central]?
}

/// The adapters that were named, and no others.
package struct NamedAdapters: AdapterRoster {
    package init() {}
    package func present() async -> [any Central]? { nil }
}
