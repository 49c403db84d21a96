/// One data object: a page of the image, and how far it is.
package struct UploadObject: Equatable, Sendable {
    let start: Int
    let end: Int
    /// How often it may still be begun again.
    var triesLeft: Int
    /// Received, by the target's own words.
    var acknowledged: Int
    /// Given to the radio, or being given.
    var handed: Int

    init(start: Int, end: Int, triesLeft: Int) {
        self.start = start
        self.end = end
        self.triesLeft = triesLeft
        acknowledged = start
        handed = start
    }

    /// What a checksum shows about the object.
    enum Finding: Equatable {
        /// Nothing that was not known: a receipt that is late, or came twice.
        case stale
        /// The target has more than was known.
        case progress
        /// The target has something else than was sent.
        case wrong
    }

    func finding(offset: Int, matches: Bool) -> Finding {
        guard matches, offset <= handed else { return .wrong }
        return offset > acknowledged ? .progress : .stale
    }
}
