package import Radio

/// The packet sizes, limits and retries of an upload on one link.
package struct UploadSettings: Equatable, Sendable {
    /// The length of one packet.
    package let packetLength: Int
    /// The number of packets after which the target sends a receipt; 0 switches receipts off.
    package let receiptInterval: UInt16
    /// The number of packets that may be on their way after the last acknowledged one.
    ///
    /// Only receipts move the window, so without them an object is sent as a whole.
    package let window: Int
    /// The pause that some bootloaders (SDK 15 and 16) need after the first data object was
    /// created; packets that are sent earlier are lost.
    package let firstObjectDelay: Duration
    /// The same pause for a first object that did not arrive intact.
    package static let delayAfterLoss = Duration.milliseconds(400)
    /// How often one object is created again before the upload is given up.
    package let retriesPerObject: Int
    /// For the answer to a request.
    package let answerLimit: Duration
    /// For the answer to an execution: the last one checks the whole image.
    package let executeLimit: Duration
    /// For the next receipt, and for a checksum answer that may have been lost; after it the
    /// checksum is requested again.
    package let receiptLimit: Duration
    /// For passing the packets of one range to the radio.
    package let sendLimit: Duration

    /// Settings for a link with this maximum length.
    ///
    /// The manufacturer's own tools use 12 packets for each receipt; a window of two intervals keeps
    /// the radio busy while a receipt is on its way.
    ///
    /// Nil when the length is less than that of any ATT link; when the window is less than the
    /// receipt interval, so that both sides would wait for each other; or when a time is negative.
    package init?(
        maximumLength: Int,
        receiptInterval: UInt16 = 12,
        window: Int? = nil,
        firstObjectDelay: Duration = .milliseconds(400),
        retriesPerObject: Int = 3,
        answerLimit: Duration = .seconds(10),
        executeLimit: Duration = .seconds(30),
        receiptLimit: Duration = .seconds(3),
        sendLimit: Duration = .seconds(20)
    ) {
        let window = window ?? max(1, 2 * Int(receiptInterval))
        guard maximumLength >= 20, window >= max(1, Int(receiptInterval)), window <= 131_072,
            retriesPerObject >= 0, firstObjectDelay >= .zero,
            [answerLimit, executeLimit, receiptLimit, sendLimit].allSatisfy({ $0 > .zero })
        else { return nil }
        packetLength = DFUNumbers.packetLength(maximumLength: min(maximumLength, 512))
        self.receiptInterval = receiptInterval
        self.window = window
        self.firstObjectDelay = firstObjectDelay
        self.retriesPerObject = retriesPerObject
        self.answerLimit = answerLimit
        self.executeLimit = executeLimit
        self.receiptLimit = receiptLimit
        self.sendLimit = sendLimit
    }

    /// Settings for a pace: at pace 0 as fast as most bootloaders allow, and slower with each pace
    /// above; then there is also a pause after the first object, which some bootloaders need.
    package init?(maximumLength: Int, pace: Int, times: UploadTimes = UploadTimes()) {
        guard
            var settings = UploadSettings(
                maximumLength: maximumLength,
                firstObjectDelay: pace > 0 ? .milliseconds(400) : .zero,
                answerLimit: times.answer ?? .seconds(10),
                executeLimit: times.check ?? .seconds(30)
            )
        else { return nil }
        for _ in 0..<max(0, pace) { settings = settings.slower ?? settings }
        self = settings
    }

    /// The same settings with fewer packets on their way, for a target that loses some; nil when
    /// there are no slower ones.
    package var slower: UploadSettings? {
        guard receiptInterval != 1 else { return nil }
        return UploadSettings(
            maximumLength: packetLength,
            receiptInterval: receiptInterval > 6 || receiptInterval == 0 ? 6 : 1,
            firstObjectDelay: firstObjectDelay,
            retriesPerObject: retriesPerObject,
            answerLimit: answerLimit,
            executeLimit: executeLimit,
            receiptLimit: receiptLimit,
            sendLimit: sendLimit
        )
    }
}
