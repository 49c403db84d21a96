package import Base
package import Radio

/// Sends and receives messages of a vehicle in add-on frames, after a handshake.
///
/// One frame at a time is sent, in pieces that fit the link; the others wait in a queue. A message
/// counts as sent when the vehicle has accepted it, not when its bytes have left.
package struct AddOnTransport: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `connecting`.
        case idle
        /// The socket is being opened. Next: `syncing`, `closed`.
        case connecting
        /// A sync byte is sent each second. Next: `handshaking`, `closed`.
        case syncing(next: Moment, until: Moment)
        /// The confirmation is sent; without an acknowledgement the sync bytes begin again. Next:
        /// `connected`, `closed`.
        case handshaking(next: Moment, until: Moment)
        /// Next: `closed`.
        case connected
        case closed(AddOnTransportError?)
    }

    package enum Action: Equatable, Sendable {
        /// Send one piece to the vehicle; `pieceSent` or `linkFailed` follows.
        case notify([UInt8])
        case opened
        /// From now on the vehicle may have the message: what is left of it can be guessed.
        case messageLeaves
        case accepted
        case rejected
        case received([UInt8])
        case damaged(AddOnFrameError)
        /// The vehicle data frame.
        case vehicleData([UInt8])
        case note(CarShareNote)
        /// Close the socket; nil when the caller asked for it.
        case closed(AddOnTransportError?)
    }

    private enum Outgoing: Equatable {
        case sync
        case confirmation
        case vehicleDataRequest
        case message(AddOnFrame)
    }

    private struct Piecemeal {
        var isMessage: Bool
        var rest: ArraySlice<UInt8>
        /// Whether the vehicle may have the message, as it can guess the rest.
        var hasLeft = false
    }

    /// A message counts as sent when no more bytes than these are left: what follows a signature is
    /// known to anybody, and missing bytes of a signature can be tried.
    private static let guessable = 32

    package private(set) var state = State.idle
    private let limits: CarShareLimits
    private var maximumLength = 20
    private var queue: [Outgoing] = []
    private var current: Piecemeal?
    /// Whether a message was sent and its acceptance has not arrived.
    private var awaitsReply = false
    private var assembler: AddOnAssembler
    private var nextPiece: Moment?

    package init(limits: CarShareLimits = CarShareLimits(), sums: AddOnSums = .trusting) {
        self.limits = limits
        assembler = AddOnAssembler(sums: sums)
    }

    /// The time at which `timeout` is due.
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

    /// Number of frames that wait for the current one.
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

    /// Closes because this is not the vehicle that the token is for.
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

    /// Why a message is refused; no part of it was sent.
    package enum Refusal: Error, Hashable, Sendable {
        case notConnected
        /// The previous message is not accepted yet.
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

    /// Asks the vehicle for the data with its serial.
    package mutating func askForVehicleData() -> [Action] {
        guard case .connected = state else { return [] }
        return enqueue(.vehicleDataRequest)
    }

    private var hasMessage: Bool {
        awaitsReply || current?.isMessage == true
            || queue.contains { if case .message = $0 { true } else { false } }
    }

    /// The caller has given the message up: pieces that were not sent never are, and a reply to it
    /// counts as a reply to nothing.
    package mutating func forgetMessage() {
        awaitsReply = false
        queue.removeAll { if case .message = $0 { true } else { false } }
        guard current?.isMessage == true else { return }
        current = Piecemeal(isMessage: false, rest: [])
    }

    /// A frame that already waits is not queued a second time, so the queue is bounded.
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
        case .vehicleDataRequest:
            current = Piecemeal(isMessage: false, rest: AddOnFrame.vehicleDataRequest.bytes[...])
        case .message(let frame): current = Piecemeal(isMessage: true, rest: frame.bytes[...])
        }
        return piece()
    }

    private mutating func piece() -> [Action] {
        guard var going = current else { return [] }
        let piece = Array(going.rest.prefix(maximumLength))
        going.rest = going.rest.dropFirst(maximumLength)
        let leaves =
            going.isMessage && !going.hasLeft && going.rest.count <= Self.guessable
        going.hasLeft = going.hasLeft || leaves
        current = going
        if going.isMessage, going.rest.isEmpty { awaitsReply = true }
        return leaves ? [.messageLeaves, .notify(piece)] : [.notify(piece)]
    }

    /// The socket took the piece.
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
            // The acknowledgement of a repeated confirmation: it concerns no message.
            return []
        case .vehicleData:
            return [.vehicleData(frame.body)]
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

/// Why the transport is closed.
package enum AddOnTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The vehicle sent a frame that the handshake does not allow here.
    case invalidHandshake(AddOnType)
    case damagedHandshake(AddOnFrameError)
    /// The vehicle never requested the handshake.
    case noRequest
    /// The vehicle requested the handshake, but did not acknowledge our confirmation.
    case noAcknowledgement
    /// The vehicle reports a serial other than the token's.
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
            "the vehicle reports the serial \(serial), but the token is for another vehicle"
        case .link(let failure): failure.description
        }
    }
}
