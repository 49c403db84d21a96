import Base
import Families
import Radio
import Testing

private func at(_ seconds: Double) -> Moment {
    Moment(nanoseconds: Int64(seconds * 1_000_000_000))
}

/// Frames sent and received, and the reaction of each state to each event.
@Suite struct TransportTests {
    /// Every state, with its name.
    static func machines(mtu: Int = 20) -> [(String, AddOnTransport)] {
        var list: [(String, AddOnTransport)] = []
        var machine = AddOnTransport()
        list.append(("idle", machine))
        _ = machine.open()
        list.append(("connecting", machine))
        _ = machine.socketOpened(maximumLength: mtu, at: at(0))
        _ = machine.pieceSent()
        list.append(("syncing", machine))
        _ = machine.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = machine.pieceSent()
        list.append(("handshaking", machine))
        _ = machine.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        list.append(("connected", machine))
        _ = try? machine.send([1])
        list.append(("sending", machine))
        _ = machine.pieceSent()
        list.append(("unanswered", machine))
        _ = machine.linkFailed(.lost)
        list.append(("lost", machine))
        return list
    }

    static func machine(_ name: String, mtu: Int = 20) throws -> AddOnTransport {
        try #require(machines(mtu: mtu).first { $0.0 == name }).1
    }

    typealias Event = @Sendable (inout AddOnTransport) -> [AddOnTransport.Action]

    static let events: [(String, Event)] = [
        ("open", { $0.open() }),
        ("socketOpened", { $0.socketOpened(maximumLength: 20, at: at(0.5)) }),
        ("pieceSent", { $0.pieceSent() }),
        (
            "send",
            {
                do throws(AddOnTransport.Refusal) {
                    return try $0.send([7])
                } catch {
                    return [.note(.bytesOutsideSession(error == .busy ? -1 : -2))]
                }
            }
        ),
        ("request", { $0.received(AddOnFrame.handshakeRequest.bytes, at: at(0.5)) }),
        ("acknowledgement", { $0.received(AddOnFrame.acknowledgement.bytes, at: at(0.5)) }),
        ("accepted", { $0.received(AddOnFrame.reply(accepted: true).bytes, at: at(0.5)) }),
        ("rejected", { $0.received(AddOnFrame.reply(accepted: false).bytes, at: at(0.5)) }),
        ("message", { $0.received(hex("02 24 01 00 01 28 9E 03"), at: at(0.5)) }),
        ("version", { $0.received(hex("02 27 04 01 00 02 00 30 14 03"), at: at(0.5)) }),
        ("ours", { $0.received(hex("02 89 00 8B 18 03"), at: at(0.5)) }),
        ("damaged", { $0.received(hex("01 24 01 00 01 28 9D 03"), at: at(0.5)) }),
        ("empty", { $0.received([], at: at(0.5)) }),
        ("part", { $0.received([2, 0x24], at: at(0.5)) }),
        ("early", { $0.timeout(at: at(0.5)) }),
        ("second", { $0.timeout(at: at(1)) }),
        ("five", { $0.timeout(at: at(5)) }),
        ("thirty", { $0.timeout(at: at(30)) }),
        ("linkFailed", { $0.linkFailed(.timedOut) }),
        (
            "forget",
            {
                $0.forgetMessage()
                return []
            }
        ),
        ("close", { $0.close() }),
    ]

    static func word(_ state: AddOnTransport.State) -> String {
        switch state {
        case .idle: "idle"
        case .connecting: "connecting"
        case .syncing: "syncing"
        case .handshaking: "handshaking"
        case .connected: "connected"
        case .closed(let error): "closed(\(error.map { "\($0)" } ?? "asked"))"
        }
    }

    static func word(_ action: AddOnTransport.Action) -> String {
        switch action {
        case .notify(let bytes): "notify \(Hex.text(bytes))"
        case .opened: "opened"
        case .messageLeaves: "leaves"
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .received(let bytes): "received \(Hex.text(bytes))"
        case .damaged(let error): "damaged: \(error)"
        case .vehicleData(let bytes): "data \(Hex.text(bytes))"
        case .note(.bytesOutsideSession(-1)): "busy"
        case .note(.bytesOutsideSession(-2)): "not connected"
        case .note(let note): "note: \(note)"
        case .closed: "closed"
        }
    }

    @Test func `every event in every state`() throws {
        var lines: [String] = []
        for (name, machine) in Self.machines() {
            for (word, event) in Self.events {
                var copy = machine
                let actions = event(&copy)
                let told = actions.map { Self.word($0) }.joined(separator: ", ")
                lines.append("\(name) \(word) -> \(Self.word(copy.state)) [\(told)]")
            }
        }
        try Table.expect(lines, equal: "transport.txt")
    }

    // MARK: Pieces

    @Test func `a frame of twenty bytes goes out in the pieces of the documents`() throws {
        var machine = try Self.machine("connected")
        let body = hex("01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20")
        let first = hex("02 88 14 00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16")
        // The rest is so short that it could be guessed.
        #expect(try machine.send(body) == [.messageLeaves, .notify(first)])
        #expect(machine.pieceSent() == [.notify(hex("17 18 19 20 B8 B6 03"))])
        #expect(machine.pieceSent() == [])
    }

    @Test(arguments: [(20, 46), (182, 5), (244, 4)])
    func `a signed command of the usual size goes out in so many pieces`(
        mtu: Int,
        count: Int
    ) throws {
        var machine = try Self.machine("connected", mtu: mtu)
        let body = [UInt8](repeating: 0x80, count: 897)
        var actions = try machine.send(body)
        var pieces: [[UInt8]] = []
        while !actions.isEmpty {
            pieces += actions.compactMap { if case .notify(let piece) = $0 { piece } else { nil } }
            actions = machine.pieceSent()
        }
        #expect(pieces.count == count)
        #expect(pieces.dropLast().allSatisfy { $0.count == mtu })
        #expect(pieces.flatMap { $0 } == (try AddOnFrame(.messageToVehicle, body)).bytes)
    }

    @Test func `a message is no longer than its frame`() throws {
        var machine = try Self.machine("connected")
        let refusal = AddOnTransport.Refusal.length(1_025)
        #expect(throws: refusal) { try machine.send([UInt8](repeating: 1, count: 1_025)) }
        #expect(throws: AddOnTransport.Refusal.length(0)) { try machine.send([]) }
        #expect(try machine.send([UInt8](repeating: 1, count: 1_024)).count == 1)
    }

    // MARK: The queue

    @Test func `what comes up while a frame goes out waits for its end`() throws {
        var machine = try Self.machine("connected")
        _ = try machine.send([UInt8](1...20))
        let again = AddOnFrame.handshakeRequest.bytes
        #expect(machine.received(again, at: at(1)) == [.note(.handshakeRepeated)])
        #expect(machine.waiting == 1)
        // A vehicle that repeats its request gets one answer, as soon as it can be sent.
        #expect(machine.received(again, at: at(1)) == [.note(.handshakeRepeated)])
        #expect(machine.waiting == 1)
        _ = machine.pieceSent()
        #expect(machine.pieceSent() == [.notify(AddOnFrame.confirmation().bytes)])
        #expect(machine.waiting == 0)
        #expect(machine.pieceSent() == [])
    }

    @Test func `a message waits for a confirmation that goes out`() throws {
        var machine = try Self.machine("syncing", mtu: 4)
        for frame in [AddOnFrame.handshakeRequest, .acknowledgement] {
            _ = machine.received(frame.bytes, at: at(1))
        }
        #expect(try machine.send([1]) == [])
        _ = machine.pieceSent()
        _ = machine.pieceSent()
        #expect(machine.pieceSent() == [.messageLeaves, .notify(hex("02 88 01 00"))])
        #expect(machine.pieceSent() == [.notify(hex("01 8C 2E 03"))])
    }

    @Test func `a message that is given up does not go out further`() throws {
        var machine = try Self.machine("connected")
        _ = try machine.send([UInt8](repeating: 9, count: 100))
        machine.forgetMessage()
        #expect(machine.pieceSent() == [])
        let reply = AddOnFrame.reply(accepted: true).bytes
        #expect(machine.received(reply, at: at(1)) == [.note(.replyToNothing(accepted: true))])
    }

    // MARK: Time

    @Test func `a sync byte goes out each second until the vehicle asks`() throws {
        var machine = AddOnTransport()
        _ = machine.open()
        #expect(machine.socketOpened(maximumLength: 20, at: at(0)) == [.notify([0x55])])
        for second in 1..<30 {
            #expect(machine.deadline == at(Double(second)))
            _ = machine.pieceSent()
            #expect(machine.timeout(at: at(Double(second))) == [.notify([0x55])])
        }
        #expect(machine.timeout(at: at(30)) == [.closed(.noRequest)])
        #expect(machine.deadline == nil)
    }

    @Test func `sync bytes that the radio does not take do not pile up`() throws {
        var machine = AddOnTransport()
        _ = machine.open()
        _ = machine.socketOpened(maximumLength: 20, at: at(0))
        for second in 1..<20 { #expect(machine.timeout(at: at(Double(second))) == []) }
        #expect(machine.waiting == 1)
    }

    @Test func `without acknowledgement the handshake begins again after five seconds`() throws {
        var machine = try Self.machine("handshaking")
        #expect(machine.deadline == at(5))
        #expect(machine.timeout(at: at(5)) == [.notify([0x55])])
        _ = machine.pieceSent()
        let request = AddOnFrame.handshakeRequest.bytes
        #expect(
            machine.received(request, at: at(6)) == [
                .note(.handshakeRepeated), .notify(AddOnFrame.confirmation().bytes),
            ]
        )
        _ = machine.pieceSent()
        #expect(machine.timeout(at: at(30)) == [.closed(.noAcknowledgement)])
    }

    @Test func `a frame whose rest does not come is given up`() throws {
        var machine = try Self.machine("connected")
        #expect(machine.received(hex("02 24 14 00 01"), at: at(3)) == [])
        #expect(machine.deadline == at(8))
        #expect(machine.timeout(at: at(7.9)) == [])
        #expect(machine.timeout(at: at(8)) == [.damaged(.truncated(got: 5, of: 27))])
        #expect(machine.deadline == nil)
        #expect(
            machine.received(hex("02 24 01 00 01 28 9E 03"), at: at(9)) == [.received([1])]
        )
    }
}
