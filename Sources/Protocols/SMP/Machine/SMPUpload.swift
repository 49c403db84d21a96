package import Domain
package import Sessions

/// The client's side of one upload over SMP on one link.
///
/// The first piece goes alone: its answer says where the device stands, so a lost link needs nothing
/// but a new machine on the next one. Then as many pieces are on their way as the device has
/// buffers for, less one. Answers are cumulative: `off` is the byte that the device wants next. One
/// that is not what was sent means that something is lost: what is on its way is awaited, then it
/// goes on from there.
package struct SMPUpload: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `opening`.
        case idle
        /// The first piece is on its way, alone. Next: `sending`, `pausing`.
        case opening
        /// Pieces are on their way. Next: `draining`, `ended`.
        case sending
        /// The device wants something else: what is still on its way is awaited.
        /// Next: `sending`, `opening`, `pausing`.
        case draining(offset: Int, isBusy: Bool)
        /// The device is busy. Next: `sending`, `opening`.
        case pausing
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        /// The device has all of it; `matches` is its own check of the digest, when it made one.
        case finished(matches: Bool?)
        /// As asked; the device has what comes before this offset.
        case stopped(at: Int)
        case failed(SMPUploadError)
    }

    package enum Action: Equatable, Sendable {
        /// Send this message, then tell `sent`.
        case send([UInt8])
        /// Wait for a message, at most until `deadline`.
        case wait
        /// Tell `pauseOver` at this moment.
        case pause(until: Moment)
        case ended(Ending)
    }

    /// A message on its way.
    struct Flight: Equatable, Sendable {
        let sequence: UInt8
        let start: Int
        let end: Int
    }

    package let settings: SMPSettings
    package internal(set) var state = State.idle
    /// When `timeout` is due; nil before the beginning and after the end.
    package internal(set) var deadline: Moment?
    /// Bytes that the device has, by its own words.
    package internal(set) var acknowledged = 0
    /// Where this link took the image up.
    package internal(set) var resumedFrom = 0
    /// Image bytes given to the radio, repeats included.
    package internal(set) var sent = 0
    /// For the next request on this link.
    package internal(set) var sequence: UInt8
    /// Pieces are cut at multiples of four: the device wrote no others.
    package internal(set) var isAligned = false

    let file: [UInt8]
    let image: Int
    let version: UInt8
    /// The device may know the beginning already: then no more of it is sent than asks for that.
    let isBegun: Bool
    /// The digest by which the device knows the image again; nil starts over.
    var sha: [UInt8]?
    var window: Int
    var flights: [Flight] = []
    /// Given to the radio, or being given.
    var handed = 0
    var triesLeft: Int
    var busyLeft: Int
    var isStopping = false
    /// The device's check of the whole, once it has told.
    var matches: Bool?

    /// An upload of `file` as the device's image number `image`.
    ///
    /// Without `sha` the device has nothing to resume by and begins again.
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

    /// The message handed out last is with the radio.
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
        // A device answers in order: what was sent before this is answered or lost.
        flights.removeFirst(index + 1)
        if let fault = reply.fault { return refused(fault, flight, at: now) }
        let answer: SMPUploadReply
        do throws(SMPReplyError) {
            answer = try SMPUploadReply(reply.body)
        } catch { return end(.failed(.malformed(error.description))) }
        // Without an offset it took what it was sent: whether it did, the list of images shows.
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

    /// Ends the upload once what is on its way is answered.
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
            // A device that erases for longer than anybody thought answers the first asking.
            return open(at: now, after: flights)
        case .sending:
            flights = []
            guard spendTry() else { return end(.failed(.noAnswer(offset: acknowledged))) }
            window = max(1, window - 1)
            handed = acknowledged
            return resume(at: now)
        case .draining:
            // What has not answered by now is lost.
            flights = []
            return drained(at: now)
        }
    }

    // MARK: Moving on

    /// What stands to be done when an event changed nothing.
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

    /// A device that talks of other things must not hold us beyond the deadline.
    private mutating func overdue(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return pending }
        return timeout(at: now)
    }
}
