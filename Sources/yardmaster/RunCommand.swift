import Commands
import Manifest
import Operations
import Yard

/// `run`; and `secrets rotate`: a run that gives each module another secret instead of the steps of
/// the manifest.
struct RunCommand {
    let options: RunOptions
    let context: Context

    /// `rehearse`: the same with made-up vehicles, in a directory in which nothing has run.
    static func rehearse(
        _ invocation: Invocation,
        _ context: Context
    ) async throws(CommandError) -> ExitCode {
        let options = try RunOptions(invocation, context)
        try options.demandNew()
        return try await RunCommand(options: options, context: context).run()
    }

    func run() async throws(CommandError) -> ExitCode {
        var sources = PlanSources()
        let plan = try Inputs.plan(options.manifest, context, options.common, &sources)
        return try await RunPreparation(options, context).run(plan, keeping: sources)
    }

    /// With `splitting`, each vehicle gets a key file of its own first.
    func rotateSecrets(splitting: Bool) async throws(CommandError) -> ExitCode {
        if splitting { try SecretSplit.perform(options, context) }
        var sources = PlanSources()
        let plan = try Inputs.plan(options.manifest, context, options.common, &sources).rotating
        guard !plan.vehicles.isEmpty else {
            throw CommandError(
                .manifest,
                "no vehicle of \(options.manifest) keeps its secret in a file",
                hint: "name one in its `secret` column, as in file:keys/ID.key"
            )
        }
        return try await RunPreparation(options, context).run(plan, keeping: sources)
    }
}
