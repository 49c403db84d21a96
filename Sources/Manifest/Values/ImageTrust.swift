package import Domain
package import SourceTree

/// What makes an image trusted, besides the digest that pins it.
package enum ImageTrust: Sendable, Hashable {
    case digest
    /// A detached signature by the owner of a key.
    case signature(key: KeyReference, at: ImageSource)
    /// A TUF repository lists it under this name.
    case repository(String, target: String)
}

/// Where a public key of minisign is.
package enum KeyReference: Sendable, Hashable, CustomStringConvertible {
    case text(String)
    case file(FileReference)

    package var description: String {
        switch self {
        case .text(let text): text
        case .file(let file): file.text
        }
    }
}

/// A TUF repository that images of a plan refer to.
package struct PlannedRepository: Sendable, Equatable {
    package let name: String
    package let root: FileReference
    package let metadata: ImageSource
    /// Nil when the depot does not go on without network.
    package let grace: Duration?
    package let place: Place

    init(
        name: String,
        root: FileReference,
        metadata: ImageSource,
        grace: Duration?,
        place: Place
    ) {
        self.name = name
        self.root = root
        self.metadata = metadata
        self.grace = grace
        self.place = place
    }
}

/// Whom a plan trusts, and single images that it lets in or keeps out.
package struct TrustPolicy: Sendable, Equatable {
    /// By name.
    package let repositories: [PlannedRepository]
    /// In rising order; empty when all may be used that are not denied.
    package let allowed: [SHA256Digest]
    /// In rising order.
    package let denied: [SHA256Digest]
}
