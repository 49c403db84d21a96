import Commands
import Operations

/// What `plan` was asked for.
struct PlanOptions: Sendable {
    let manifest: String
    let state: String
    let simulation: SimulationOptions?
    let common: CommonOptions

    init(manifest: String, state: String, common: CommonOptions) {
        self.manifest = manifest
        self.state = state
        simulation = nil
        self.common = common
    }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context)
        simulation = SimulationOptions(invocation)
        common = try CommonOptions(invocation, context)
    }
}
