import Base
import Commands
import Glibc
import Operations
import Store

/// The program: takes a command line, returns an exit code.
@main
enum Yardmaster {
    static func main() async {
        CoreDumps.forbid()
        Descriptor.prepareStandardStreams()
        // Without root, a thread's priority cannot be raised, and Dispatch would write this to the
        // system's log in every run. Dispatch has not started a thread yet.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let request = Result { () throws(UsageError) in try Parser.parse(arguments) }
        if isQuick(request) {
            let outlet = DirectOutlet()
            end(await run(request, arguments, Context(console: Console(outlet))), outlet)
        }
        let outlet: Outlet
        do throws(ThreadError) {
            outlet = try Outlet.open(name: "output")
        } catch {
            let refusal = CommandError(
                .unavailable,
                "no thread for the output",
                because: ["\(error)"]
            )
            _ = Descriptor.write(Array(refusal.text.utf8), to: STDERR_FILENO)
            exit(refusal.exitCode.rawValue)
        }
        async let written: Void = outlet.pump()
        let code = await run(request, arguments, Context(console: Console(outlet)))
        outlet.finish()
        await written
        end(code, outlet)
    }

    private static func isQuick(_ request: Result<Request, UsageError>) -> Bool {
        guard case .success(.run(let invocation)) = request else { return true }
        return Command.named(invocation.command)?.isQuick == true
    }

    private static func end(_ code: ExitCode, _ outlet: any TextOutlet) -> Never {
        guard let failure = outlet.failure(of: STDOUT_FILENO), code == .done else {
            exit(code.rawValue)
        }
        // A truncated result must not be taken for a complete one; a reader that went away knows.
        let loss = CommandError(
            .cannotWrite,
            "standard output was not written completely",
            because: [failure]
        )
        _ = Descriptor.write(Array(loss.text.utf8), to: STDERR_FILENO)
        exit(loss.exitCode.rawValue)
    }

    private static func run(
        _ request: Result<Request, UsageError>,
        _ arguments: [String],
        _ context: Context
    ) async -> ExitCode {
        do throws(CommandError) {
            let request = try request.mapError { (error: UsageError) in error.commandError }.get()
            return try await dispatch(request, context)
        } catch {
            context.console.note(error.text)
            if Parser.wantsJSON(arguments) {
                context.console.result(error.document.text + "\n")
            }
            return error.exitCode
        }
    }

    private static func dispatch(
        _ request: Request,
        _ context: Context
    ) async throws(CommandError) -> ExitCode {
        switch request {
        case .help(let text):
            context.console.result(text)
            return .done
        case .run(let invocation):
            let reaching = try context.reaching(invocation)
            if !invocation[Command.quiet], let place = reaching.reach.ownPlace(invocation) {
                context.console.note("yardmaster: a rehearsal; its state is in \(place)\n")
            }
            return try await dispatch(invocation, reaching)
        }
    }

    /// Without `default`, so that every command in the table is here, too.
    private static func dispatch(
        _ invocation: Invocation,
        _ context: Context
    ) async throws(CommandError) -> ExitCode {
        switch invocation.command {
        case .completion: try CompletionCommand(invocation).run(context)
        case .complete: CompleteCommand(invocation, context).run(context)
        case .man: ManCommand().run(context)
        case .help: try HelpCommand(invocation).run(context)
        case .version: VersionCommand(invocation).run(context)
        case .tokenShow: try TokenCommand(invocation).run(context)
        case .secretsCheck: try SecretsCommand(invocation, context).run(context)
        case .secretsRotate:
            try await RunCommand(
                options: try RunOptions(invocation, context),
                context: context
            ).rotateSecrets(splitting: invocation[Command.split])
        case .serve: try await ServeCommand(invocation, context).run()
        case .simulate: try await SimulateCommand(invocation, context).run()
        case .doctor: try await DoctorCommand(invocation, context).run(context)
        case .schema: SchemaCommand(invocation).run(context)
        case .initialise: try await InitCommand(invocation: invocation, context: context).run()
        case .validate: try ValidateCommand(invocation, context).run(context)
        case .imageInspect: try ImageInspectCommand(invocation, context).run(context)
        case .plan: try PlanCommand(options: try PlanOptions(invocation, context)).run(context)
        case .approve: try ApproveCommand(invocation).run(context)
        case .rehearse: try await RunCommand.rehearse(invocation, context)
        case .run:
            try await RunCommand(
                options: try RunOptions(invocation, context),
                context: context
            ).run()
        case .scan: try await ScanCommand(invocation, context).run()
        case .inventory: try await InventoryCommand(invocation, context).run()
        case .enrol: try await EnrolCommand(invocation, context).run()
        case .watch: try await WatchCommand(invocation, context).run()
        case .update: try await UpdateCommand(invocation, context).run()
        case .rollback: try await RollbackCommand(invocation, context).run()
        case .recall: try await RecallCommand(invocation, context).run()
        case .exec: try await ExecCommand(invocation, context).run()
        case .pause: try await ControlCommand(.pause, invocation, context).run()
        case .resume: try await ControlCommand(.resume, invocation, context).run()
        case .abort: try await ControlCommand(.abort, invocation, context).run()
        case .retry: try await ControlCommand(.retry, invocation, context).run()
        case .inhibit: try await ControlCommand(.inhibit, invocation, context).run()
        case .uninhibit: try await ControlCommand(.uninhibit, invocation, context).run()
        case .clear: try await ControlCommand(.clear, invocation, context).run()
        case .vehicleRenamed: try await ListCommand(invocation, context).renamed()
        case .vehicleMoved: try await ListCommand(invocation, context).moved()
        case .acceptRestore: try await ListCommand(invocation, context).acceptRestore()
        case .trust: try await TrustCommand(invocation, context).run()
        case .bundleCreate: try await BundleCreateCommand(invocation, context).run()
        case .bundleVerify: try await BundleVerifyCommand(invocation, context).run()
        case .bundleApply: try await BundleApplyCommand(invocation, context).run()
        case .bundleCopy: try BundleCopyCommand(invocation, context).run()
        case .bundleShow: try BundleShowCommand.run(invocation, context)
        case .status, .fleetStatus:
            try await StatusCommand(options: try StatusOptions(invocation, context)).run(context)
        case .morning: try await MorningCommand(invocation, context).run(context)
        case .show: try await ShowCommand(invocation, context).run(context)
        case .notifyTest: try await NotifyCommand(invocation, context).test()
        case .notifyList: try NotifyCommand(invocation, context).list()
        case .notifySend: try await NotifyCommand(invocation, context).send()
        case .notifyFailure: try await NotifyCommand(invocation, context).failure()
        case .systemdPrint: try SystemdCommand(invocation, context).run()
        case .fleetCreate: try await FleetCommand(invocation, context).create()
        case .fleetInvite: try await FleetJoinCommand(invocation, context).invite()
        case .fleetJoin: try await FleetJoinCommand(invocation, context).join()
        case .fleetCheck: try await FleetCommand(invocation, context).check()
        case .fleetUpgrade: try await FleetCommand(invocation, context).upgradeTables()
        case .fleetAcceptRestore: try await FleetCommand(invocation, context).acceptRestore()
        case .fleetPrune: try await FleetPruneCommand(invocation, context).run()
        case .gateways: try await GatewaysCommand(invocation, context).run()
        case .gatewayDrain: try await GatewayDrainCommand(invocation, context).run()
        case .gatewayForget: try await GatewayDrainCommand(invocation, context).forget()
        case .history: try await HistoryCommand(invocation, context).run(context)
        case .historyShow: try await HistoryShowCommand(invocation, context).run(context)
        case .historyCompare: try HistoryCompareCommand(invocation, context).run(context)
        case .fetch:
            await FetchCommand(
                options: try FetchOptions(invocation, context),
                context: context
            ).run()
        case .sync: try await SyncCommand(invocation, context).run()
        case .profilesList: try ProfilesCommand(invocation, context).list()
        case .profilesShow: try ProfilesCommand(invocation, context).show()
        case .profilesCheck: try ProfilesCommand(invocation, context).check()
        case .imagesList: try ImagesCommand(.list, invocation, context).run()
        case .imagesVerify: try ImagesCommand(.verify, invocation, context).run()
        case .imagesPrune:
            try ImagesCommand(
                .prune(forgetting: invocation[Command.forget]),
                invocation,
                context
            ).run()
        }
    }
}
