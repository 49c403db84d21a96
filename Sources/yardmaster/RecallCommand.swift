import Base
import Commands
import Operations

/// `recall`: keeps an image from being installed, and shows where it is.
struct RecallCommand {
    private let wish: RecallWish
    private let requests: OperatorRequests
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        wish = try RecallWish(invocation, by: ControlCommand.author)
        let state = try ControlCommand.state(invocation, context)
        requests = OperatorRequests(
            state: state,
            fleet: try FleetAccess.ofVerb(invocation, context, state: state)
                .map { FleetControl(access: $0) }
        )
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let answer = try await requests.recall(wish)
        context.answer(
            common,
            answer.document,
            answer.sentences.joined(separator: "\n") + "\n"
        )
        return .done
    }
}
