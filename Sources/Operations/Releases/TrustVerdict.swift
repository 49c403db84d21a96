package import Domain
package import Manifest
package import Trust

/// That an image may be used, by whom, and on which condition.
package struct TrustVerdict: Sendable {
    package let image: String
    package let trust: ImageTrust
    package let statement: ReleaseStatement
    /// Whether the documents were those of an earlier time, for want of a network.
    package let isFromBefore: Bool
    /// The key as minisign writes it, or the repository's name.
    package var signer: String?
    /// The role of the repository that lists it.
    package var role: String?
    /// The trusted comment of a signature.
    package var comment: String?

    /// What is beside it: its bill of materials, and what others say of it.
    package var attached: [ImageProvenance.Document] = []

    package func voucher(at time: WallTime) -> ImageProvenance.Voucher {
        ImageProvenance.Voucher(
            level: trust.level,
            signer: signer,
            role: role,
            comment: comment,
            time: time
        )
    }

    /// As in "listed by the repository vendor as city.zip".
    package var words: String { trust.words }
}

extension [TrustVerdict] {
    /// What modules must run before they may have an image, by the image's name.
    package var predecessors: [String: FirmwareVersion] {
        reduce(into: [:]) { $0[$1.image] = $1.statement.predecessor }
    }
}

extension ImageTrust {
    /// What makes an image trusted, for people.
    package var words: String {
        switch self {
        case .digest: "its SHA-256 alone, pinned in the manifest"
        case .signature(let key, _): "its SHA-256 and a signature by the key \(key)"
        case .repository(let name, let target):
            "its SHA-256 and the repository \(name), which must list it as \(target)"
        }
    }

    /// The same in one word, for programs.
    package var level: String {
        switch self {
        case .digest: "digest"
        case .signature: "signature"
        case .repository: "tuf"
        }
    }
}
