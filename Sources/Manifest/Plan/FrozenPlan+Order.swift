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

extension FrozenPlan {
    /// What follows the name of a fleet whose secrets are changed.
    private static let rotation = "-secrets"

    /// The same fleet with other work: each module whose secret is kept in a file gets another one, in the
    /// same waves and windows and by the same gates.
    package var rotating: FrozenPlan {
        let step = Step(.rotate, at: place)
        var policy = rollout
        // That updates are begun again each night says nothing of secrets.
        policy.again = .whenAsked
        return FrozenPlan(
            name: name + Self.rotation,
            vehicles: vehicles.filter(\.keepsSecretInFile).map { $0.with(steps: [step]) },
            images: [],
            always: [],
            rollout: policy,
            radio: radio,
            settle: settle,
            connect: connect,
            fetch: fetch,
            trust: trust,
            profiles: profiles,
            place: place
        )
    }

    /// The plan of that name that is made of this one: itself, or its rotation.
    package func plan(of rollout: String) -> FrozenPlan {
        rollout == name + Self.rotation ? rotating : self
    }
}

extension PlannedVehicle {
    /// Whether its secret can be replaced by anyone who may write files.
    package var keepsSecretInFile: Bool {
        if case .file? = secret { return true }
        return false
    }

    fileprivate func with(steps: [Step]) -> PlannedVehicle {
        var vehicle = self
        vehicle.steps = steps
        return vehicle
    }
}
