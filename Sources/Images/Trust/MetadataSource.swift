import Base

/// The source of a repository's documents and files; nothing from it is trusted.
package protocol MetadataSource: Sendable {
    /// The bytes at an address below the repository's; the address is already percent-encoded.
    ///
    /// Returns at most `limit` bytes, or throws. May block.
    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8]
}

/// Why a source delivers nothing.
package enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It answered that the document does not exist: only this answer ends the chain of roots.
    case notThere
    case tooLong(limit: Int64)
    /// It did not answer, or answered with something else.
    case unreachable(String)

    package var description: String {
        switch self {
        case .notThere: "it is not there"
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .unreachable(let reason): reason.visible
        }
    }
}
