import Base
import Commands
import Operations

/// `secrets check`: reads every key, token and passkey that a manifest names, and checks it against
/// its vehicle.
struct SecretsCommand {
    private let manifest: String
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        common = try CommonOptions(invocation, context)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(manifest, context, common)
        let audit = try SecretAudit(of: plan, common, context)
        if common.wantsJSON {
            context.console.result(audit.document.text + "\n")
        } else {
            context.console.result(audit.text(isQuiet: common.isQuiet))
            if !common.isQuiet { context.console.result("\(manifest): \(audit.summary)\n") }
        }
        return audit.exitCode
    }
}
