/// One data object: a page of the image, and the progress with it.
package struct UploadObject: Equatable, Sendable {
    let start: Int
    let end: Int
    /// How often it may still be created again.
    var triesLeft: Int
    /// The end of the bytes that the target reports to have.
    var acknowledged: Int
    /// The end of the bytes that were passed to the radio or are being passed.
    var handed: Int

    init(start: Int, end: Int, triesLeft: Int) {
        self.start = start
        self.end = end
        self.triesLeft = triesLeft
        acknowledged = start
        handed = start
    }

    /// The result of comparing a checksum with the object.
    enum Finding: Equatable {
        /// No news: a late or repeated receipt.
        case stale
        /// The target has more bytes than before.
        case progress
        /// The target's bytes differ from the sent ones.
        case wrong
    }

    func finding(offset: Int, matches: Bool) -> Finding {
        guard matches, offset <= handed else { return .wrong }
        return offset > acknowledged ? .progress : .stale
    }
}
