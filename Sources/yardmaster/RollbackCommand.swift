import Base
import Commands
import Operations
import Yard

/// `rollback`: brings the vehicles of a rollout back to what they ran before it.
struct RollbackCommand {
    private let search: RollbackSearch
    private let options: RunOptions
    private let isAgreed: Bool
    private let isDry: Bool
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        for text in invocation.arguments.dropFirst() { _ = try KnownVehicles.selection(text) }
        let images = invocation[Command.returnImage].flatMap { ["--image", AbsolutePath.of($0)] }
        let version = invocation[Command.imageVersion].map { ["--version", $0.description] } ?? []
        let words = images + version + invocation.arguments.dropFirst()
        let origin = PlanOrigin.rollback(invocation.arguments[0], words: words)
        options = try RunOptions(invocation, from: origin, context)
        search = RollbackSearch(invocation, by: ControlCommand.author, options, context)
        isAgreed = invocation[Command.agreed]
        isDry = invocation[Command.preview]
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let rollback = try await search.proposal(isFetching: !isDry)
        if let code = Signals.exitCode { return code }
        if isDry {
            let next = rollback.count == 0 ? [] : ["next: \(options.beginsAgain)"]
            let text = (rollback.lines + next).map { $0 + "\n" }.joined()
            context.answer(options.common, rollback.document, text)
            return .done
        }
        options.show(rollback.lines, isAsked: !isAgreed, context)
        guard rollback.count > 0 else {
            if options.common.wantsJSON { context.console.result(rollback.document.text + "\n") }
            context.console.note("yardmaster: nothing is brought back\n")
            return rollback.refused > 0 ? .someFailed : .done
        }
        var options = options
        options.again = rollback.isAgain
        let preparation = RunPreparation(options, context)
        let question = isAgreed ? nil : "Roll back?"
        guard try await preparation.agrees(to: rollback.plan, asking: question) else {
            return Signals.exitCode ?? .done
        }
        let code = try await preparation.run(
            rollback.plan,
            keeping: rollback.sources,
            recalling: rollback.hold
        )
        guard options.saved == nil, rollback.refused > 0 else { return code }
        // Vehicles that cannot be brought back are not as they should be.
        return ExitCode.worst(of: [code, .someFailed])
    }
}
