package import Base
package import Radio

/// A link to an LR device, for requests.
package final class LRClient {
    /// The number of notifications that are kept for the caller; the oldest are dropped first.
    private static let inboxBound = 64

    private let link: any Link
    private let time: any Timekeeper
    private let replies: any Subscription
    private let answerLimit: Duration
    private var requests = LRRequests()
    private var inbox: [LRMessage] = []
    /// Number of notifications that were dropped because no caller took them.
    package private(set) var dropped = 0
    /// Number of messages that answered no open request.
    package private(set) var strays = 0
    /// Gets each answer and each notification, when it is received.
    package var hears: (@Sendable (LRMessage) -> Void)?

    /// Prepares the device for requests: it must have both characteristics, and we subscribe to the
    /// replies.
    package init(
        link: any Link,
        time: any Timekeeper,
        answerLimit: Duration = ProfileShape.usualAnswerLimit
    ) async throws(LRError) {
        self.answerLimit = answerLimit
        self.link = link
        self.time = time
        do throws(RadioError) {
            try link.require(LRNumbers.request)
            replies = try await link.subscribe(
                to: LRNumbers.reply,
                before: time.now.advanced(by: answerLimit)
            )
        } catch { throw .radio(error) }
    }

    package func disconnect() async { await link.disconnect() }

    /// Sends a request and waits for its one reply.
    ///
    /// Never sends a request twice on its own: a sealed one could act twice.
    package func ask(
        _ command: LRCommand,
        isSealed: Bool = false,
        payload: [UInt8] = [],
        limit: Duration? = nil
    ) async throws(LRError) -> [UInt8] {
        guard
            let message = LRMessage(.request, command, isSealed: isSealed, payload: payload)
        else { throw .tooLong(payload.count, limit: LRMessage.longestPayload) }
        guard message.bytes.count <= link.maximumLength else {
            throw .tooLong(
                payload.count,
                limit: max(0, link.maximumLength - LRMessage.headerLength)
            )
        }
        let limit = limit ?? answerLimit
        let ticket: LRRequests.Ticket
        do throws(LRRequestError) {
            ticket = try requests.begin(command, at: time.now, limit: limit)
        } catch { throw .request(error) }
        let deadline = time.now.advanced(by: limit)
        do throws(RadioError) {
            try await link.write(message.bytes, to: LRNumbers.request, before: deadline)
        } catch {
            if error == .linkLost { _ = requests.linkLost() }
            requests.withdraw(ticket)
            // A write that is cut off may be in the air already.
            throw [.timedOut, .linkLost, .cancelled].contains(error)
                ? .unanswered(command, .radio(error)) : .radio(error)
        }
        return try await answer(to: ticket, command)
    }

    private func answer(
        to ticket: LRRequests.Ticket,
        _ command: LRCommand
    ) async throws(LRError) -> [UInt8] {
        while true {
            let deadline = requests.deadline ?? time.now
            let bytes: [UInt8]
            do throws(RadioError) {
                bytes = try await replies.next(before: deadline)
            } catch {
                guard error == .timedOut else {
                    _ = requests.linkLost()
                    throw .unanswered(command, .radio(error))
                }
                let late = requests.timeout(at: max(time.now, deadline))
                guard late.contains(ticket) else { continue }
                throw .unanswered(command, .request(.timedOut(command)))
            }
            switch requests.received(bytes) {
            case .completed(ticket, let reply):
                hears?(reply)
                return reply.payload
            // The request was sent and something was received: it is unknown whether it was carried
            // out.
            case .failed(ticket, let error): throw .unanswered(command, .request(error))
            case .notified(let message): keep(message)
            case .completed, .failed, .ignored: strays += 1
            }
        }
    }

    /// The next notification, nil when none arrived by the deadline.
    package func notification(before deadline: Moment) async throws(LRError) -> LRMessage? {
        while inbox.isEmpty {
            let bytes: [UInt8]
            do throws(RadioError) {
                bytes = try await replies.next(before: deadline)
            } catch {
                guard error == .timedOut else { throw .radio(error) }
                return nil
            }
            if case .notified(let message) = requests.received(bytes) {
                keep(message)
            } else {
                strays += 1
            }
        }
        return inbox.removeFirst()
    }

    private func keep(_ message: LRMessage) {
        hears?(message)
        if inbox.count == Self.inboxBound {
            inbox.removeFirst()
            dropped += 1
        }
        inbox.append(message)
    }
}
