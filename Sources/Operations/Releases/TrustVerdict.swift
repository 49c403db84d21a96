import Base
import Images
package import Manifest

/// The permission to use an image: who vouches for it, and under which condition.
package struct TrustVerdict: Sendable {
    package let image: String
    package let trust: ImageTrust
    let statement: ReleaseStatement
    /// Whether older documents were used, because there was no network.
    let isFromBefore: Bool
    /// The key in minisign's form, or the repository's name.
    var signer: String?
    /// The role of the repository that lists it.
    var role: String?
    /// The trusted comment of a signature.
    var comment: String?

    /// The documents beside it: its bill of materials and attestations.
    var attached: [ImageProvenance.Document] = []

    func voucher(at time: WallTime) -> ImageProvenance.Voucher {
        ImageProvenance.Voucher(
            level: trust.level,
            signer: signer,
            role: role,
            comment: comment,
            time: time
        )
    }

    /// A text such as "listed by the repository vendor as city.zip".
    package var words: String { trust.words }
}

extension [TrustVerdict] {
    /// The versions that modules must run before they may have an image, by the image's name.
    var predecessors: [String: FirmwareVersion] {
        reduce(into: [:]) { $0[$1.image] = $1.statement.predecessor }
    }
}

extension ImageTrust {
    /// The basis of the trust, for people.
    var words: String {
        switch self {
        case .digest: "its SHA-256 alone, pinned in the manifest"
        case .signature(let key, _): "its SHA-256 and a signature by the key \(key)"
        case .repository(let name, let target):
            "its SHA-256 and the repository \(name), which must list it as \(target)"
        }
    }

    /// The basis of the trust in one word, for programs.
    package var level: String {
        switch self {
        case .digest: "digest"
        case .signature: "signature"
        case .repository: "tuf"
        }
    }
}
