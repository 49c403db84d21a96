package import Commands

/// The options of `plan`.
package struct PlanOptions: Sendable {
    let manifest: String
    let state: String
    let simulation: SimulationOptions?
    package let common: CommonOptions
    /// Where the plan is saved; nil when it is only shown.
    let saved: String?
    let fleet: FleetAccess?

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
}
