import Base
import Commands
import Operations
import Site

/// `sync`: reports to an update server and takes its actions.
struct SyncCommand {
    private let errand: SyncErrand
    private let common: CommonOptions
    private let context: Context
    private let display: PercentDisplay

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        common = try CommonOptions(invocation, context)
        self.context = context
        let display = PercentDisplay(common, context)
        self.display = display
        errand = SyncErrand(
            invocation.arguments[0],
            at: invocation[Command.server],
            state: try CommonOptions.stateDirectory(invocation, context),
            in: try FleetAccess.ofRun(invocation, context),
            common,
            context
        ) { done, all in display.show("asking the server", Int64(done), Int64(all)) }
    }

    func run() async throws(CommandError) -> ExitCode {
        defer { display.end() }
        let answer = try await errand.run()
        display.end()
        context.console.result(
            common.wantsJSON
                ? answer.document.text + "\n" : answer.text(isQuiet: common.isQuiet)
        )
        return answer.code
    }
}
