import Base
import Families
import Radio
import Testing

private func at(_ seconds: Double) -> Moment {
    Moment(nanoseconds: Int64(seconds * 1_000_000_000))
}

/// Transport and commands together: the whole exchange, frame by frame.
@Suite struct SessionTests {
    private static let lock = CarShareCommands(.lock)
    private static let challenge = [1, 1, 0] + [UInt8](repeating: 0xC7, count: 32)

    private static func opened() -> CarShareSession {
        var session = CarShareSession { commands, _ in CarShareMessage.secure(commands.bytes) }
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        return session
    }

    private static func message(_ body: [UInt8]) throws -> [UInt8] {
        try AddOnFrame(.messageToHost, body).bytes
    }

    @Test func `a command from sync byte to result`() throws {
        var session = CarShareSession { commands, _ in CarShareMessage.secure(commands.bytes) }
        #expect(session.socketOpened(maximumLength: 20, at: at(0)) == [.notify([0x55])])
        #expect(session.pieceSent(at: at(0)) == [])
        let request = AddOnFrame.handshakeRequest.bytes
        #expect(
            session.received(request, at: at(1)) == [.notify(hex("02 81 04 5F 10 01 00 F7 D6 03"))]
        )
        #expect(session.pieceSent(at: at(1)) == [])
        #expect(session.received(AddOnFrame.acknowledgement.bytes, at: at(1)) == [.opened])
        #expect(
            session.begin(Self.lock, at: at(2)) == [.notify(hex("02 88 03 00 00 01 00 8E 4F 03"))]
        )
        #expect(session.pieceSent(at: at(2)) == [])
        // The frame in upstream tests, with zeros as checksum.
        #expect(session.received(hex("02 22 04 01 00 00 00 00 00 03"), at: at(2)) == [])
        let challenge = try Self.message(Self.challenge)
        #expect(session.received(Array(challenge[..<20]), at: at(3)) == [])
        let command = try AddOnFrame(.messageToVehicle, [0x80] + Self.lock.bytes).bytes
        #expect(session.received(Array(challenge[20...]), at: at(3)) == [.notify(command)])
        #expect(session.pieceSent(at: at(3)) == [])
        #expect(session.received(AddOnFrame.reply(accepted: true).bytes, at: at(3)) == [])
        #expect(session.received(hex("02 24 02 00 81 00 A9 CA 03"), at: at(4)) == [])
        #expect(
            session.received(hex("02 24 04 00 0A 02 08 01 3F 63 03"), at: at(5))
                == [.finished(.success(CarShareReport(isSuccess: true)))]
        )
        #expect(session.deadline == nil)
        #expect(session.close(at: at(6)) == [.closed(nil)])
    }

    @Test(arguments: ["G9-0001", "g9-0001", "", "G9-0002"])
    func `a vehicle that says it is another one is sent no command`(named: String) throws {
        var session = CarShareSession(serial: Serial("G9-0001")) { commands, _ in
            CarShareMessage.secure(commands.bytes)
        }
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        let asked = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        #expect(asked == [.notify(AddOnFrame.vehicleDataRequest.bytes)])
        let early = session.begin(Self.lock, at: at(0))
        #expect(early == [.finished(.failure(CarShareFailure(.notSent, .notConnected)))])
        _ = session.pieceSent(at: at(0))
        let serial = Array(named.utf8) + [UInt8](repeating: 0, count: 12 - named.utf8.count)
        let data = try AddOnFrame(.vehicleData, [UInt8](repeating: 0, count: 40) + serial).bytes
        let actions = session.received(data, at: at(1))
        // Without the answer to it the command is never signed, so it cannot be carried out.
        let after = session.received(try Self.message(Self.challenge), at: at(1))
        guard named == "G9-0002", let other = Serial(named) else {
            #expect(actions == [.opened])
            return
        }
        let error = AddOnTransportError.otherVehicle(other)
        #expect(actions == [.closed(error)])
        #expect(CarShareFailure(.notSent, .handshake(error)).failureClass == .rejected)
        #expect(after == [.note(.bytesOutsideSession(42))])
    }

    @Test func `a vehicle that does not say which one it is gets its time, then its command`() {
        var session = CarShareSession(serial: Serial("G9-0001")) { commands, _ in
            CarShareMessage.secure(commands.bytes)
        }
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        #expect(session.deadline == at(2))
        #expect(session.timeout(at: at(1)) == [])
        #expect(session.timeout(at: at(2)) == [.note(.unidentified), .opened])
        #expect(
            session.begin(Self.lock, at: at(2)) == [.notify(hex("02 88 03 00 00 01 00 8E 4F 03"))]
        )
    }

    /// What follows the signature in the frame is known to anybody: 14 bytes, and with them some of
    /// the signature can be tried.
    @Test func `a command of which only bytes are missing that can be guessed has left`() throws {
        for missing in [0, 20, 40] {
            var session = CarShareSession { _, _ in
                CarShareMessage.secure([UInt8](repeating: 0xAA, count: 232))
            }
            _ = session.socketOpened(maximumLength: 20, at: at(0))
            _ = session.pieceSent(at: at(0))
            _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
            _ = session.pieceSent(at: at(0))
            _ = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
            _ = session.begin(CarShareCommands(.openTrunk), at: at(0))
            _ = session.pieceSent(at: at(0))
            _ = session.received(AddOnFrame.reply(accepted: true).bytes, at: at(0))
            var actions = session.received(try Self.message(Self.challenge), at: at(0))
            var sent = 0
            while case .notify(let piece)? = actions.first, sent + piece.count <= 240 - missing {
                sent += piece.count
                if sent == 240 - missing { break }
                actions = session.pieceSent(at: at(0))
            }
            let end = session.linkFailed(.lost, at: at(0))
            let fate: CarShareFate = missing > 32 ? .notSent : .inDoubt
            #expect(
                end.first == .finished(.failure(CarShareFailure(fate, .link(.lost)))),
                "\(missing) bytes are missing"
            )
        }
    }

    @Test func `a vehicle that answers and never accepts is taken at its answers`() throws {
        var session = Self.opened()
        _ = session.begin(Self.lock, at: at(0))
        _ = session.pieceSent(at: at(0))
        #expect(session.received(try Self.message(Self.challenge), at: at(0)) == [])
        let command = try AddOnFrame(.messageToVehicle, [0x80] + Self.lock.bytes).bytes
        #expect(session.timeout(at: at(15)) == [.note(.answeredUnaccepted), .notify(command)])
        #expect(session.pieceSent(at: at(15)) == [])
        #expect(session.received(try Self.message([0x81, 0]), at: at(15)) == [])
        let report = CarShareReport(isSuccess: true)
        #expect(session.received(try Self.message(report.message), at: at(16)) == [])
        #expect(
            session.timeout(at: at(30))
                == [.note(.answeredUnaccepted), .finished(.success(report))]
        )
    }

    @Test func `several answers in one write are taken in their order`() throws {
        var session = Self.opened()
        _ = session.begin(Self.lock, at: at(0))
        _ = session.pieceSent(at: at(0))
        let accepted = AddOnFrame.reply(accepted: true).bytes
        let command = try AddOnFrame(.messageToVehicle, [0x80] + Self.lock.bytes).bytes
        #expect(
            session.received(accepted + (try Self.message(Self.challenge)), at: at(0))
                == [.notify(command)]
        )
        _ = session.pieceSent(at: at(0))
        let report = CarShareReport(isSuccess: true)
        #expect(
            session.received(
                accepted + (try Self.message([0x81, 0])) + (try Self.message(report.message)),
                at: at(0)
            ) == [.finished(.success(report))]
        )
    }

    @Test func `before the handshake no command is taken`() {
        var session = CarShareSession { _, _ in nil }
        let refused = CarShareFailure(.notSent, .notConnected)
        #expect(session.begin(Self.lock, at: at(0)) == [.finished(.failure(refused))])
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        #expect(session.begin(Self.lock, at: at(0)) == [.finished(.failure(refused))])
    }

    @Test func `a command during a command is an error of its own`() {
        var session = Self.opened()
        _ = session.begin(Self.lock, at: at(1))
        let busy = CarShareFailure(.notSent, .busy)
        #expect(session.begin(Self.lock, at: at(1)) == [.finished(.failure(busy))])
        #expect(session.exchange.isUnderWay)
    }

    @Test func `a body that no frame holds ends the command before it is sent`() throws {
        var session = CarShareSession { _, _ in [UInt8](repeating: 0x80, count: 1_025) }
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        _ = session.begin(Self.lock, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.reply(accepted: true).bytes, at: at(0))
        #expect(
            session.received(try Self.message(Self.challenge), at: at(0))
                == [.finished(.failure(CarShareFailure(.notSent, .tooLong(1_025))))]
        )
    }

    @Test func `a command that is given up half way does not go out further`() throws {
        var session = CarShareSession { _, _ in [UInt8](repeating: 0x80, count: 897) }
        _ = session.socketOpened(maximumLength: 20, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.handshakeRequest.bytes, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.acknowledgement.bytes, at: at(0))
        _ = session.begin(Self.lock, at: at(0))
        _ = session.pieceSent(at: at(0))
        _ = session.received(AddOnFrame.reply(accepted: true).bytes, at: at(0))
        #expect(session.received(try Self.message(Self.challenge), at: at(0)).count == 1)
        for _ in 0..<20 { #expect(session.pieceSent(at: at(0)).count == 1) }
        #expect(
            session.received([7], at: at(1))
                == [.finished(.failure(CarShareFailure(.notSent, .damaged(.start(7)))))]
        )
        #expect(session.pieceSent(at: at(1)) == [])
        let later = session.begin(Self.lock, at: at(2))
        #expect(later == [.finished(.failure(CarShareFailure(.notSent, .outOfStep)))])
    }

    @Test func `a lost link ends command and session once`() {
        var session = Self.opened()
        _ = session.begin(Self.lock, at: at(1))
        #expect(
            session.linkFailed(.lost, at: at(1)) == [
                .finished(.failure(CarShareFailure(.notSent, .link(.lost)))),
                .closed(.link(.lost)),
            ]
        )
        #expect(session.linkFailed(.lost, at: at(1)) == [])
        #expect(session.outOfTime(at: at(1)) == [])
        #expect(session.close(at: at(1)) == [])
    }

    @Test func `the end of all time ends command and session once`() {
        var session = Self.opened()
        _ = session.begin(Self.lock, at: at(1))
        #expect(
            session.outOfTime(at: at(1)) == [
                .finished(.failure(CarShareFailure(.notSent, .outOfTime))), .closed(nil),
            ]
        )
    }

    @Test func `after each event a silent vehicle leaves a deadline or an end`() throws {
        var session = Self.opened()
        var actions = session.begin(Self.lock, at: at(0))
        let answers = try [
            AddOnFrame.reply(accepted: true).bytes, Self.message(Self.challenge),
            AddOnFrame.reply(accepted: true).bytes, Self.message([0x81, 0]),
        ]
        for answer in answers {
            #expect(session.deadline != nil)
            var silent = session
            let deadline = try #require(silent.deadline)
            let end = silent.timeout(at: deadline)
            #expect(end.count { if case .finished = $0 { true } else { false } } == 1)
            while actions.contains(where: { if case .notify = $0 { true } else { false } }) {
                actions = session.pieceSent(at: at(0))
            }
            actions = session.received(answer, at: at(0))
        }
    }
}
