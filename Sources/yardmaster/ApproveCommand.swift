import Commands
import Operations

/// `approve`: signs a saved plan.
struct ApproveCommand {
    private let signing: PlanSigning
    private let common: CommonOptions

    init(_ invocation: Invocation) throws(CommandError) {
        signing = try PlanSigning(invocation)
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        if !common.isQuiet { context.console.note(signing.summary) }
        let answer = try signing.sign()
        context.answer(common, answer.document, answer.text)
        return .done
    }
}
