import Base
import Commands
import Operations

/// `trust show`: the trusted documents of repositories, with their expiry and the keys that signed
/// them.
struct TrustShowCommand {
    private let invocation: Invocation
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
    }

    func run() throws(CommandError) -> ExitCode {
        let directories: [String]
        if let directory = invocation[Command.metadataDirectory] {
            directories = [directory]
        } else {
            let state = try CommonOptions.stateDirectory(invocation, context, toLook: true)
            directories = try TrustReport.directories(in: state)
        }
        let report = try TrustReport(of: directories)
        context.console.result(
            invocation[Command.json] ? report.document.text + "\n" : report.text
        )
        return .done
    }
}
