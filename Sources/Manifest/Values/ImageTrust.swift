package import Base

/// How an image is trusted, in addition to the digest that pins it.
package enum ImageTrust: Sendable, Hashable {
    case digest
    /// A detached signature with this key.
    case signature(key: KeyReference, at: ImageSource)
    /// A TUF repository that lists it under this name.
    case repository(String, target: String)
}

/// The place of a minisign public key.
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
    /// Nil when the repository's expired documents must not be used without network.
    package let grace: Duration?
    package let place: Place
}

/// The repositories that a plan trusts, and single images that it allows or denies.
package struct TrustPolicy: Sendable, Equatable {
    /// Sorted by name.
    package let repositories: [PlannedRepository]
    /// Sorted; empty when all images are allowed that are not denied.
    package let allowed: [SHA256Digest]
    /// Sorted.
    package let denied: [SHA256Digest]
}
