import Commands
import Operations

/// `completion`: the script of one shell.
struct CompletionCommand {
    let shell: Completion

    init(_ invocation: Invocation) throws(CommandError) {
        guard let shell = Completion(rawValue: invocation.arguments[0]) else {
            throw CommandError(.internal, "the table has a shell without a script")
        }
        self.shell = shell
    }

    func run(_ context: Context) -> ExitCode {
        context.console.result(shell.script)
        return .done
    }
}
