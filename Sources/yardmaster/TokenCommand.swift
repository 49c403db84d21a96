import Base
import Commands
import Operations

/// `token show`: the content of a car-share token, without its key.
struct TokenCommand {
    private let source: String
    private let wantsJSON: Bool

    init(_ invocation: Invocation) {
        source = invocation.arguments[0]
        wantsJSON = invocation[Command.json]
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let summary = try TokenSummary(of: source, context)
        context.console.result(wantsJSON ? summary.document.text + "\n" : summary.text)
        return summary.exitCode
    }
}
