import Commands
import Domain
import Journal
import Operations
import Reports
import Wire

/// `history`: the runs that there were, the newest first.
struct HistoryCommand {
    /// As many as a screen shows.
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

/// How `history show` reads the journal.
enum HistoryJournal {
    static func read<R>(
        _ state: String,
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(CommandError) -> R {
        do throws(JournalError) {
            return try JournalReader(directory: state).read(body)
        } catch {
            throw RunCommand.refusal(reading: error, in: state)
        }
    }

    /// What is said of a run that a journal does not have; nil means any at all.
    static func unknown(run number: Int?, in state: String) -> CommandError {
        CommandError(
            .inputMissing,
            number.map { "there is no run \($0) in \(state)" }
                ?? "nothing has run in \(state) yet",
            hint: "'yardmaster history' lists the runs"
        )
    }

    /// The number that is meant; nil for the last run.
    static func run(_ text: String) throws(CommandError) -> Int? {
        let number = ValueKind.whole(text).flatMap { Int(exactly: $0) }
        guard text == "last" || number != nil else {
            throw CommandError(
                .usage,
                "'\(text.visible)' is no run",
                hint: "give a number that 'yardmaster history' lists, or 'last'"
            )
        }
        return number
    }
}
