import Base
import Commands
import Operations

/// `update`: brings an image file to modules in reach, without a manifest.
struct UpdateCommand {
    private let wish: UpdateWish
    private let options: RunOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        wish = try UpdateWish(invocation)
        let origin = PlanOrigin.image(wish.file, modules: wish.words)
        options = try RunOptions(invocation, from: origin, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        try ApprovalCheck.demandNone("update-\(RealTime().wallTime.description)", context)
        guard let proposal = try await UpdateSearch(wish, options, context).proposal() else {
            return Signals.exitCode ?? tellMissing()
        }
        if let code = Signals.exitCode { return code }
        show(proposal.lines)
        if !wish.isAgreed {
            guard Question.isPossible(context) else {
                throw CommandError(
                    .usage,
                    "nothing was done: there is no terminal to ask on",
                    hint: "--yes does it without a question"
                )
            }
            guard try await Question.agrees("Update?", context) else {
                context.console.note("yardmaster: nothing was done\n")
                return Signals.exitCode ?? .done
            }
        }
        return try await RunPreparation(options, context).run(proposal.plan, isOrder: true)
    }

    /// Standard output may belong to a document or to the events.
    private func show(_ lines: [String]) {
        let text = lines.map { $0 + "\n" }.joined()
        if options.common.wantsJSON || options.events == .standardOutput {
            if !options.common.isQuiet { context.console.note(text) }
        } else if !options.common.isQuiet || !wish.isAgreed {
            context.show(text)
        }
    }

    private func tellMissing() -> ExitCode {
        let code = ExitCode.someMissed
        context.console.note(wish.silence.text)
        if options.common.wantsJSON {
            context.console.result(JSONValue.object(["schema": 1, "exit": code.json]).text + "\n")
        }
        return code
    }
}
