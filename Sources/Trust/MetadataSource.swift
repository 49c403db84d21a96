import Domain

/// Where a repository's documents and files come from; nothing that it delivers is believed.
package protocol MetadataSource: Sendable {
    /// The bytes at an address below the repository's, which is encoded already.
    ///
    /// Delivers at most `limit` bytes, or throws. May block.
    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8]
}

/// Why a source gives nothing.
package enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It answered that there is no such document: the only answer that ends the chain of roots.
    case notThere
    case tooLong(limit: Int64)
    /// It did not answer, or not with the document.
    case unreachable(String)

    package var description: String {
        switch self {
        case .notThere: "it is not there"
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .unreachable(let reason): reason.visible
        }
    }
}
