package import Base
package import Commands
import Show
import Store

/// The runs that people name for `history`.
package enum HistoryJournal {
    /// The error for a run that a journal does not have; nil means any run at all.
    package static func unknown(run name: RunName?, in state: String) -> CommandError {
        CommandError(
            .inputMissing,
            name.map { "there is no run \($0) in \(state)" }
                ?? "nothing has run in \(state) yet",
            hint: "'yardmaster history' lists the runs"
        )
    }

    /// Parses the number of one of this machine's runs; nil for the last one.
    package static func run(_ text: String) throws(CommandError) -> Int? {
        switch try RunWish(text) {
        case .last: return nil
        case .run(let name):
            guard name.gateway == nil else {
                throw CommandError(
                    .usage,
                    "\(name) is a run of a fleet, and only those of this machine can be compared",
                    hint: "give a number, as 'yardmaster history --journal' lists it"
                )
            }
            return name.number
        }
    }
}
