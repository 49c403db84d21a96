import Base
import CSQLite
import Glibc

/// Why the journal could not be opened, read or written.
package struct JournalError: Error, Equatable {
    package let kind: Kind
    /// The operation that failed, such as `open` or `commit`.
    package let operation: String
    /// SQLite's extended result code; 0 when the program itself found the error.
    package let code: Int32
    /// SQLite's message, or ours when SQLite reported no error.
    package let words: String

    /// The kinds of errors, by which a caller decides.
    package enum Kind: Equatable, Sendable {
        /// There is no journal, and reading does not create one.
        case missing
        /// It exists or may exist, and this user may not read it.
        case notPermitted
        /// The file cannot be created or opened.
        case cannotCreate
        /// The disk or the quota is full. What was recorded before is safe.
        case full
        /// It may be read but not written.
        case readOnly
        /// The disk reported an error.
        case disk
        /// Another process keeps it locked.
        case busy
        /// Its content is inconsistent.
        case corrupt
        /// A database of some other program.
        case foreign
        /// Written by a program with another schema than ours.
        case schema(found: Int, known: Int)
        /// The image of the transfer is recalled: the words say by whom and why.
        case recalled
        /// The update server has withdrawn the action that the transfer is for.
        case withdrawn
        /// The fleet's database gave no answer, without which nothing is decided.
        case fleet
        /// A bug of ours.
        case `internal`
    }

    package init(_ kind: Kind, _ operation: String, code: Int32 = 0, words: String) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.words = words
    }

    /// The error of a call on the file or its folder.
    init(_ operation: String, _ fault: FileFault) {
        let kind: Kind = fault.code == ENOSPC || fault.code == EDQUOT ? .full : .cannotCreate
        self.init(kind, operation, words: fault.description)
    }

    /// The error that SQLite reports for its last call on `handle`.
    init(_ operation: String, handle: OpaquePointer?) {
        let code = sqlite3_extended_errcode(handle)
        self.init(
            Self.kind(of: code, systemError: sqlite3_system_errno(handle)),
            operation,
            code: code,
            words: String(cString: sqlite3_errmsg(handle))
        )
    }

    /// The only place where SQLite's codes (https://www.sqlite.org/rescode.html) get a meaning.
    static func kind(of code: Int32, systemError: Int32) -> Kind {
        switch code & 0xFF {
        case SQLITE_FULL: .full
        case SQLITE_IOERR: [ENOSPC, EDQUOT].contains(systemError) ? .full : .disk
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_CANTOPEN: .cannotCreate
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        default: .internal
        }
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String {
        let sentence =
            switch kind {
            case .missing: "there is no journal yet"
            case .notPermitted: "the journal may not be read"
            case .cannotCreate: "the journal cannot be opened or created"
            case .full: "the journal cannot be written: the disk is full"
            case .readOnly: "the journal cannot be written: it is read-only"
            case .disk: "the journal cannot be read or written: the disk reports an error"
            case .busy: "the journal is locked by another program"
            case .corrupt: "the journal is damaged"
            case .foreign: "journal.sqlite is not a journal of this program"
            case .schema(let found, let known):
                found > known
                    ? "the journal was written by a newer version of this program"
                    : "the journal was written by an older version and no run has brought it up to date"
            case .recalled, .withdrawn: "the image must not be sent"
            case .fleet: "the fleet's database cannot be used"
            case .internal: "the journal was used wrongly, which is a bug of this program"
            }
        return "\(sentence) (\(operation): \(words))"
    }
}
