import Base
import Commands
import Operations
import Yard

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
        let proposal: UpdateProposal
        switch try await UpdateSearch(wish, options, context).found() {
        case .proposed(let found): proposal = found
        case .unheard(let silence): return Signals.exitCode ?? tell(silence)
        }
        if let code = Signals.exitCode { return code }
        options.show(proposal.lines, isAsked: !wish.isAgreed, context)
        let preparation = RunPreparation(options, context)
        let question = wish.isAgreed ? nil : "Update?"
        guard try await preparation.agrees(to: proposal.plan, asking: question) else {
            return Signals.exitCode ?? .done
        }
        return try await preparation.run(proposal.plan, isOrder: true)
    }

    private func tell(_ silence: CommandError) -> ExitCode {
        let code = ExitCode.someMissed
        context.console.note(silence.text)
        if options.common.wantsJSON {
            context.console.result(JSONValue.object(["schema": 1, "exit": code.json]).text + "\n")
        }
        return code
    }
}
