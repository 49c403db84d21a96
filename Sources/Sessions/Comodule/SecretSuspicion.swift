/// Decides over several links whether a module refuses our key or is merely hard to reach.
///
/// One link that ends right after the response proves nothing; a second one in a row does.
package struct SecretSuspicion: Equatable, Sendable {
    /// Links that must end so, one after another.
    package static let limit = 2

    package enum Judgement: Equatable, Sendable {
        /// Nothing is shown yet.
        case tryAgain
        /// The key is wrong, as far as can be known.
        case wrongKey
    }

    private var ended = 0

    package init() {}

    package mutating func failed(_ error: ComoduleAuthenticationError) -> Judgement {
        switch error {
        case .refused:
            return .wrongKey
        case .refusedOrLost:
            ended = min(ended + 1, Self.limit)
            return ended == Self.limit ? .wrongKey : .tryAgain
        case .challengeLength, .unknownState, .link:
            // Nothing was answered, so nothing was refused.
            return .tryAgain
        }
    }

    package mutating func authenticated() { ended = 0 }
}
