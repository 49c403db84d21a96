import Commands
import Operations

/// `bundle create`: a rollout in one file, for a depot without network.
struct BundleCreateCommand {
    private let maker: BundleMaker
    private let path: String
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        maker = try BundleMaker(invocation, context)
        path = invocation.arguments[1]
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let code = try await maker.make()
        if code == .done, !common.isQuiet {
            try BundleShowCommand.print(try BundleFile(path), common, context)
        }
        return code
    }
}
