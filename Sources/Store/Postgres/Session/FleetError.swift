import Base

/// Why the fleet's database did not carry out a request.
package struct FleetError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the error means for a caller that tries again; never guessed from text.
    package enum Kind: Sendable, Equatable {
        /// libpq is not on this machine, or too old.
        case noLibrary
        /// No server answers, or none that accepts writes. Nothing was sent.
        case unreachable
        /// The server makes no session, and will not later: the password is wrong, pg_hba.conf does not let the user
        /// in, there is no such database, or a pooler answers. Nothing was sent.
        case denied
        /// The session ended during the statement: it is unknown whether it was carried out.
        case lost
        /// Nothing was done, and it is worth trying again immediately.
        case collided
        /// Nothing was done: a lock, a limit or a full disk, which may be over later.
        case busy
        /// Nothing was done: this user lacks the right.
        case forbidden
        /// Nothing was done: the tables do not exist.
        case noSchema
        /// Nothing was done, and another try would end in the same way.
        case refused
    }

    package let kind: Kind
    /// The operation, in a few words.
    package let operation: String
    /// PostgreSQL's code of five characters; nil when the server sent none.
    package let code: String?
    /// The message of the server or the library.
    package let words: String

    package init(_ kind: Kind, _ operation: String, code: String? = nil, _ words: String) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.words = words
    }

    /// The error for the code that the server returned for a statement.
    package init(_ operation: String, code: String?, _ words: String) {
        self.init(Self.kind(of: code), operation, code: code, words)
    }

    package var description: String {
        let said = words.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" }.visible }
            .joined(separator: "; ")
        return "\(operation): \(said)" + (code.map { " (\($0))" } ?? "")
    }

    package static let refusedPassword = "28P01"
    /// What a pooler says that does not take the settings of a session.
    package static let pooled = "08P01"

    /// The error for the code with which the server has made no session, if it said one.
    init(session operation: String, code: String?, _ words: String) {
        let isDenied = [Self.refusedPassword, Self.pooled, "28000", "3D000"].contains(code)
        self.init(isDenied ? .denied : .unreachable, operation, code: code, words)
    }

    /// The only table of codes.
    ///
    /// Appendix A of PostgreSQL's manual explains them.
    package static func kind(of code: String?) -> Kind {
        guard let code else { return .lost }
        switch code {
        case "40001", "40P01": return .collided
        // lock_not_available, query_canceled, disk_full, too_many_connections, out_of_memory
        case "55P03", "57014", "53100", "53300", "53200": return .busy
        // The server ends sessions or starts; and read_only_sql_transaction: it became a standby.
        case "57P01", "57P02", "57P03", "57P05", "25006": return .lost
        case "42501": return .forbidden
        // No such table, schema or function.
        case "42P01", "3F000", "42883": return .noSchema
        default: return code.hasPrefix("08") ? .lost : .refused
        }
    }
}
