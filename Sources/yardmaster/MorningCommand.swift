import Base
import Commands
import Operations
import Show
import Site
import Store

/// `morning`: the tasks for people after the night.
struct MorningCommand {
    private let standings: Standings
    private let common: CommonOptions
    private let since: String?
    private let days: Int
    private let form: Form

    private enum Form { case text, json, csv, html, mail(String) }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        standings = try Standings(invocation, context)
        common = CommonOptions(invocation)
        since = invocation[Command.since]
        days = invocation[Command.days]
        var forms: [Form] = []
        if common.wantsJSON { forms.append(.json) }
        if invocation[Command.csv] { forms.append(.csv) }
        if invocation[Command.html] { forms.append(.html) }
        if let address = invocation[Command.mail] {
            guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), address.contains("@")
            else {
                throw CommandError(
                    .usage,
                    "'\(address.visible)' is no mail address",
                    hint: "write it as in crew@example.com"
                )
            }
            forms.append(.mail(address))
        }
        guard forms.count < 2 else {
            throw CommandError(
                .usage,
                "only one of --json, --csv, --html and --mail can be used"
            )
        }
        form = forms.first ?? .text
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        let (page, zone) = try await standings.morning(since: since, days: days)
        let isSilent = common.isQuiet && page.tasks.isEmpty && page.exitCode == .done
        if isSilent, case .text = form { return .done }
        context.console.result(written(page, zone, context))
        return page.exitCode
    }

    private func written(_ page: MorningPage, _ zone: Zone, _ context: Context) -> String {
        let text = { MorningText(page, width: $0, time: zone.screen()).text }
        let html = { MorningHTML(page, time: zone.screen()).text }
        return switch form {
        case .text: text(context.textWidth)
        case .json: page.json.text + "\n"
        case .csv: page.csv
        case .html: html()
        case .mail(let address): page.mail(to: address, text: text(72), html: html())
        }
    }
}
