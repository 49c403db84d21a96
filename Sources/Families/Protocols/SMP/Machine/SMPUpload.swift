package import Base
package import Radio

/// The client's side of one upload over SMP on one link.
///
/// The first piece is sent alone: its answer contains the offset of the device, so after a lost
/// link a new machine on the next link is enough. Then one piece less than the device has buffers
/// may be on its way. Answers are cumulative: `off` is the next byte that the device wants. When it
/// is not the end of the sent piece, something was lost: the client waits for the pieces that are
/// on their way and continues from `off`.
package struct SMPUpload: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `opening`.
        case idle
        /// The first piece is on its way, alone.
        ///
        /// Next: `sending`, `pausing`.
        case opening
        /// Pieces are on their way. Next: `draining`, `ended`.
        case sending
        /// The device wants another offset; waiting for the pieces that are still on their way.
        ///
        /// Next: `sending`, `opening`, `pausing`.
        case draining(offset: Int, isBusy: Bool)
        /// The device is busy. Next: `sending`, `opening`.
        case pausing
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        /// The device has the whole image; `matches` is the result of its own digest check, if it
        /// made one.
        case finished(matches: Bool?)
        /// Stopped on request; the device has the bytes before this offset.
        case stopped(at: Int)
        case failed(SMPUploadError)
    }

    package enum Action: Equatable, Sendable {
        /// Send this message, then call `sent`.
        case send([UInt8])
        /// Wait for a message, at most until `deadline`.
        case wait
        /// Call `pauseOver` at this moment.
        case pause(until: Moment)
        case ended(Ending)
    }

    /// A message that is on its way.
    struct Flight: Equatable, Sendable {
        let sequence: UInt8
        let start: Int
        let end: Int
    }

    package let settings: SMPSettings
    package internal(set) var state = State.idle
    /// The time at which `timeout` is due; nil before the beginning and after the end.
    package internal(set) var deadline: Moment?
    /// The number of bytes that the device reports to have.
    package internal(set) var acknowledged = 0
    /// The offset at which this link continued the image.
    package internal(set) var resumedFrom = 0
    /// Image bytes that were passed to the radio, repeats included.
    package internal(set) var sent = 0
    /// The sequence number for the next request on this link.
    package internal(set) var sequence: UInt8
    /// Whether pieces end at multiples of four, because the device writes only whole words.
    package internal(set) var isAligned = false

    let file: [UInt8]
    let image: Int
    let version: UInt8
    /// Whether the device may have the beginning already: then the first piece is as short as
    /// possible.
    let isBegun: Bool
    /// The digest by which the device recognises the image; nil to begin again.
    var sha: [UInt8]?
    var window: Int
    var flights: [Flight] = []
    /// The end of the bytes that were passed to the radio or are being passed.
    var handed = 0
    var triesLeft: Int
    var busyLeft: Int
    var isStopping = false
    /// The result of the device's check of the whole image, when it has reported one.
    var matches: Bool?

    /// An upload of `file` as the device's image number `image`.
    ///
    /// Without `sha` the device cannot resume and begins again.
    package init(
        file: [UInt8],
        image: Int = 0,
        sha: [UInt8]?,
        isBegun: Bool = false,
        settings: SMPSettings,
        sequence: UInt8,
        version: UInt8 = 1
    ) {
        self.file = file
        self.image = image
        self.sha = sha
        self.isBegun = isBegun
        self.settings = settings
        self.sequence = sequence
        self.version = version
        window = settings.window
        triesLeft = settings.retries
        busyLeft = settings.busyLimit
    }

    package var total: Int { file.count }

    // MARK: Events

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        guard (SMPNumbers.firstChunkMinimum...Int(UInt32.max)).contains(total) else {
            return end(.failed(.unfitLength(total)))
        }
        return open(at: now)
    }

    /// The radio took the last message.
    package mutating func sent(at now: Moment) -> Action {
        guard state == .sending else { return pending }
        extend(at: now)
        return goOn(at: now)
    }

    package mutating func received(_ frame: SMPFrame, at now: Moment) -> Action {
        guard let index = flight(answeredBy: frame.header) else { return overdue(at: now) }
        let reply: SMPReply
        do throws(SMPReplyError) {
            reply = try SMPReply(frame)
        } catch { return end(.failed(.malformed(error.description))) }
        let flight = flights[index]
        // A device answers in order: earlier messages are answered or lost.
        flights.removeFirst(index + 1)
        if let fault = reply.fault { return refused(fault, flight, at: now) }
        let answer: SMPUploadReply
        do throws(SMPReplyError) {
            answer = try SMPUploadReply(reply.body)
        } catch { return end(.failed(.malformed(error.description))) }
        // Without an offset, the device accepted the piece; the list of images will show whether it
        // did.
        let offset = answer.offset ?? flight.end
        guard offset <= total else { return end(.failed(.beyondImage(offset: offset))) }
        if let told = answer.matches { matches = told }
        switch state {
        case .opening: return opened(flight, wants: offset, at: now)
        case .sending: return answered(flight, wants: offset, at: now)
        case .draining(let wanted, let isBusy):
            state = .draining(offset: answer.offset ?? wanted, isBusy: isBusy)
            return drained(at: now)
        case .idle, .pausing, .ended: return pending
        }
    }

    package mutating func pauseOver(at now: Moment) -> Action {
        guard state == .pausing else { return pending }
        return resume(at: now)
    }

    /// Ends the upload when the pieces that are on their way are answered.
    package mutating func stopRequested() -> Action {
        isStopping = true
        if state == .idle { return end(.stopped(at: 0)) }
        return pending
    }

    package mutating func linkFailed(_ failure: LinkFailure) -> Action {
        if case .ended = state { return pending }
        return end(.failed(.link(failure)))
    }

    package mutating func timeout(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return pending }
        switch state {
        case .idle, .ended: return pending
        case .pausing: return resume(at: now)
        case .opening:
            guard spendTry() else { return end(.failed(.noAnswer(offset: 0))) }
            // A device whose erase takes longer than expected answers the first attempt.
            return open(at: now, after: flights)
        case .sending:
            flights = []
            guard spendTry() else { return end(.failed(.noAnswer(offset: acknowledged))) }
            window = max(1, window - 1)
            handed = acknowledged
            return resume(at: now)
        case .draining:
            // Pieces that are not answered by now are lost.
            flights = []
            return drained(at: now)
        }
    }

    // MARK: Moving on

    /// The action after an event that changed nothing.
    var pending: Action {
        switch state {
        case .ended(let ending): .ended(ending)
        case .pausing: .pause(until: deadline ?? Moment(nanoseconds: 0))
        case .idle, .opening, .sending, .draining: .wait
        }
    }

    mutating func end(_ ending: Ending) -> Action {
        deadline = nil
        state = .ended(ending)
        return .ended(ending)
    }

    mutating func spendTry() -> Bool {
        guard triesLeft > 0 else { return false }
        triesLeft -= 1
        return true
    }

    /// Messages about other things must not keep us beyond the deadline.
    private mutating func overdue(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return pending }
        return timeout(at: now)
    }
}
