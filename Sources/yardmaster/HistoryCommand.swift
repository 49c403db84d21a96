import Commands
import Domain
import Journal
import Operations
import Reports
import Wire

/// `history`: the runs so far, the newest first.
struct HistoryCommand {
    /// As many as fit on a screen.
    static let usual = 20

    private let state: String
    private let rollout: String?
    private let count: Int
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        rollout = invocation.value("rollout")
        count =
            invocation.value("last").flatMap { ValueKind.whole($0) }
            .map { Int(clamping: $0) } ?? Self.usual
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let (list, zone) = try StandingJournal(state: state, flags: "")
            .history(of: rollout, count: count, context)
        context.console.result(
            common.wantsJSON ? list.json.text + "\n" : Self.text(list, zone)
        )
        return .done
    }

    private static func text(_ list: RunList, _ zone: Zone) -> String {
        guard !list.rows.isEmpty else { return "nothing has run here yet\n" }
        let rows = list.rows.map { row -> [String] in
            let run = row.run
            let took = run.end.map { run.started.duration(to: $0.time).brief } ?? "-"
            return [
                String(run.number), run.rollout.visible, zone.text(run.started), took,
                run.end?.exitCode.map(String.init) ?? "-", list.sentence(of: row),
            ]
        }
        let table = Columns.table([["run", "rollout", "begun", "took", "exit", "what"]] + rows)
        var text = table.joined(separator: "\n") + "\n"
        if !list.sayings.isEmpty {
            let said = Columns.table(
                [RunList.sayingTitles] + list.sayings.map { RunList.words($0, zone.text) }
            )
            text += "\n" + said.joined(separator: "\n") + "\n"
        }
        return text
    }
}
