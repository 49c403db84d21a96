/// Decides over several links whether a module refuses our secret or is only hard to reach.
///
/// One link that ends right after the proof of the secret proves nothing; a second one in a row
/// does.
package struct SecretSuspicion: Equatable, Sendable {
    /// What the end of one exchange indicates about our secret.
    package enum Sign: Hashable, Sendable {
        /// The module reports that the secret is wrong.
        case refused
        /// The link ended right after the proof of the secret: the module refused it, or the link
        /// was lost at that moment.
        case refusedOrLost
    }

    /// The number of consecutive links that must end this way.
    package static let limit = 2

    package enum Judgement: Equatable, Sendable {
        /// Nothing is certain yet.
        case tryAgain
        /// The secret is wrong, as far as this can be determined.
        case wrongKey
    }

    private var ended = 0

    package init() {}

    /// Records a failed exchange.
    ///
    /// Without a sign the module did not answer, so it did not refuse the secret.
    package mutating func failed(_ sign: Sign?) -> Judgement {
        switch sign {
        case .refused?:
            return .wrongKey
        case .refusedOrLost?:
            ended = min(ended + 1, Self.limit)
            return ended == Self.limit ? .wrongKey : .tryAgain
        case nil:
            return .tryAgain
        }
    }

    package mutating func authenticated() { ended = 0 }
}
