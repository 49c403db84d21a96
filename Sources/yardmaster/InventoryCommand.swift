import Base
import Commands
import Manifest
import Operations
import Show
import Store
import Yard

/// `inventory`: the firmware and the debts of each vehicle, read by radio or from the journal.
struct InventoryCommand: Sendable {
    private let manifest: String?
    private let fleet: FleetAccess?
    private let isLast: Bool
    private let wantsTable: Bool
    private let length: Duration
    private let state: String
    private let simulation: SimulationOptions?
    private let bus: String?
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation[Command.manifest]
        fleet = try FleetAccess.ofRun(invocation, context)
        isLast = invocation[Command.kept]
        wantsTable = invocation[Command.table]
        length = invocation[Command.listening]
        state = try CommonOptions.stateDirectory(invocation, context)
        simulation = SimulationOptions(invocation)
        bus = invocation[Command.bus]
        common = try CommonOptions(invocation, context)
        self.context = context
        if wantsTable, common.wantsJSON {
            throw CommandError(.usage, "--json and --csv cannot be used together")
        }
        if manifest == nil, !invocation[Command.limit].isEmpty {
            throw CommandError(
                .usage,
                "--limit needs a fleet list",
                hint: "name a manifest with --manifest FILE"
            )
        }
    }

    func run() async throws(CommandError) -> ExitCode {
        let plan = try manifest.map { (path) throws(CommandError) in
            try Inputs.plan(path, context, common)
        }
        let tour = try InventoryTour(
            plan,
            for: length,
            state: state,
            simulation: simulation,
            bus: bus,
            fleet: fleet,
            common,
            context
        )
        let (inventory, code) =
            isLast ? (try tour.known(), .done) : try await tour.visit()
        try show(inventory, plan, code)
        return code
    }

    private func show(
        _ inventory: Inventory,
        _ plan: FrozenPlan?,
        _ code: ExitCode
    ) throws(CommandError) {
        if common.wantsJSON {
            let document = inventory.json(exit: Int(code.rawValue), reason: code.sentence)
            context.console.result(document.text + "\n")
        } else if wantsTable {
            context.console.result(inventory.csv)
        } else {
            let zone = try plan.map { (plan) throws(CommandError) in
                try ZoneSource.zone(of: plan, context)
            }
            let rows = common.isQuiet ? inventory.onlyStriking : inventory
            if !(common.isQuiet && rows.rows.isEmpty) {
                context.show(rows.table((zone ?? .utc).screen()))
            }
            if !common.isQuiet { context.console.note(inventory.summary + "\n") }
        }
    }
}
