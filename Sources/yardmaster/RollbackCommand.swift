import Base
import Commands
import Operations

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
            context.answer(options.common, rollback.document, text(of: rollback))
            return .done
        }
        show(rollback)
        guard rollback.count > 0 else {
            if options.common.wantsJSON { context.console.result(rollback.document.text + "\n") }
            context.console.note("yardmaster: nothing is brought back\n")
            return rollback.refused > 0 ? .someFailed : .done
        }
        if !isAgreed {
            guard Question.isPossible(context) else {
                throw CommandError(
                    .usage,
                    "nothing was done: there is no terminal to ask on",
                    hint: "--yes does it without a question"
                )
            }
            guard try await Question.agrees("Roll back?", context) else {
                context.console.note("yardmaster: nothing was done\n")
                return Signals.exitCode ?? .done
            }
        }
        var options = options
        options.again = rollback.isAgain
        let code = try await RunPreparation(options, context)
            .run(rollback.plan, keeping: rollback.sources, recalling: rollback.hold)
        // Vehicles that cannot be brought back are not as they should be.
        return ExitCode.worst(of: [code, rollback.refused > 0 ? .someFailed : .done])
    }

    private func text(of rollback: Rollback) -> String {
        rollback.lines.map { $0 + "\n" }.joined()
    }

    /// Standard output may belong to a document or to the events.
    private func show(_ rollback: Rollback) {
        let text = text(of: rollback)
        if options.common.wantsJSON || options.events == .standardOutput {
            if !options.common.isQuiet { context.console.note(text) }
        } else if !options.common.isQuiet || !isAgreed {
            context.show(text)
        }
    }
}
