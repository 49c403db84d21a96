import Commands
import Domain
import Journal
import Manifest
import Operations
import Reports
import Wire

/// `morning`: what people have to do after the night.
struct MorningCommand {
    private let state: String
    private let common: CommonOptions
    private let since: String?
    private let days: Int
    private let form: Form
    /// Follows the command's name in lines for the shell.
    private let flags: String

    private enum Form { case text, json, csv, html, mail(String) }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        common = CommonOptions(invocation)
        since = invocation.value("since")
        days = invocation.value("days").flatMap { Int($0) } ?? 7
        flags = CommonOptions.stateFlag(invocation)
        var forms: [Form] = []
        if common.wantsJSON { forms.append(.json) }
        if invocation.has("csv") { forms.append(.csv) }
        if invocation.has("html") { forms.append(.html) }
        if let address = invocation.value("mail") {
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
                "one of --json, --csv, --html and --mail can be written at a time"
            )
        }
        form = forms.first ?? .text
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let runs = try lastRuns()
        // A rehearsed night is over in a calendar of its own, and its morning is the one after it.
        let rehearsed = runs.first.flatMap { $0.seed == nil ? nil : $0.end?.time ?? $0.started }
        let now = rehearsed ?? RealTime().wallTime
        let zone = zone(of: runs, context)
        let begin = try begin(now, zone)
        let ground: MorningMaker.Ground
        do throws(JournalError) {
            ground = try JournalReader(directory: state).read { view throws(JournalError) in
                try MorningMaker.Ground(in: view, since: begin, at: now)
            }
        } catch { throw RunCommand.refusal(reading: error, in: state) }
        let page = MorningMaker(
            ground,
            plans: VehicleLedger(state: state).plans(of: ground.snapshots),
            since: begin,
            at: now,
            staleDays: days,
            flags: flags
        ).page
        if common.isQuiet, page.tasks.isEmpty, case .text = form { return .done }
        context.console.result(written(page, zone, context))
        return .done
    }

    private func written(_ page: MorningPage, _ zone: Zone, _ context: Context) -> String {
        let text = { MorningText(page, width: $0, time: zone.text).text }
        let html = { MorningHTML(page, time: zone.text).text }
        return switch form {
        case .text: text(context.columns ?? 80)
        case .json: page.json.text + "\n"
        case .csv: page.csv
        case .html: html()
        case .mail(let address): page.mail(to: address, text: text(72), html: html())
        }
    }

    private func lastRuns() throws(CommandError) -> [RunRecord] {
        do throws(JournalError) {
            return try JournalReader(directory: state).read { view throws(JournalError) in
                try view.runs(rollout: nil, limit: 50)
            }
        } catch { throw RunCommand.refusal(reading: error, in: state) }
    }

    /// That of the window of the rollout that ran last and has one.
    private func zone(of runs: [RunRecord], _ context: Context) -> Zone {
        var seen: Set<String> = []
        for run in runs where seen.insert(run.rollout).inserted {
            guard let plan = PlanArchive(state: state).plan(run.plan, of: run.rollout),
                plan.rollout.window != nil
            else { continue }
            if let zone = try? ZoneSource.zone(of: plan, context) { return zone }
        }
        return .utc
    }

    /// How long ago, or a time of the zone's clocks.
    private func begin(_ now: WallTime, _ zone: Zone) throws(CommandError) -> WallTime {
        guard let since else { return zone.lastNoon(before: now) }
        if let duration = Duration(text: since) { return now.advanced(by: .zero - duration) }
        if let time = zone.moment(since) { return time }
        throw CommandError(
            .usage,
            "'\(since.visible)' is no time",
            hint: "write how long ago, such as 18h or 3d, or a time such as '2026-11-21 18:00'"
        )
    }
}
