package import Commands
import Domain
package import Journal

/// How `history show` reads the journal.
package enum HistoryJournal {
    package static func read<R>(
        _ state: String,
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(CommandError) -> R {
        do throws(JournalError) {
            return try JournalReader(directory: state).read(body)
        } catch {
            throw CommandError(reading: error, in: state)
        }
    }

    /// What is said of a run that a journal does not have; nil means any at all.
    package static func unknown(run number: Int?, in state: String) -> CommandError {
        CommandError(
            .inputMissing,
            number.map { "there is no run \($0) in \(state)" }
                ?? "nothing has run in \(state) yet",
            hint: "'yardmaster history' lists the runs"
        )
    }

    /// The number that is meant; nil for the last run.
    package static func run(_ text: String) throws(CommandError) -> Int? {
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
