package import Radio

/// The message sizes, limits and retries of an SMP client on one link.
package struct SMPSettings: Equatable, Sendable {
    /// The longest message that the client sends.
    package let frameLength: Int
    /// The number of messages that may be unanswered at the same time.
    package let window: Int
    /// For an answer in the middle of an upload.
    package let answerLimit: Duration
    /// For the answer to the first piece: the device may erase a whole slot before it.
    package let openingLimit: Duration
    /// For the answer to the last piece: the device may read back the whole image before it.
    package let closingLimit: Duration
    /// The time before a busy device is asked again.
    package let busyPause: Duration
    package let busyLimit: Int
    /// How often the upload begins again at one offset before the link is given up.
    package let retries: Int

    /// Nil when a message has no room for a piece of data, or a limit is invalid.
    package init?(
        frameLength: Int,
        window: Int,
        answerLimit: Duration = .seconds(5),
        openingLimit: Duration = .seconds(40),
        closingLimit: Duration = .seconds(20),
        busyPause: Duration = .milliseconds(100),
        busyLimit: Int = 300,
        retries: Int = 2
    ) {
        guard SMPChunk.room(frameLength: frameLength, offset: 0xFFFF_FFFF) >= 4,
            (1...64).contains(window), retries >= 0, busyLimit >= 0,
            [answerLimit, openingLimit, closingLimit, busyPause].allSatisfy({ $0 > .zero })
        else { return nil }
        self.frameLength = frameLength
        self.window = window
        self.answerLimit = answerLimit
        self.openingLimit = openingLimit
        self.closingLimit = closingLimit
        self.busyPause = busyPause
        self.busyLimit = busyLimit
        self.retries = retries
    }

    /// Settings that fit a device: it has one buffer less for our messages, because its answers
    /// need one.
    ///
    /// A device that does not reassemble messages takes only as much as one write carries.
    package init?(
        parameters: SMPParameters?,
        reassembles: Bool,
        maximumLength: Int,
        times: UploadTimes = UploadTimes()
    ) {
        let size = parameters?.bufferSize ?? SMPNumbers.defaultBufferSize
        self.init(
            frameLength: reassembles ? size : min(size, maximumLength),
            window: max(1, (parameters?.bufferCount ?? 1) - 1),
            answerLimit: times.answer ?? .seconds(5),
            openingLimit: times.erase ?? .seconds(40),
            closingLimit: times.check ?? .seconds(20)
        )
    }

    /// Whether a message of `length` bytes has room for the first piece of any image.
    package static func carriesOpening(_ length: Int) -> Bool {
        let opening = SMPChunk.Opening(image: 0, length: 0xFFFF_FFFF, sha: nil)
        return SMPChunk.room(frameLength: length, offset: 0, opening: opening)
            >= SMPNumbers.firstChunkMinimum
    }

    /// The same settings with fewer messages on their way, for a device that loses some.
    package func slower(by steps: Int) -> SMPSettings? {
        SMPSettings(
            frameLength: frameLength,
            window: max(1, window - max(0, steps)),
            answerLimit: answerLimit,
            openingLimit: openingLimit,
            closingLimit: closingLimit,
            busyPause: busyPause,
            busyLimit: busyLimit,
            retries: retries
        )
    }
}
