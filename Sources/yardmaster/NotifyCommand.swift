import Base
import Commands
import Manifest
import Operations
import Site

/// `notify test`, `notify list`, `notify send`, `notify failure`.
struct NotifyCommand {
    private let notices: NoticeSender
    private let errand: NoticeErrand
    private let state: String
    private let common: CommonOptions
    private let context: Context
    private let arguments: [String]

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(
            invocation,
            context,
            toLook: invocation.command == .notifyList
        )
        common = try CommonOptions(invocation, context)
        self.context = context
        arguments = invocation.arguments
        var notices = NoticeSender(state: state, context: context)
        if let manifest = invocation[Command.manifest] {
            if let warning = UnitSight.warning(manifest, seesHome: false) {
                context.console.note(warning)
            }
            notices.own = try Inputs.plan(manifest, context, common).notify
        }
        self.notices = notices
        errand = NoticeErrand(notices, in: state, context)
    }

    func test() async throws(CommandError) -> ExitCode {
        let (results, code) = try await errand.test(arguments)
        say(results)
        return code
    }

    func send() async throws(CommandError) -> ExitCode {
        say(try await errand.send())
        return .done
    }

    func failure() async throws(CommandError) -> ExitCode {
        say(try await errand.failure(of: arguments[0]))
        return .done
    }

    func list() throws(CommandError) -> ExitCode {
        let list = try NoticeList(of: notices, in: state)
        context.console.result(
            common.wantsJSON
                ? list.document(isQuiet: common.isQuiet).text + "\n"
                : list.text(isQuiet: common.isQuiet)
        )
        return .done
    }

    private func say(_ results: [NoticeSender.Result]) {
        if common.wantsJSON {
            context.console.result(NoticeSender.Result.document(results).text + "\n")
            return
        }
        for result in results where !common.isQuiet || !result.isDelivered {
            context.console.result(result.text)
        }
    }
}
