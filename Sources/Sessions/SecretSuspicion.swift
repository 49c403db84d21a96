/// Decides over several links whether a module refuses our secret or is merely hard to reach.
///
/// One link that ends right after the proof of the secret proves nothing; a second one in a row
/// does.
package struct SecretSuspicion: Equatable, Sendable {
    /// What the end of one exchange says about our secret.
    package enum Sign: Hashable, Sendable {
        /// The module says that it is wrong.
        case refused
        /// The link ended right after the proof: refused, or lost just then.
        case refusedOrLost
    }

    /// Links that must end so, one after another.
    package static let limit = 2

    package enum Judgement: Equatable, Sendable {
        /// Nothing is shown yet.
        case tryAgain
        /// The secret is wrong, as far as can be known.
        case wrongKey
    }

    private var ended = 0

    package init() {}

    /// Nothing was answered where there is no sign, so nothing was refused.
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
