import Commands
import Operations
import Site

/// The options of `status`.
struct StatusOptions: Sendable {
    let standings: Standings
    /// Nil for the rollout that ran last.
    let rollout: String?
    let common: CommonOptions
    let reports: [ReportFile]
    /// Whether it is updated until a signal arrives.
    let watches: Bool

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        // `fleet status` reads only the fleet.
        standings =
            invocation.command == .fleetStatus
            ? try Standings(ofFleet: invocation, context) : try Standings(invocation, context)
        rollout = invocation[Command.rollout]
        common = CommonOptions(invocation)
        watches = invocation[Command.watches]
        reports = invocation[Command.report].compactMap { ReportFile($0) }
    }
}
