package import Commands
import Manifest

/// The options of `plan`.
package struct PlanOptions: Sendable {
    let manifest: String
    let state: String
    let simulation: SimulationOptions?
    package let common: CommonOptions
    /// Where the plan is saved; nil when it is only shown.
    let saved: String?
    private let fleet: FleetAccess?

    init(manifest: String, state: String, common: CommonOptions) {
        saved = nil
        fleet = nil
        self.manifest = manifest
        self.state = state
        simulation = nil
        self.common = common
    }

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context, toLook: true)
        simulation = SimulationOptions(invocation)
        common = try CommonOptions(invocation, context)
        saved = invocation[Command.savedPlan]
        fleet = saved == nil ? nil : try FleetAccess.ofRun(invocation, context)
    }

    /// Saves a plan for people to approve, where the command line asks for that.
    func save(_ plan: FrozenPlan) throws(CommandError) {
        if let saved { try plan.save(to: saved, fleet, common) }
    }
}
