import Base
import Commands
import Operations
import Show
import Site
import Store

/// `history`: the runs so far, the newest first.
struct HistoryCommand {
    private let standings: Standings
    private let rollout: String?
    private let count: Int
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        standings = try Standings(invocation, context)
        rollout = invocation[Command.rollout]
        count = invocation[Command.last]
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        let (list, zone) = try await standings.history(of: rollout, count: count)
        if common.wantsJSON {
            context.console.result(list.json.text + "\n")
        } else {
            context.show(Self.text(list, zone))
        }
        return list.exitCode
    }

    private static func text(_ list: RunList, _ zone: Zone) -> String {
        let source = list.source.map { $0.sentence + "\n" } ?? ""
        guard !list.rows.isEmpty else { return source + "nothing has run here yet\n" }
        let time = zone.screen()
        let rows = list.rows.map { row -> [String] in
            let run = row.run
            let took = row.took?.brief ?? "-"
            return [
                run.name.description, run.rollout.visible, time(run.started), took,
                run.end?.exitCode.map(String.init) ?? "-", list.sentence(of: row),
            ]
        }
        let said = list.sayings.map { RunList.words($0, time) }
        return source + Columns.text(["run", "rollout", "begun", "took", "exit", "what"], rows)
            + (said.isEmpty ? "" : "\n" + Columns.text(RunList.sayingTitles, said))
    }
}
