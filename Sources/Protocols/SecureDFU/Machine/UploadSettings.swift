package import Sessions

/// How an upload goes about its work on one link.
package struct UploadSettings: Equatable, Sendable {
    /// Bytes of one packet.
    package let packetLength: Int
    /// The target reports after so many packets; 0 switches that off.
    package let receiptInterval: UInt16
    /// Packets that may be under way beyond the last one acknowledged.
    ///
    /// Only receipts move it, so without them an object goes out in one piece.
    package let window: Int
    /// What some bootloaders (SDK 15 and 16) need after the first data object is created; packets
    /// that come sooner are lost.
    package let firstObjectDelay: Duration
    /// The same for a first object that did not arrive as it was sent.
    package static let delayAfterLoss = Duration.milliseconds(400)
    /// How often one object is begun again before the upload is given up.
    package let retriesPerObject: Int
    /// For the answer to a request.
    package let answerLimit: Duration
    /// For the answer to an execution: the last one checks the whole image.
    package let executeLimit: Duration
    /// For the next receipt, and for a checksum that may have been lost; then it is asked for.
    package let receiptLimit: Duration
    /// For putting the packets of one range into the radio.
    package let sendLimit: Duration

    /// `maximumLength` is the link's; 12 packets a receipt is what the maker's own tools use, and
    /// two intervals of them keep the radio busy while a receipt is on its way.
    ///
    /// Nil when the link is shorter than any ATT link, when the window is shorter than the
    /// receipt interval, so that both sides would wait for each other, or when a time is negative.
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

    /// As fast as most bootloaders take it at pace 0, and more cautious with each pace above: the
    /// first object then waits too, which some bootloaders need.
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

    /// The same with fewer packets under way, for a target that loses some; nil when there is no
    /// slower way.
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
