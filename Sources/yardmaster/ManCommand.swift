import Commands
import Operations

/// `man`: the manual page.
struct ManCommand {
    func run(_ context: Context) -> ExitCode {
        context.console.result(ManualPage.text)
        return .done
    }
}
