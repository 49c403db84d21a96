import Commands
import Operations
import Show

/// `approve`: signs a saved plan.
struct ApproveCommand {
    private let signing: PlanSigning
    private let common: CommonOptions

    init(_ invocation: Invocation) throws(CommandError) {
        signing = try PlanSigning(invocation)
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        if !common.isQuiet {
            let text = signing.summary
            context.console.note(context.columns.map { Columns.folded(text, $0 - 1) } ?? text)
        }
        let answer = try signing.sign()
        context.answer(common, answer.document, answer.text)
        return .done
    }
}
