package import Base
package import Radio

/// One request and its answer on one link; the request is sent again when no answer arrives.
///
/// Each time it has a sequence number of its own. An answer to any of them counts; everything else
/// is skipped.
package struct SMPExchange: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `asking`.
        case idle
        /// Next: `pausing`, `ended`, or `asking` again.
        case asking
        /// The device is busy. Next: `asking`.
        case pausing
        case ended(Ending)
    }

    package enum Ending: Equatable, Sendable {
        case answered(SMPReply)
        case refused(SMPFault)
        /// No answer to the request arrived.
        case unanswered
        case malformed(SMPReplyError)
        case link(LinkFailure)
    }

    package enum Action: Equatable, Sendable {
        /// Send this message, then wait.
        case send([UInt8])
        /// Wait for a message, at most until `deadline`.
        case wait
        /// Call `pauseOver` at this moment.
        case pause(until: Moment)
        case ended(Ending)
    }

    package let request: SMPRequest
    package private(set) var state = State.idle
    package private(set) var deadline: Moment?
    /// The sequence number for the next request on this link.
    package private(set) var sequence: UInt8
    /// The protocol version of requests: the first one when the device supports no other.
    package private(set) var version: UInt8
    private let limit: Duration
    private let busyPause: Duration
    private var triesLeft: Int
    private var busyLeft: Int
    private var asked: [UInt8] = []

    package init(
        _ request: SMPRequest,
        sequence: UInt8,
        version: UInt8 = 1,
        limit: Duration,
        tries: Int = 3,
        busyPause: Duration = .milliseconds(100),
        busyLimit: Int = 100
    ) {
        precondition(tries >= 1, "a request is asked at least once")
        self.request = request
        self.sequence = sequence
        self.version = version
        self.limit = limit
        self.busyPause = busyPause
        triesLeft = request.isRepeatable ? tries : 1
        busyLeft = busyLimit
    }

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        return ask(at: now)
    }

    package mutating func received(_ frame: SMPFrame, at now: Moment) -> Action {
        guard state == .asking, isAnswer(frame.header) else { return overdue(at: now) }
        let reply: SMPReply
        do throws(SMPReplyError) {
            reply = try SMPReply(frame)
        } catch { return end(.malformed(error)) }
        let asked = version
        version = min(version, frame.header.version)
        guard let fault = reply.fault else { return end(.answered(reply)) }
        if fault.isBusy, busyLeft > 0 {
            busyLeft -= 1
            state = .pausing
            let moment = now.advanced(by: busyPause)
            deadline = moment
            return .pause(until: moment)
        }
        if case .code(.versionTooNew, _) = fault, asked > 0 {
            version = 0
            return ask(at: now)
        }
        return end(.refused(fault))
    }

    package mutating func pauseOver(at now: Moment) -> Action {
        guard state == .pausing else { return pending }
        return ask(at: now)
    }

    package mutating func timeout(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return pending }
        switch state {
        case .idle, .ended: return pending
        case .pausing: return ask(at: now)
        case .asking:
            triesLeft -= 1
            return triesLeft > 0 ? ask(at: now) : end(.unanswered)
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure) -> Action {
        if case .ended = state { return pending }
        return end(.link(failure))
    }

    private func isAnswer(_ header: SMPHeader) -> Bool {
        asked.contains { number in
            header.answers(request.header(version: 0, sequence: number, payloadLength: 0))
        }
    }

    /// Messages about other things must not keep us beyond the deadline.
    private mutating func overdue(at now: Moment) -> Action {
        guard state == .asking, let deadline, now >= deadline else { return pending }
        return timeout(at: now)
    }

    private mutating func ask(at now: Moment) -> Action {
        state = .asking
        deadline = now.advanced(by: limit)
        asked.append(sequence)
        defer { sequence &+= 1 }
        return .send(request.bytes(version: version, sequence: sequence))
    }

    private mutating func end(_ ending: Ending) -> Action {
        deadline = nil
        state = .ended(ending)
        return .ended(ending)
    }

    private var pending: Action {
        switch state {
        case .ended(let ending): .ended(ending)
        case .pausing: .pause(until: deadline ?? Moment(nanoseconds: 0))
        case .idle, .asking: .wait
        }
    }
}
