import Base
package import Commands
package import Show

/// The arguments and flags of `run`.
package struct RunOptions: Sendable {
    package enum Events: Sendable, Equatable {
        case none
        case standardOutput
        case file(String)
    }

    let origin: PlanOrigin
    package let state: String
    package let placeFlags: PlaceFlags
    package let simulation: SimulationOptions?
    /// The bus on which BlueZ is; nil for the machine's system bus.
    package let bus: String?
    package let events: Events
    package let reports: [ReportFile]
    package let common: CommonOptions
    /// Whether the rollout is to be begun again.
    package var again: Bool
    /// The saved plan that was approved; nil when none is named and the plan is not a manifest's.
    package let approved: String?
    /// Whether its plan is the one that `plan` saves.
    let isManifests: Bool
    /// Where the plan is saved, instead of being carried out.
    package let saved: String?
    /// The source of rights to modules when there are several gateways.
    package let fleet: FleetAccess?

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        try self.init(invocation, from: .manifest(invocation.arguments[0]), context)
    }

    package init(
        _ invocation: Invocation,
        from origin: PlanOrigin,
        _ context: Context
    ) throws(CommandError) {
        self.origin = origin
        again = invocation[Command.again]
        isManifests = [.run, .rehearse].contains(invocation.command)
        approved = invocation[Command.approved] ?? (isManifests ? origin.file + ".plan" : nil)
        saved = invocation[Command.savedPlan]
        fleet = try FleetAccess.ofRun(invocation, context)
        state = try CommonOptions.stateDirectory(invocation, context)
        try ClockCheck.demand(invocation, RealTime().wallTime, state: state)
        placeFlags = PlaceFlags(invocation)
        simulation = SimulationOptions(invocation)
        bus = invocation[Command.bus]
        events =
            switch invocation[Command.events] {
            case nil: .none
            case "-": .standardOutput
            case .some(let path): .file(path)
            }
        reports = invocation[Command.report].compactMap { ReportFile($0) }
        common = try CommonOptions(invocation, context)
    }

    /// The manifest; for `update` the image file, for `rollback` the rollout.
    package var manifest: String { origin.file }

    /// The command that begins the same again.
    package var beginsAgain: String { origin.again(placeFlags.of(state)) }

    /// The name of an order's rollout: that of the approved plan, or one of its own.
    package func orderName(_ kind: String) throws(CommandError) -> String {
        let own = "\(kind)-\(RealTime().wallTime.description)"
        guard let approved, let name = try SignedPlan.read(approved).plan["name"]?.string else {
            return own
        }
        return name.hasPrefix("\(kind)-") ? name : own
    }

    /// Shows what is proposed; standard output may belong to a document or to the events.
    package func show(_ lines: [String], isAsked: Bool, _ context: Context) {
        let text = lines.map { $0 + "\n" }.joined()
        if common.wantsJSON || events == .standardOutput {
            if !common.isQuiet { context.console.note(text) }
        } else if !common.isQuiet || isAsked {
            context.show(text)
        }
    }

    /// Throws where something has run already.
    package func demandNew() throws(CommandError) { try InventedDepot.demandNew(state) }
}
