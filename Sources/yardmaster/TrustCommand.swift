import Commands
import Operations

/// `trust`: the trusted documents of a repository.
///
/// The subcommands that TUF's conformance suite calls end with 0 or exactly 1.
struct TrustCommand {
    private let invocation: Invocation
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        switch invocation.arguments[0] {
        case "show": return try TrustShowCommand(invocation, context).run()
        case "add": return try TrustRecords(invocation, context).add()
        case "reset": return try TrustRecords(invocation, context).reset()
        default: break
        }
        do throws(CommandError) {
            try await update()
        } catch {
            context.console.note(error.text)
            return .internalError
        }
        return .done
    }

    private func update() async throws(CommandError) {
        let isQuiet = invocation[Command.quiet]
        let update = TrustUpdate(invocation) { [context] text in
            if !isQuiet { context.console.result(text + "\n") }
        }
        let arguments = invocation.arguments
        guard let work = TrustUpdate.Work(rawValue: arguments[0]) else {
            guard arguments.count == 2 else {
                throw CommandError(.usage, "'trust init' needs the file of a root")
            }
            return try update.begin(with: arguments[1])
        }
        guard arguments.count == 1 else {
            throw CommandError(.usage, "only 'trust init' takes a file")
        }
        try await update.perform(work)
    }
}
