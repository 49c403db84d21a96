package import Commands
import Domain
package import Journal

extension CommandError {
    /// Why a state directory cannot be used.
    package init(_ error: StateDirectoryError) {
        switch error {
        case .busy:
            self.init(
                .busy,
                error.description,
                hint: "wait for it, or use another --state directory"
            )
        case .missing, .notADirectory, .notPermitted, .readOnly, .full, .networkFileSystem, .failed:
            self.init(
                .cannotCreate,
                error.description,
                hint: "name a directory on a local disk that can be written with --state DIR"
            )
        }
    }

    /// Why a journal cannot be worked with.
    package init(_ error: JournalError) {
        let kind: CommandError.Kind =
            switch error.kind {
            case .cannotCreate, .missing: .cannotCreate
            case .notPermitted: .inputMissing
            case .full, .readOnly, .disk: .cannotWrite
            case .busy: .busy
            case .corrupt, .foreign, .schema: .configuration
            case .internal: .internal
            }
        let hint: String? =
            switch error.kind {
            case .full, .readOnly, .disk:
                "make room or fix the disk, then run again: it goes on where it stood"
            case .corrupt:
                "what was begun and what is owed is not known any more: put a copy of "
                    + "journal.sqlite back; without one, look at the vehicles, then move the "
                    + "file away to begin with a new one"
            case .notPermitted: "ask as the user that the runs have"
            case .cannotCreate, .missing, .busy, .foreign, .schema, .internal: nil
            }
        self.init(kind, error.description, hint: hint)
    }

    /// Why the journal could not be read by what only looks at it.
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

    /// No run of that name.
    package static func unknown(rollout name: String) -> CommandError {
        CommandError(
            .inputMissing,
            "no rollout \(name.visible) has run here",
            hint: "'yardmaster history' lists what has run; name another directory with --state DIR"
        )
    }
}

extension StateDirectory {
    /// Opens the directory, and makes it when it is not there.
    package static func prepared(at path: String) throws(CommandError) -> StateDirectory {
        do throws(StateDirectoryError) {
            return try create(at: path)
        } catch { throw CommandError(error) }
    }
}
