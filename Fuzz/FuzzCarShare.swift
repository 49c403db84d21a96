import Base
import Families
import Radio

/// Runs a session with any bytes: each event begins with a byte that selects its kind.
///
/// Nothing may trap, a command that has begun ends at most once, and a session without further
/// events ends it by its own deadlines.
func fuzzCarShare(_ bytes: [UInt8]) {
    var drive = Drive()
    var rest = bytes[...]
    while let head = rest.popFirst() {
        let piece = Array(rest.prefix(Int(head & 0x1F)))
        rest = rest.dropFirst(piece.count)
        drive.event(head >> 5, piece)
    }
    drive.end()
}

private struct Drive {
    private var session = CarShareSession { commands, challenge in
        CarShareMessage.secure(commands.bytes + challenge.bytes)
    }
    private var now = Moment(nanoseconds: 0)
    private var begun = 0
    private var finished = 0
    private var pieces = 0

    init() {
        take(session.socketOpened(maximumLength: 20, at: now))
    }

    mutating func event(_ kind: UInt8, _ bytes: [UInt8]) {
        switch kind {
        case 0: take(session.received(bytes, at: now))
        // A message in a valid frame gets far into the session.
        case 1:
            guard let frame = try? AddOnFrame(.messageToHost, bytes) else { return }
            take(session.received(frame.bytes, at: now))
        case 2: answer(bytes.first ?? 0)
        case 3: begin()
        case 4: sent()
        case 5:
            now = now.advanced(by: .milliseconds(Int(bytes.first ?? 0) * 100))
            take(session.timeout(at: now))
        case 6:
            now = now.advanced(by: .milliseconds(1))
            sent()
        default:
            if bytes.count > 30 { take(session.linkFailed(.lost, at: now)) } else { sent() }
        }
    }

    /// The answers of a correct vehicle, which get deeper than random bytes do.
    private mutating func answer(_ number: UInt8) {
        let bodies: [[UInt8]] = [
            [1, 1, 0] + [UInt8](repeating: number, count: 32), [0x81, 0], [0x81, number],
            [0x0A, 0x02, 0x08, 0x01],
        ]
        let frames =
            bodies.compactMap { try? AddOnFrame(.messageToHost, $0) } + [
                .handshakeRequest, .acknowledgement, .reply(accepted: true),
                .reply(accepted: false),
            ]
        take(session.received(frames[Int(number) % frames.count].bytes, at: now))
    }

    private mutating func begin() {
        begun += 1
        take(session.begin(CarShareCommands(.lock), at: now))
    }

    private mutating func sent() {
        guard pieces > 0 else { return }
        pieces -= 1
        take(session.pieceSent(at: now))
    }

    private mutating func take(_ actions: [CarShareSession.Action]) {
        for action in actions {
            switch action {
            case .notify(let bytes):
                precondition((1...20).contains(bytes.count))
                pieces += 1
                precondition(pieces == 1, "one piece goes out at a time")
            case .finished: finished += 1
            case .opened, .note: break
            case .closed: pieces = 0
            }
        }
        precondition(finished <= begun, "a command has one end")
        precondition(begun - finished == (session.exchange.isUnderWay ? 1 : 0))
    }

    mutating func end() {
        for _ in 0..<200 {
            guard let deadline = session.deadline else { break }
            now = max(now, deadline)
            while pieces > 0 { sent() }
            take(session.timeout(at: now))
        }
        precondition(!session.exchange.isUnderWay, "a silent vehicle holds a command")
        precondition(begun == finished)
    }
}
