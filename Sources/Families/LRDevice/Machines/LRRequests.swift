package import Base

/// Matches the messages of an LR device with our requests; each request ends exactly once.
///
/// A reply contains only its command, so a late reply cannot be told from one to a newer request.
/// Therefore a command has one request at a time, and after a timeout it is not sent again on this
/// link.
package struct LRRequests: Sendable {
    /// Identifies one request.
    package struct Ticket: Hashable, Sendable {
        let number: Int
    }

    package enum Event: Equatable, Sendable {
        case completed(Ticket, LRMessage)
        case failed(Ticket, LRRequestError)
        /// Sent by the device unasked.
        case notified(LRMessage)
        /// No request is open for it: a late reply, or bytes that are not a message.
        case ignored(LRStray)
    }

    /// A message that belongs to no request.
    package enum LRStray: Equatable, Sendable {
        case unasked(LRCommand)
        case unreadable(LRMessageError)
    }

    package static let limit = Duration.seconds(10)

    private struct Pending: Sendable {
        let ticket: Ticket
        let deadline: Moment
    }

    /// Requests by their commands, one for each command.
    private var pending: [LRCommand: Pending] = [:]
    private var overdue: Set<LRCommand> = []
    private var isOver = false
    private var next = 0

    package init() {}

    /// The time at which `timeout` is due; nil while no request is open.
    package var deadline: Moment? { pending.values.map(\.deadline).min() }

    /// Registers a request that is about to be written.
    package mutating func begin(
        _ command: LRCommand,
        at now: Moment,
        limit: Duration = Self.limit
    ) throws(LRRequestError) -> Ticket {
        guard !isOver else { throw .linkLost }
        guard pending[command] == nil else { throw .busy(command) }
        guard !overdue.contains(command) else { throw .unsettled(command) }
        let ticket = Ticket(number: next)
        next += 1
        pending[command] = Pending(ticket: ticket, deadline: now.advanced(by: limit))
        return ticket
    }

    /// The device sent something.
    package mutating func received(_ bytes: [UInt8]) -> Event {
        let message: LRMessage
        do throws(LRMessageError) {
            message = try LRMessage(bytes)
        } catch { return .ignored(.unreadable(error)) }
        if message.kind == .notification { return .notified(message) }
        guard let asked = pending.removeValue(forKey: message.command) else {
            return .ignored(.unasked(message.command))
        }
        guard message.kind == .reply else {
            return .failed(asked.ticket, .wrongKind(message.command))
        }
        return .completed(asked.ticket, message)
    }

    /// The requests whose time is over, in the order in which they were made.
    package mutating func timeout(at now: Moment) -> [Ticket] {
        let late = pending.filter { $0.value.deadline <= now }
        for command in late.keys {
            pending[command] = nil
            overdue.insert(command)
        }
        return late.values.map(\.ticket).sorted { $0.number < $1.number }
    }

    /// A request failed before the device received it.
    package mutating func withdraw(_ ticket: Ticket) {
        pending = pending.filter { $0.value.ticket != ticket }
    }

    /// Ends all requests; returns those that were open.
    package mutating func linkLost() -> [Ticket] {
        isOver = true
        defer { pending = [:] }
        return pending.values.map(\.ticket).sorted { $0.number < $1.number }
    }
}

/// Why a request to an LR device has no answer.
package enum LRRequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A request with the same command is open.
    case busy(LRCommand)
    /// An earlier request on this link was not answered in time: a late answer would look like a
    /// new one.
    case unsettled(LRCommand)
    /// The device answered with a message that is not a reply.
    case wrongKind(LRCommand)
    case timedOut(LRCommand)
    case linkLost

    package var failureClass: FailureClass {
        switch self {
        case .busy, .unsettled, .timedOut, .linkLost: .transient
        case .wrongKind: .device
        }
    }

    package var description: String {
        switch self {
        case .busy(let command): "\(command) is being asked already; wait for its answer"
        case .unsettled(let command):
            "\(command) was not answered on this link before; connect again before you ask again"
        case .wrongKind(let command):
            "the device answered \(command) with something that is no reply; restart it, and "
                + "look for newer firmware if it happens again"
        case .timedOut(let command):
            "the device did not answer \(command); go nearer, or restart it"
        case .linkLost: "the link to the device was lost; try again"
        }
    }
}
