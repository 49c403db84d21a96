import Commands
import Operations

/// `help`: what a command does.
struct HelpCommand {
    let words: [String]

    init(_ invocation: Invocation) { words = invocation.arguments }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        do throws(UsageError) {
            context.console.result(try Help.text(for: words))
        } catch {
            throw error.commandError
        }
        return .done
    }
}
