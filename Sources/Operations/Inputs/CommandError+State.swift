import Base
package import Commands
import Glibc
package import Store

extension CommandError {
    /// The error for a state directory that cannot be used.
    package init(_ error: StateDirectoryError) {
        switch error {
        case .busy:
            self.init(
                .busy,
                error.description,
                hint: "wait for it, or use another --state directory"
            )
        case .notPermitted(let path) where Self.remedy(path) != nil:
            self.init(.cannotCreate, error.description, hint: Self.remedy(path))
        case .missing, .notADirectory, .notPermitted, .readOnly, .full, .networkFileSystem, .failed:
            self.init(
                .cannotCreate,
                error.description,
                hint: "name a directory on a local disk that can be written with --state DIR"
            )
        }
    }

    /// How a file of another user is given back, or who may use the directory.
    private static func remedy(_ path: String) -> String? {
        if let strayed = (try? FilePlace(path))?.strayed { return strayed }
        guard let owner = (try? Owner.ofFolder(path)) ?? nil, owner.id != geteuid() else {
            return nil
        }
        return "it belongs to \(owner): "
            + RootRule.line(as: owner, CommandLine.arguments)
    }

    /// The error for a journal that cannot be used.
    package init(_ error: JournalError) {
        let kind: CommandError.Kind =
            switch error.kind {
            case .cannotCreate, .missing: .cannotCreate
            case .notPermitted: .inputMissing
            case .full, .readOnly, .disk: .cannotWrite
            case .busy: .busy
            case .corrupt, .foreign, .schema: .configuration
            case .recalled, .withdrawn: .trust
            case .fleet: .unavailable
            case .internal: .internal
            }
        let hint: String? =
            switch error.kind {
            case .full, .readOnly, .disk:
                "make room or fix the disk, then run again: the run continues"
            case .corrupt:
                "without the journal, begun work and debts are not known: restore a copy of "
                    + "journal.sqlite; if there is none, look at the vehicles, then move the "
                    + "file away to begin with a new one"
            case .notPermitted: "run it as the user of the runs"
            case .cannotCreate, .missing, .busy, .foreign, .schema, .recalled, .withdrawn,
                .fleet, .internal:
                nil
            }
        self.init(kind, error.description, hint: hint)
    }

    /// The error for a journal that a reading command cannot read.
    package init(reading error: JournalError, in state: String) {
        guard error.kind == .missing else {
            self.init(error)
            return
        }
        self.init(
            .inputMissing,
            "there is no journal in \(state)",
            hint: "nothing has run there yet; name another directory with --state DIR"
        )
    }

    /// The error for a rollout that is not in the journal.
    package static func unknown(rollout name: String) -> CommandError {
        CommandError(
            .inputMissing,
            "no rollout \(name.visible) has run here",
            hint: "'yardmaster history' lists what has run; name another directory with --state DIR"
        )
    }
}

extension StateDirectory {
    /// Opens the directory; creates it when it does not exist.
    package static func prepared(at path: String) throws(CommandError) -> StateDirectory {
        do throws(StateDirectoryError) {
            return try create(at: path)
        } catch { throw CommandError(error) }
    }
}
