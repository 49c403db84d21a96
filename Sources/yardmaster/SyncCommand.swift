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
    private let manifest: String
    private let notices: NoticeErrand

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        common = try CommonOptions(invocation, context)
        self.context = context
        let display = PercentDisplay(common, context)
        self.display = display
        manifest = invocation.arguments[0]
        let state = try CommonOptions.stateDirectory(invocation, context)
        notices = NoticeErrand(NoticeSender(state: state, context: context), in: state, context)
        errand = SyncErrand(
            manifest,
            at: invocation[Command.server],
            state: state,
            in: try FleetAccess.ofRun(invocation, context),
            common,
            context
        ) { done, all in display.show("asking the server", Int64(done), Int64(all)) }
    }

    func run() async throws(CommandError) -> ExitCode {
        defer { display.end() }
        let answer: SyncAnswer
        do throws(CommandError) { answer = try await errand.run() } catch {
            if error.kind != .unavailable, error.kind != .busy {
                try? await notices.failure(
                    ofSync: manifest,
                    error.exitCode,
                    because: error.sentence
                )
            }
            throw error
        }
        display.end()
        context.console.result(
            common.wantsJSON
                ? answer.document.text + "\n" : answer.text(isQuiet: common.isQuiet)
        )
        if let complaint = answer.complaint {
            try? await notices.failure(ofSync: manifest, answer.code, because: complaint)
        }
        return answer.code
    }
}
