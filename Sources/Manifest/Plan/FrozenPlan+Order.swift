package import Base

extension FrozenPlan {
    /// The same fleet with other work: one order for some of its vehicles, without delay.
    ///
    /// Waves, gates and windows apply to rollouts, not to an order that a person gives.
    package func ordering(
        _ steps: [Step],
        to chosen: Set<VehicleID>,
        as name: String
    ) -> FrozenPlan {
        var needed = PlanCheck.imageNames(steps)
        for step in steps { needed.formUnion(step.update?.via ?? []) }
        return with(name: name) { plan in
            plan.vehicles = vehicles.filter { chosen.contains($0.id) }
                .map { $0.with(steps: steps) }
            plan.images = images.filter { needed.contains($0.name) }
            plan.rollout = RolloutPolicy(
                waves: [.rest],
                pause: nil,
                window: nil,
                retry: rollout.retry,
                tolerance: rollout.tolerance
            )
        }
    }
}

extension FrozenPlan {
    /// The suffix of a plan's name when secrets are rotated.
    private static let rotation = "-secrets"

    /// The same fleet with other work: each module whose secret is kept in a file gets a new one,
    /// with the same waves, windows and gates.
    package var rotating: FrozenPlan {
        let step = Step(.rotate, at: place)
        return with(name: name + Self.rotation) { plan in
            plan.vehicles = vehicles.filter(\.keepsSecretInFile).map { $0.with(steps: [step]) }
            // A setting that repeats updates each night must not repeat the rotation of secrets.
            plan.rollout.again = .whenAsked
        }
    }

    /// The plan of this name that is derived from this one: itself, or its rotation.
    package func plan(of rollout: String) -> FrozenPlan {
        rollout == name + Self.rotation ? rotating : self
    }
}

extension PlannedVehicle {
    /// Whether this program can replace its secret, because it is kept in a file.
    package var keepsSecretInFile: Bool {
        if case .file? = secret { return true }
        return false
    }

    func with(steps: [Step]) -> PlannedVehicle {
        var vehicle = self
        vehicle.steps = steps
        return vehicle
    }
}
