package import Domain

/// Why one thing that an update asked of its driver came to nothing.
package struct UpdateFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a fault means beyond its class.
    package enum Kind: Hashable, Sendable {
        case plain
        /// The link is gone: the module may or may not have done what it was told.
        case linkLost
        /// The link holds, and the module may all the same do what it was told.
        case unanswered
        /// What was sent did not all arrive: a slower flow may be the cure.
        case tooFast
        /// The module has this part, or a newer one, and wants no other.
        case alreadyThere
    }

    package let failure: FailureClass
    package let kind: Kind
    package let description: String

    package init(_ failure: FailureClass, _ kind: Kind, _ description: String) {
        self.failure = failure
        self.kind = kind
        self.description = description
    }

    package init(_ failure: FailureClass, _ description: String) {
        self.init(failure, .plain, description)
    }
}
