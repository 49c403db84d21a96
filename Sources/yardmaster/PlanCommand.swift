import Base
import Commands
import Operations

/// `plan`: the effect that a run would have, without contact to any vehicle.
struct PlanCommand {
    let options: PlanOptions

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let answer = try PlanAnswer(options, context, tellsAll: true)
        context.answer(options.common, answer.document, answer.text)
        return .done
    }
}
