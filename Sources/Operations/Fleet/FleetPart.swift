package import Base
import Manifest
package import Rollout
import Store

/// A run's part in a rollout of the fleet.
package struct FleetPart: Sendable {
    /// The beginning of the rollout that it works on.
    package let beginning: Int
    /// The number of failures on one release after which a vehicle is left alone.
    package var quarantineAfter: Int?
    /// The release that each vehicle is to get.
    package var releases: [VehicleID: SHA256Digest] = [:]
    /// The active wave when the run begins; nil when the run follows no waves.
    package var wave: Int?
    package var rules = WaveBoard.Rules()
    /// Whether it has only some of the plan's vehicles.
    var isPartial = false
    /// Whether the run is a rehearsal: its time is simulated, and a wave soaks by that time.
    var isRehearsal = false
    /// The program and its version.
    var program = ""
    /// The adapters and links of its run, for people who watch.
    package var adapters: [String] = []
    package var links = 0
    /// Runs the check between two waves; returns why it failed, nil when it passed.
    package var check: @Sendable (_ wave: Int) async -> String? = { _ in nil }

    package init(beginning: Int) { self.beginning = beginning }
}

extension FleetPlan {
    /// The whole plan, for a run with all or some of its vehicles.
    init(_ plan: FrozenPlan, only: [VehicleID]?) {
        let waves = Waves.vehicles(plan)
        var numbers: [VehicleID: Int] = [:]
        for (number, wave) in waves.enumerated() {
            for vehicle in wave { numbers[vehicle] = number }
        }
        self.init(
            plan.vehicles.map { Vehicle($0.id, $0.serial, wave: numbers[$0.id] ?? 0) },
            waves: waves.count
        )
        self.only = only
        gate = plan.rollout.pause
    }
}
