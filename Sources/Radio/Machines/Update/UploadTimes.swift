/// The time limits of a profile's modules in an upload; nil stands for the protocol's default.
package struct UploadTimes: Sendable, Hashable {
    /// For the answer to one request.
    package var answer: Duration?
    /// Before the module accepts the first byte: it may erase memory first.
    package var erase: Duration?
    /// For the check of the whole image.
    package var check: Duration?

    package init(answer: Duration? = nil, erase: Duration? = nil, check: Duration? = nil) {
        self.answer = answer
        self.erase = erase
        self.check = check
    }
}
