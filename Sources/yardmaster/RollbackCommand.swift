import Base
import Commands
import Operations
import Yard

/// `rollback`: brings the vehicles of a rollout back to what they ran before it.
struct RollbackCommand {
    private let search: RollbackSearch
    private var options: RunOptions
    private let isAgreed: Bool
    private let isDry: Bool
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        for text in invocation.arguments.dropFirst() { _ = try KnownVehicles.selection(text) }
        options = try RunOptions(invocation, context)
        search = RollbackSearch(invocation, by: ControlCommand.author, options, context)
        isAgreed = invocation[Command.agreed]
        isDry = invocation[Command.preview]
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let rollback = try await search.proposal(isFetching: !isDry)
        if let code = Signals.exitCode { return code }
        if isDry {
            let text = rollback.lines.map { $0 + "\n" }.joined()
            context.answer(options.common, rollback.document, text)
            return .done
        }
        options.show(rollback.lines, isAsked: !isAgreed, context)
        guard rollback.count > 0 else {
            if options.common.wantsJSON { context.console.result(rollback.document.text + "\n") }
            context.console.note("yardmaster: nothing is brought back\n")
            return rollback.refused > 0 ? .someFailed : .done
        }
        if !isAgreed, try await !Question.demand("Roll back?", context) {
            return Signals.exitCode ?? .done
        }
        var options = options
        options.again = rollback.isAgain
        let code = try await RunPreparation(options, context)
            .run(rollback.plan, keeping: rollback.sources, recalling: rollback.hold)
        // Vehicles that cannot be brought back are not as they should be.
        return ExitCode.worst(of: [code, rollback.refused > 0 ? .someFailed : .done])
    }
}
