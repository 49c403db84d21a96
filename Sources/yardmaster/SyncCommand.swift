import Base
import Commands
import Operations
import Site

/// `sync`: reports to an update server and takes its actions.
struct SyncCommand {
    private let errand: SyncErrand
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        common = try CommonOptions(invocation, context)
        self.context = context
        errand = SyncErrand(
            invocation.arguments[0],
            at: invocation[Command.server],
            state: try CommonOptions.stateDirectory(invocation, context),
            in: try FleetAccess.ofRun(invocation, context),
            common,
            context
        )
    }

    func run() async throws(CommandError) -> ExitCode {
        let answer = try await errand.run()
        context.console.result(
            common.wantsJSON
                ? answer.document.text + "\n" : answer.text(isQuiet: common.isQuiet)
        )
        return answer.code
    }
}
