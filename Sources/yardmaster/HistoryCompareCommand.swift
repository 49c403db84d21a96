import Base
import Commands
import Operations
import Show
import Site
import Store

/// `history compare`: compares two runs.
struct HistoryCompareCommand {
    private let state: String
    /// Nil for the last run.
    private let numbers: [Int?]
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try GatewayState.find(invocation, context)
        var numbers: [Int?] = []
        for text in invocation.arguments { numbers.append(try HistoryJournal.run(text)) }
        self.numbers = numbers
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let journal = StandingJournal(state: state, flags: PlaceFlags())
        let last = try journal.read { view throws(JournalError) in
            try view.lastRun(rollout: nil)?.number
        }
        guard let last else { throw HistoryJournal.unknown(run: nil, in: state) }
        let (comparison, list, zone) = try journal.comparison(
            numbers[0] ?? last,
            numbers[1] ?? last,
            context
        )
        context.answer(common, comparison.json, comparison.text(list, zone.screen()))
        return .done
    }
}
