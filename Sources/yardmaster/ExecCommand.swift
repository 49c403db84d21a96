import Base
import Commands
import Manifest
import Operations
import Rollout
import Show

/// `exec`: one order for named vehicles, carried out like a run.
struct ExecCommand {
    private let vehicle: VehicleSelection
    private let order: String
    private let options: RunOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        let pattern = try KnownVehicles.selection(invocation.arguments[0])
        guard let fleet = invocation[Command.manifest] else {
            throw CommandError(
                .usage,
                "no manifest is given that lists the vehicle \(pattern.text.visible)",
                hint: "name a manifest with --manifest FILE"
            )
        }
        vehicle = pattern
        order = invocation.arguments[1]
        options = try RunOptions(
            invocation,
            from: .order(Array(invocation.arguments.prefix(2)), manifest: fleet),
            context
        )
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        var sources = PlanSources()
        let fleet = try Inputs.plan(options.manifest, context, options.common, &sources)
        let meant = try KnownVehicles(state: options.state).ground(of: fleet).vehicles(vehicle)
        let chosen = fleet.vehicles.map(\.id).filter(meant.contains)
        guard !chosen.isEmpty else {
            throw CommandError(
                .usage,
                "\(options.manifest) has no vehicle \(vehicle.text.visible)",
                hint: vehicle.isPattern
                    ? "give an id of its fleet list, or a pattern such as 'bus-*'"
                    : "'yardmaster status' shows how they ended"
            )
        }
        let diagnostics = Diagnostics()
        let images = Set(fleet.images.map(\.name))
        guard let steps = OrderText.steps(order, images: images, diagnostics) else {
            Inputs.tell(diagnostics.list, context)
            throw CommandError(
                .usage,
                "the order '\(order.visible)' cannot be understood",
                hint: "write it as in 'command lock', 'set lights=disabled' or 'read speed'"
            )
        }
        // Each order is a rollout of its own: it never continues an earlier one.
        let name = try options.orderName("exec")
        let plan = fleet.ordering(steps, to: Set(chosen), as: name)
        let profiles = try ProfileFolder.library(of: fleet, options.common, context)
        let mistakes = JobBuilder(plan, profiles: profiles).mistakes
        guard mistakes.isEmpty else {
            Inputs.tell(mistakes, context)
            throw CommandError(
                .manifest,
                "the order cannot be carried out on these vehicles",
                hint: "nothing was touched"
            )
        }
        // The plan of the order contains only these vehicles; a token may be that of any other.
        try TokenCheck.check(fleet, for: plan.vehicles, context)
        return try await RunPreparation(options, context).run(plan, isOrder: true)
    }
}
