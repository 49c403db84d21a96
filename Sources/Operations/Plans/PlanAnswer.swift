package import Commands
import Images
import Manifest
import Simulation
import Store

/// The effect that a run of a plan would have, without contact to any vehicle.
package struct PlanAnswer {
    let plan: FrozenPlan
    let forecast: PlanForecast
    /// Where the plan was saved, in words; nil when it is only shown.
    let saved: String?
    private let state: String

    /// With `tellsAll`, faults of this machine that would prevent a run are reported; the plan
    /// itself is printed in any case.
    package init(
        _ options: PlanOptions,
        _ context: Context,
        tellsAll: Bool = false
    ) throws(CommandError) {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        saved = try options.saved.map { path throws(CommandError) in
            try plan.save(to: path, options.fleet, options.common)
        }
        let vehicles = try Inputs.selected(plan, options.common, state: options.state)
        try TokenCheck.check(plan, for: vehicles, context)
        let profiles = try ProfileFolder.library(of: plan, options.common, context)
        if tellsAll {
            if !options.common.isQuiet { Inputs.tell(plan.remarks, context) }
            MachineCheck(
                plan: plan,
                context: context,
                profiles: profiles,
                state: options.state,
                isRun: false
            ).warn(for: vehicles)
        }
        let zone = try ZoneSource.zone(of: plan, context)
        let now = RealTime().wallTime
        var adapters = plan.radio.adapters
        if adapters.isEmpty, let simulation = options.simulation {
            adapters = try Inputs.depot(simulation, for: plan, context, profiles).adapters
        }
        let knowledge = PlanForecast.Knowledge(
            state: options.state,
            rollout: plan.name,
            at: now
        )
        if let fault = knowledge.fault {
            context.console.note(
                "yardmaster: warning: earlier runs are not known: \(fault)\n"
            )
        }
        self.plan = plan
        state = options.state
        forecast = PlanForecast(
            plan,
            vehicles: vehicles,
            adapters: adapters,
            knowledge: knowledge,
            profiles: profiles,
            zone: zone,
            now: now
        )
    }

    func presence(of image: PlannedImage) -> ImagePresence {
        ImagePresence(
            of: image,
            under: plan.trust,
            in: StoreFolder(stateDirectory: state)
        )
    }
}
