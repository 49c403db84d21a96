package import Base

/// Why a repository or one of its files is not trusted.
///
/// The work ends, and everything that was verified before stays in place.
package enum TrustError: Error, Equatable, Sendable {
    case noRoot
    case otherRoot
    case malformed(RoleName, MetadataFault)
    case notSigned(RoleName, signers: Int, threshold: Int, by: RoleName)
    case wrongVersion(RoleName, expected: Int64, found: Int64)
    /// A version older than the trusted one.
    case rolledBack(RoleName, trusted: Int64, offered: Int64)
    case roleRemoved(ExactText)
    case expired(RoleName, at: WallTime)
    case wrongLength(RoleName, expected: Int64, found: Int64)
    case wrongHash(RoleName, FileHash)
    case tooManyRoots(limit: Int)
    case tooManyRoles(limit: Int)
    case notListed(RoleName)
    case clockWentBack(to: WallTime, seen: WallTime)

    case badTargetPath(String)
    case noTarget(TargetPath)
    case noKnownHash(TargetPath)
    case targetTooLarge(TargetPath, length: Int64, limit: Int64)
    case targetWrongLength(TargetPath, expected: Int64, found: Int64)
    case targetWrongHash(TargetPath, FileHash)

    case source(String, SourceError)
    case storage(StorageError)
}

extension TrustError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noRoot: "there is no trusted root to begin with"
        case .otherRoot: "another root is trusted here already"
        case .malformed(let role, let fault): "\(role) is no metadata: \(fault)"
        case .notSigned(let role, let signers, let threshold, let delegator):
            "\(role) is signed by \(signers) of the keys that \(delegator) names for it, "
                + "\(threshold) must sign"
        case .wrongVersion(let role, let expected, let found):
            "\(role) is version \(found), version \(expected) is wanted"
        case .rolledBack(let role, let trusted, let offered):
            "\(role) was rolled back: version \(trusted) was seen, \(offered) is offered"
        case .roleRemoved(let name): "the snapshot no longer lists '\(name)'"
        case .expired(let role, let time): "\(role) expired at \(time)"
        case .wrongLength(let role, let expected, let found):
            "\(role) has \(found) bytes, \(expected) are listed"
        case .wrongHash(let role, let hash):
            "\(role) has another \(hash.rawValue) than is listed"
        case .tooManyRoots(let limit): "there are more than \(limit) new roots"
        case .tooManyRoles(let limit): "more than \(limit) delegated roles were asked"
        case .notListed(let role): "the snapshot does not list \(role)"
        case .clockWentBack(let now, let seen):
            "the clock went back: it says \(now), and said \(seen) when metadata was last verified"
        case .badTargetPath(let text): "'\(text.visible)' is no name of a target"
        case .noTarget(let path): "no role that may speak for it lists the target '\(path)'"
        case .noKnownHash(let path): "the target '\(path)' is listed without a digest that we know"
        case .targetTooLarge(let path, let length, let limit):
            "the target '\(path)' has \(length) bytes, \(limit) are the most"
        case .targetWrongLength(let path, let expected, let found):
            "the target '\(path)' has \(found) bytes, \(expected) are listed"
        case .targetWrongHash(let path, let hash):
            "the target '\(path)' has another \(hash.rawValue) than is listed"
        case .source(let name, let error): "\(name.visible) cannot be fetched: \(error)"
        case .storage(let error): error.description
        }
    }
}
