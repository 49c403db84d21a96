package import Base
package import Manifest

/// Turns a frozen plan's policy into the schedule of a run.
package struct ScheduleBuilder: Sendable {
    private let plan: FrozenPlan

    package init(_ plan: FrozenPlan) { self.plan = plan }

    /// The schedule for these vehicles of the plan, in this order; others are not in this run.
    package func schedule(of vehicles: [VehicleID], zone: Zone) -> Schedule {
        var index: [VehicleID: Int] = [:]
        for (number, vehicle) in vehicles.enumerated() { index[vehicle] = number }
        var schedule = Schedule(vehicles: vehicles.count)
        let policy = plan.rollout
        schedule.plan = plan.digest
        schedule.isPartial = vehicles.count < plan.vehicles.count
        // A wave without a vehicle of this run keeps its number: it ends as soon as it begins.
        schedule.waves = Waves.vehicles(plan).map { wave in wave.compactMap { index[$0] } }
        let own = policy.window.flatMap { $0.own == nil ? nil : $0 }
        var openings = vehicles.map { _ in own?.openings ?? [] }
        for vehicle in plan.vehicles {
            guard let number = index[vehicle.id] else { continue }
            schedule.models[number] = Waves.stratum(of: vehicle, policy.spread)
            openings[number] = own?.openings(of: vehicle) ?? []
        }
        schedule.rules = WaveBoard.Rules(
            pause: policy.pause,
            advance: policy.advance,
            between: policy.between
        )
        schedule.limits.patience = plan.connect.timeout * plan.connect.attempts
        schedule.limits.canaryPatience = plan.connect.timeout
        schedule.limits.airtime = policy.airtime
        schedule.limits.window = policy.window.map { window in
            RunWindow(window, zone: zone, openings: own == nil ? [] : openings)
        }
        schedule.linksPerAdapter = plan.radio.linksPerAdapter
        schedule.overlaps = plan.radio.takesTurns
        schedule.quarantineAfter = policy.quarantineAfter
        return schedule
    }
}
