package import Commands
import Images
import Journal
import Manifest
import Simulation

/// What a run of a plan would do, found out without a word to any vehicle.
package struct PlanAnswer {
    let plan: FrozenPlan
    let forecast: PlanForecast
    private let state: String

    /// With `tellsAll`, what this machine lacks for a run is reported; the plan stands all the same.
    package init(
        _ options: PlanOptions,
        _ context: Context,
        tellsAll: Bool = false
    ) throws(CommandError) {
        let plan = try Inputs.plan(options.manifest, context, options.common)
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
            adapters = try Inputs.depot(simulation.depot, context, profiles).adapters
        }
        let knowledge = PlanForecast.Knowledge(
            state: options.state,
            rollout: plan.name,
            at: now
        )
        if let fault = knowledge.fault {
            context.console.note(
                "yardmaster: warning: nothing is known of earlier runs: \(fault)\n"
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
