package import Base

/// Why an exchange of a module's own protocol failed, with the facts that other rooms act on.
///
/// Each protocol has its own errors, with numbers and texts. They are converted to this type for
/// the code that decides what to do next.
package struct ExchangeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The purpose of the exchange.
    package enum Subject: Hashable, Sendable {
        /// Proving to the module that we may access it.
        case authentication
        /// Asking the module for something.
        case question
        /// Starting its bootloader.
        case entry
        /// Sending it an image.
        case transfer
    }

    package let subject: Subject
    package let failureClass: FailureClass
    package let kind: UpdateFault.Kind
    /// What the fault indicates about our secret; nil when nothing.
    package let secret: SecretSuspicion.Sign?
    /// The link failure that caused the fault; nil where it had another cause.
    package let link: LinkFailure?
    package let description: String

    /// A lost link makes the fault of kind `linkLost`, whatever `kind` says.
    package init(
        _ subject: Subject,
        _ failureClass: FailureClass,
        _ kind: UpdateFault.Kind = .plain,
        secret: SecretSuspicion.Sign? = nil,
        link: LinkFailure? = nil,
        _ description: String
    ) {
        self.subject = subject
        self.failureClass = failureClass
        self.kind = link == .lost || secret == .refusedOrLost ? .linkLost : kind
        self.secret = secret
        self.link = link
        self.description = description
    }
}
