import Base
import Commands
import Operations

/// `bundle apply`: verify, take over, validate, plan; for a technician with a USB stick, or for all
/// bundles in a folder.
struct BundleApplyCommand {
    private let bundle: String?
    private let folder: String?
    private let application: BundleApplication
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        bundle = invocation.arguments.first
        folder = invocation[Command.bundleFolder]
        let state = try CommonOptions.stateDirectory(invocation, context)
        let signers = try BundleSigners(invocation)
        common = try CommonOptions(invocation, context)
        self.context = context
        guard let target = invocation[Command.targetDirectory] else {
            throw CommandError(.usage, "'bundle apply' needs '--target-dir'")
        }
        guard (bundle == nil) != (folder == nil) else {
            throw CommandError(.usage, "'bundle apply' needs a bundle or '--from', one of them")
        }
        guard folder == nil || signers.demand != nil else {
            throw CommandError(
                .usage,
                "'bundle apply --from' needs '--key'",
                hint:
                    "otherwise anyone who can write into the folder could give the depot a manifest"
            )
        }
        application = BundleApplication(
            into: target,
            state: state,
            signers: signers,
            older: try OlderBundle.wish(invocation),
            common,
            context
        )
    }

    func run() async throws(CommandError) -> ExitCode {
        if let folder { return try await applyAll(in: folder) }
        guard let bundle else { return .usage }
        let applied = try await apply(bundle)
        context.answer(common, applied.document, applied.text)
        return .done
    }

    private func apply(
        _ path: String
    ) async throws(CommandError) -> BundleApplication.Applied {
        let display = PercentDisplay(common, context)
        defer { display.end() }
        return try await application.apply(path, progress: display.show)
    }

    private func applyAll(in folder: String) async throws(CommandError) -> ExitCode {
        let account = try await BundleIntake(of: folder).empty(by: apply) { result in
            switch result {
            case .success(let applied):
                if !common.isQuiet, !common.wantsJSON { context.console.result(applied.text) }
            case .failure(let error): context.console.note(error.text)
            }
        }
        if common.wantsJSON {
            context.console.result(account.document.text + "\n")
        } else if !common.isQuiet || account.exitCode != .done {
            context.console.result(account.text)
        }
        return account.exitCode
    }
}
