package import Base

/// Why an action that an update requested from its driver failed.
package struct UpdateFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a fault means in addition to its class.
    package enum Kind: Hashable, Sendable {
        case plain
        /// The link is lost: the module may or may not have carried out the request.
        case linkLost
        /// The link holds, but the module did not answer, and may still carry out the request.
        case unanswered
        /// Some of the sent data did not arrive: a slower pace may help.
        case tooFast
        /// The module has this part, or a newer one, and accepts no other.
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
