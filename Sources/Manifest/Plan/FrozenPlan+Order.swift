package import Domain

extension FrozenPlan {
    /// The same fleet with other work: one order to some of its vehicles, now.
    ///
    /// Waves, gates and windows are for rollouts: who gives an order means it.
    package func ordering(
        _ steps: [Step],
        to chosen: Set<VehicleID>,
        as name: String
    ) -> FrozenPlan {
        var needed = PlanCheck.imageNames(steps)
        for step in steps { needed.formUnion(step.update?.via ?? []) }
        return FrozenPlan(
            name: name,
            vehicles: vehicles.filter { chosen.contains($0.id) }.map { $0.with(steps: steps) },
            images: images.filter { needed.contains($0.name) },
            always: [],
            rollout: RolloutPolicy(
                waves: [.rest],
                pause: nil,
                window: nil,
                retry: rollout.retry,
                tolerance: rollout.tolerance
            ),
            radio: radio,
            settle: settle,
            connect: connect,
            fetch: fetch,
            trust: trust,
            profiles: profiles,
            place: place
        )
    }
}

extension PlannedVehicle {
    fileprivate func with(steps: [Step]) -> PlannedVehicle {
        var vehicle = self
        vehicle.steps = steps
        return vehicle
    }
}
