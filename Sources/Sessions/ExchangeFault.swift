package import Domain

/// Why an exchange of a module's own protocol came to nothing, as far as others act on it.
///
/// Each protocol has errors of its own, with numbers and words; this is what they come to for
/// anyone who decides what to do next.
package struct ExchangeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the exchange was for.
    package enum Subject: Hashable, Sendable {
        /// To prove that we may speak to the module.
        case authentication
        /// To ask the module for something.
        case question
        /// To lead it into its bootloader.
        case entry
        /// To bring it an image.
        case transfer
    }

    package let subject: Subject
    package let failureClass: FailureClass
    package let kind: UpdateFault.Kind
    /// What it says about our secret; nil when nothing.
    package let secret: SecretSuspicion.Sign?
    /// What the link did, where that was the cause.
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
