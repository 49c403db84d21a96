/// How long a module of a profile may take in an upload; what is nil is as usual with the protocol.
package struct UploadTimes: Sendable, Hashable {
    /// For the answer to one request.
    package var answer: Duration?
    /// Before it takes the first byte: it may erase meanwhile.
    package var erase: Duration?
    /// For the check of the whole image.
    package var check: Duration?

    package init(answer: Duration? = nil, erase: Duration? = nil, check: Duration? = nil) {
        self.answer = answer
        self.erase = erase
        self.check = check
    }
}
