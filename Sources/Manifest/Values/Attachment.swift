package import Base

/// A document about an image; it is never sent to a module.
package struct Attachment: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A bill of materials; the digest pins its bytes.
        case bill(SHA256Digest?)
        /// Statements about the image, with the key that must have signed them.
        case attestation(key: FileReference?)
    }

    package let kind: Kind
    package let source: ImageSource
    package let place: Place

    /// Its file name in the store and in bundles: the same for the same address.
    package var fileName: String {
        let address =
            switch source {
            case .https(let url), .http(let url): url
            case .file(let file): file.text
            }
        let mark = SHA256.digest(of: Array(address.utf8)).description.prefix(16)
        return switch kind {
        case .bill: "sbom-\(mark)"
        case .attestation: "attestation-\(mark)"
        }
    }
}
