package import Domain
package import Sessions

/// Carries messages to and from a vehicle in add-on frames, after a handshake.
///
/// One frame goes out at a time, in pieces of what the link carries; the others wait in a queue. A
/// message counts as sent when the vehicle accepted it, not when its bytes left.
package struct AddOnTransport: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `connecting`.
        case idle
        /// Until the socket is open. Next: `syncing`, `closed`.
        case connecting
        /// A sync byte goes out each second. Next: `handshaking`, `closed`.
        case syncing(next: Moment, until: Moment)
        /// Confirmed; the sync byte comes again after a while. Next: `connected`, `closed`.
        case handshaking(next: Moment, until: Moment)
        /// Next: `closed`.
        case connected
        case closed(AddOnTransportError?)
    }

    package enum Action: Equatable, Sendable {
        /// One piece to the vehicle; `pieceSent` follows, or `linkFailed`.
        case notify([UInt8])
        case opened
        /// The last piece of the message goes out now: from here on the vehicle may have it.
        case messageLeaves
        case accepted
        case rejected
        case received([UInt8])
        case damaged(AddOnFrameError)
        /// What the vehicle says of itself.
        case vehicleData([UInt8])
        case note(CarShareNote)
        /// Close the socket; nil when that was asked for.
        case closed(AddOnTransportError?)
    }

    private enum Outgoing: Equatable {
        case sync
        case confirmation
        case message(AddOnFrame)
    }

    private struct Piecemeal {
        var isMessage: Bool
        var rest: ArraySlice<UInt8>
    }

    package private(set) var state = State.idle
    private let limits: CarShareLimits
    private var maximumLength = 20
    private var queue: [Outgoing] = []
    private var current: Piecemeal?
    /// Whether a message has left and its acceptance is still to come.
    private var awaitsReply = false
    private var assembler: AddOnAssembler
    private var nextPiece: Moment?

    package init(limits: CarShareLimits = CarShareLimits(), sums: AddOnSums = .trusting) {
        self.limits = limits
        assembler = AddOnAssembler(sums: sums)
    }

    /// When `timeout` is due.
    package var deadline: Moment? {
        let own: Moment? =
            switch state {
            case .syncing(let next, let until), .handshaking(let next, let until):
                min(next, until)
            case .idle, .connecting, .connected, .closed: nil
            }
        guard let own, let nextPiece else { return own ?? nextPiece }
        return min(own, nextPiece)
    }

    /// Frames that wait for the one that is going out.
    package var waiting: Int { queue.count }

    // MARK: Opening and closing

    package mutating func open() -> [Action] {
        switch state {
        case .idle:
            state = .connecting
            return []
        case .connecting, .syncing, .handshaking, .connected, .closed:
            return []
        }
    }

    package mutating func socketOpened(maximumLength: Int, at now: Moment) -> [Action] {
        switch state {
        case .connecting:
            self.maximumLength = max(1, maximumLength)
            state = .syncing(
                next: now.advanced(by: limits.sync),
                until: now.advanced(by: limits.handshake)
            )
            return enqueue(.sync)
        case .idle, .syncing, .handshaking, .connected, .closed:
            return []
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure) -> [Action] {
        switch state {
        case .idle, .closed: []
        case .connecting, .syncing, .handshaking, .connected: close(.link(failure))
        }
    }

    /// The vehicle is not the one that we are here for.
    package mutating func leave(vehicle serial: Serial) -> [Action] {
        switch state {
        case .closed: []
        case .idle, .connecting, .syncing, .handshaking, .connected: close(.otherVehicle(serial))
        }
    }

    package mutating func close() -> [Action] {
        switch state {
        case .closed: []
        case .idle, .connecting, .syncing, .handshaking, .connected: close(nil)
        }
    }

    private mutating func close(_ error: AddOnTransportError?) -> [Action] {
        state = .closed(error)
        queue = []
        current = nil
        awaitsReply = false
        nextPiece = nil
        _ = assembler.abandon()
        return [.closed(error)]
    }

    // MARK: Sending

    /// Why a message is not taken; nothing of it was sent.
    package enum Refusal: Error, Hashable, Sendable {
        case notConnected
        /// The one before it is not accepted yet.
        case busy
        case length(Int)
    }

    package mutating func send(_ body: [UInt8]) throws(Refusal) -> [Action] {
        guard case .connected = state else { throw .notConnected }
        guard !hasMessage else { throw .busy }
        guard let frame = try? AddOnFrame(.messageToVehicle, body) else {
            throw .length(body.count)
        }
        return enqueue(.message(frame))
    }

    private var hasMessage: Bool {
        awaitsReply || current?.isMessage == true
            || queue.contains { if case .message = $0 { true } else { false } }
    }

    /// Anyone who sent the message has given it up: what has not gone out of it never does, and a
    /// reply to it is one to nothing.
    package mutating func forgetMessage() {
        awaitsReply = false
        queue.removeAll { if case .message = $0 { true } else { false } }
        guard current?.isMessage == true else { return }
        current = Piecemeal(isMessage: false, rest: [])
    }

    /// What waits already is not put there a second time, so the queue is bounded.
    private mutating func enqueue(_ outgoing: Outgoing) -> [Action] {
        guard !queue.contains(outgoing) else { return [] }
        queue.append(outgoing)
        return current == nil ? begin() : []
    }

    private mutating func begin() -> [Action] {
        guard !queue.isEmpty else { return [] }
        switch queue.removeFirst() {
        case .sync: current = Piecemeal(isMessage: false, rest: [AddOnNumbers.sync])
        case .confirmation:
            current = Piecemeal(isMessage: false, rest: AddOnFrame.confirmation().bytes[...])
        case .message(let frame): current = Piecemeal(isMessage: true, rest: frame.bytes[...])
        }
        return piece()
    }

    private mutating func piece() -> [Action] {
        guard var going = current else { return [] }
        let piece = Array(going.rest.prefix(maximumLength))
        going.rest = going.rest.dropFirst(maximumLength)
        current = going
        guard going.isMessage, going.rest.isEmpty else { return [.notify(piece)] }
        awaitsReply = true
        return [.messageLeaves, .notify(piece)]
    }

    /// The socket has taken the piece.
    package mutating func pieceSent() -> [Action] {
        guard let going = current else { return [] }
        guard going.rest.isEmpty else { return piece() }
        current = nil
        return begin()
    }

    // MARK: Receiving

    package mutating func received(_ bytes: [UInt8], at now: Moment) -> [Action] {
        switch state {
        case .idle, .connecting, .closed:
            return [.note(.bytesOutsideSession(bytes.count))]
        case .syncing, .handshaking, .connected:
            guard !bytes.isEmpty else { return [.note(.emptyWrite)] }
            let events = assembler.take(bytes)
            nextPiece = assembler.isMidFrame ? now.advanced(by: limits.piece) : nil
            return events.flatMap { take($0, at: now) }
        }
    }

    private mutating func take(_ event: AddOnAssembler.Event, at now: Moment) -> [Action] {
        switch (state, event) {
        case (.syncing, .damaged(let error)), (.handshaking, .damaged(let error)):
            return close(.damagedHandshake(error))
        case (.connected, .damaged(let error)):
            return [.damaged(error)]
        case (.syncing(_, let until), .frame(let frame)):
            guard frame == .handshakeRequest else { return close(.invalidHandshake(frame.type)) }
            return confirm(until: until, at: now)
        case (.handshaking(_, let until), .frame(let frame)):
            if frame == .acknowledgement {
                state = .connected
                return [.opened]
            }
            guard frame == .handshakeRequest else { return close(.invalidHandshake(frame.type)) }
            return [.note(.handshakeRepeated)] + confirm(until: until, at: now)
        case (.connected, .frame(let frame)):
            return take(frame)
        case (.idle, _), (.connecting, _), (.closed, _):
            return []
        }
    }

    private mutating func confirm(until: Moment, at now: Moment) -> [Action] {
        state = .handshaking(next: now.advanced(by: limits.acknowledgement), until: until)
        return enqueue(.confirmation)
    }

    private mutating func take(_ frame: AddOnFrame) -> [Action] {
        switch frame.type {
        case .reply:
            let isAccepted = frame.body.first == 1
            guard awaitsReply else { return [.note(.replyToNothing(accepted: isAccepted))] }
            awaitsReply = false
            return [isAccepted ? .accepted : .rejected]
        case .messageToHost:
            return [.received(frame.body)]
        case .handshakeRequest:
            return [.note(.handshakeRepeated)] + enqueue(.confirmation)
        case .acknowledgement:
            // Of a confirmation that was asked for again: it says nothing about messages.
            return []
        case .vehicleData:
            return [.note(.frame(frame.type)), .vehicleData(frame.body)]
        case .serverPacket, .longServerPacket, .protobufToHost, .version, .status,
            .confirmation, .freeFormat, .vehicleDataAcknowledgement, .vehicleDataRequest,
            .packetToServer, .priorityStatus, .messageToVehicle, .ping, .longPacketToServer,
            .versionRequest, .protobufToVehicle:
            return [.note(.frame(frame.type))]
        }
    }

    // MARK: Time

    package mutating func timeout(at now: Moment) -> [Action] {
        if let nextPiece, now >= nextPiece {
            self.nextPiece = nil
            if let event = assembler.abandon() { return take(event, at: now) }
        }
        switch state {
        case .syncing(let next, let until):
            guard now < until else { return close(.noRequest) }
            guard now >= next else { return [] }
            state = .syncing(next: now.advanced(by: limits.sync), until: until)
            return enqueue(.sync)
        case .handshaking(let next, let until):
            guard now < until else { return close(.noAcknowledgement) }
            guard now >= next else { return [] }
            state = .handshaking(next: now.advanced(by: limits.sync), until: until)
            return enqueue(.sync)
        case .idle, .connecting, .connected, .closed:
            return []
        }
    }
}

/// Why the transport is not open any more.
package enum AddOnTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another frame than the handshake asks for.
    case invalidHandshake(AddOnType)
    case damagedHandshake(AddOnFrameError)
    /// The vehicle never asked for the handshake.
    case noRequest
    /// It asked, and did not acknowledge our confirmation.
    case noAcknowledgement
    /// It is another vehicle than the token's, by its own words.
    case otherVehicle(Serial)
    case link(LinkFailure)

    package var description: String {
        switch self {
        case .invalidHandshake(let type):
            "in the handshake the vehicle sent a frame of type 0x\(Hex.text([type.rawValue]))"
        case .damagedHandshake(let error): "in the handshake the vehicle sent \(error)"
        case .noRequest: "the vehicle did not begin the handshake"
        case .noAcknowledgement: "the vehicle did not acknowledge the handshake"
        case .otherVehicle(let serial):
            "the vehicle says that it is \(serial), and the token is for another one"
        case .link(let failure): failure.description
        }
    }
}
