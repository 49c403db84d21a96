package import Base

/// The result of a run: what became of its vehicles, why it ended, how its adapters were used.
package struct RunResult: Sendable, Equatable {
    package var vehicles = VehicleCounts()
    package var ending = RunEnding.complete
    /// Whether it obeyed what held its rollout, which may have been lifted since.
    package var isHeld = false
    /// How long each adapter was at work.
    package var adapters: [AdapterUse] = []

    package init() {}

    package var counts: [Outcome: Int] { vehicles.outcomes }
    /// Vehicles without a verdict: the run ended before they had one.
    package var unfinished: Int { vehicles.unfinished }
}
