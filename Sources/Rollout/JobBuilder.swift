package import Domain
package import Manifest
package import Marked
package import Sessions

/// Turns a frozen plan into jobs, with images and secrets in place of their names.
package struct JobBuilder: Sendable {
    private let plan: FrozenPlan

    package init(_ plan: FrozenPlan) { self.plan = plan }

    /// What the plan asks for and this version cannot do, each with its place.
    ///
    /// Nothing of a plan is left out silently: it is carried out whole or not at all.
    package var obstacles: [Diagnostic] {
        var list: [Diagnostic] = []
        func refuse(_ place: Place, _ what: String) {
            let diagnostic = Diagnostic(
                .error,
                place,
                "this version cannot carry out \(what) yet",
                hint: "leave it out, or use a version that can"
            )
            if !list.contains(diagnostic) { list.append(diagnostic) }
        }
        for vehicle in plan.vehicles {
            if vehicle.family != .comodule {
                refuse(vehicle.place, "steps on modules of family `\(vehicle.family.rawValue)`")
            }
            if vehicle.profile != "generic" {
                refuse(vehicle.place, "the profile `\(vehicle.profile)`")
            }
            for step in vehicle.steps { obstacle(in: step).map { refuse(step.place, $0) } }
        }
        if let first = plan.always.first { refuse(first.place, "`always` steps") }
        if plan.waveSizes.count > 1 { refuse(plan.place, "a rollout in several waves") }
        if plan.rollout.pause != nil { refuse(plan.place, "`pause-when`") }
        if plan.rollout.window != nil { refuse(plan.place, "a `window`") }
        if plan.radio.adapters.count > 1 { refuse(plan.place, "work with several adapters") }
        return list
    }

    private func obstacle(in step: Step) -> String? {
        switch step.action {
        case .require(let conditions, _):
            return conditions.first { Property(rawValue: $0.property) == nil }
                .map { "a condition on `\($0.property)`" }
        case .update(let update):
            return update.healthy.isEmpty ? nil : "`healthy` conditions"
        case .set: return "`set` steps"
        case .read: return "`read` steps"
        case .expect: return "`expect` steps"
        case .command: return "`command` steps"
        case .feature: return "`feature` steps"
        case .wait: return "`wait` steps"
        }
    }

    /// How patient the plan wants a run to be.
    package var rules: RolloutRules? {
        let settle = SettleRules(
            quiet: plan.settle.quiet,
            confirmGap: plan.settle.confirmGap,
            total: plan.settle.deadline
        )
        return settle.map { settle in
            var rules = RolloutRules(settle: settle)
            rules.transientRetries = plan.rollout.retry.transient
            rules.deviceRetries = plan.rollout.retry.device
            rules.seekTimeout = plan.connect.timeout
            rules.seekAttempts = plan.connect.attempts
            return rules
        }
    }

    /// The jobs, given every image of the plan by name and every vehicle's key.
    package func jobs(
        images: [String: [FirmwarePart]],
        keys: [VehicleID: ComoduleKey]
    ) -> [VehicleJob] {
        plan.vehicles.compactMap { vehicle in
            guard let key = keys[vehicle.id] else { return nil }
            return VehicleJob(
                vehicle: vehicle.id,
                serial: vehicle.serial,
                key: key,
                steps: vehicle.steps.compactMap { job($0, images) }
            )
        }
    }

    private func job(_ step: Step, _ images: [String: [FirmwarePart]]) -> JobStep? {
        switch step.action {
        case .require(let conditions, let otherwise):
            let requirements = conditions.compactMap { condition in
                Property(rawValue: condition.property).map {
                    Requirement($0, condition.condition)
                }
            }
            return .require(requirements, otherwise: otherwise)
        case .update(let update):
            guard let image = plan.image(named: update.image), let parts = images[image.name]
            else { return nil }
            return .update(
                UpdateJob(
                    name: image.name,
                    digest: image.digest,
                    version: image.version,
                    type: image.fits.type.map(Int.init),
                    variant: image.fits.variant.map(Int.init),
                    allowsDowngrade: update.allowsDowngrade,
                    predecessor: image.predecessor,
                    parts: parts
                )
            )
        case .set, .read, .expect, .command, .feature, .wait:
            // `obstacles` has refused the plan.
            return nil
        }
    }
}
