import Base
import Families
import Radio
import Testing

/// Transcripts of the state machines, event by event.
@Suite struct SMPTranscriptTests {
    private static func at(_ milliseconds: Int) -> Moment {
        Moment(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    private static let file = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }

    private func machine(
        window: Int = 3,
        frame: Int = 128,
        sha: [UInt8]? = [UInt8](repeating: 7, count: 32)
    ) throws -> SMPUpload {
        SMPUpload(
            file: Self.file,
            sha: sha,
            settings: try #require(SMPSettings(frameLength: frame, window: window)),
            sequence: 0
        )
    }

    @Test func `the times of a profile are those of the upload`() throws {
        let times = UploadTimes(answer: .seconds(20), erase: .seconds(200), check: .seconds(90))
        let settings = try #require(
            SMPSettings(parameters: nil, reassembles: true, maximumLength: 244, times: times)
        )
        #expect(settings.answerLimit == .seconds(20))
        #expect(settings.openingLimit == .seconds(200))
        #expect(settings.closingLimit == .seconds(90))
        #expect(settings.slower(by: 1)?.openingLimit == .seconds(200))
    }

    /// The piece of a message: the message's number, the piece's offset and its length.
    private struct Piece: Equatable {
        let sequence: UInt8
        let start: Int
        let count: Int
        var end: Int { start + count }
    }

    private func piece(_ action: SMPUpload.Action) throws -> Piece {
        guard case .send(let bytes) = action else {
            Issue.record("nothing is sent: \(action)")
            return Piece(sequence: 0, start: -1, count: 0)
        }
        let frame = try #require(SMPFrame(bytes))
        let body = try CBORValue(cbor: frame.payload)
        let data = try #require(body["data"]?.bytes)
        let start = try #require(body["off"]?.integer)
        #expect(data == Array(Self.file[start..<start + data.count]), "the right bytes")
        return Piece(sequence: frame.header.sequence, start: start, count: data.count)
    }

    private func answer(_ sequence: UInt8, _ body: CBORValue) throws -> SMPFrame {
        try #require(
            SMPFrame(
                .writeResponse,
                version: 1,
                group: 1,
                command: 1,
                sequence: sequence,
                payload: body.serialized
            )
        )
    }

    private func wants(_ sequence: UInt8, _ offset: Int) throws -> SMPFrame {
        try answer(sequence, .map(["off": .int(offset)]))
    }

    /// Opens an upload, and returns the machine with a full window.
    private func opened(window: Int = 3, frame: Int = 128) throws -> (SMPUpload, [Piece]) {
        var machine = try machine(window: window, frame: frame)
        let first = try piece(machine.begin(at: Self.at(0)))
        #expect(machine.sent(at: Self.at(1)) == .wait, "the first piece goes alone")
        var pieces: [Piece] = []
        var action = machine.received(try wants(first.sequence, first.end), at: Self.at(2))
        while case .send = action {
            pieces.append(try piece(action))
            action = machine.sent(at: Self.at(3))
        }
        #expect(action == .wait && pieces.count == window)
        return (machine, pieces)
    }

    @Test func `the window is filled and slides with each answer`() throws {
        var (machine, pieces) = try opened()
        #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.end == $1.start })
        let action = machine.received(
            try wants(pieces[0].sequence, pieces[0].end),
            at: Self.at(10)
        )
        #expect(try piece(action).start == pieces[2].end)
        #expect(machine.acknowledged == pieces[0].end)
    }

    @Test func `another offset lets the window drain and goes on from it`() throws {
        var (machine, pieces) = try opened()
        // The first of three pieces is lost; the answers to the others contain the device's offset.
        let stand = pieces[0].start
        #expect(machine.received(try wants(pieces[1].sequence, stand), at: Self.at(10)) == .wait)
        let action = machine.received(try wants(pieces[2].sequence, stand), at: Self.at(11))
        #expect(try piece(action).start == stand)
        #expect(machine.sent(at: Self.at(12)) != .wait, "two may still be on their way")
    }

    @Test func `answers are given where messages arrive, as long as the radio takes them`() throws {
        var talk = SMPTalk(try machine(), SMPReassembly(), at: Self.at(0))
        let first = try piece(talk.action)
        talk.sent(at: Self.at(1))
        #expect(talk.action == .wait)
        var said: [[UInt8]] = []
        let message = try wants(first.sequence, first.end).bytes
        #expect(
            talk.heard(Array(message[..<10]), at: Self.at(2)) { _ in false },
            "the rest is to come"
        )
        let waits = talk.heard(Array(message[10...]), at: Self.at(3)) { packet in
            guard said.count < 2 else { return false }
            said.append(packet)
            return true
        }
        let pieces = try said.map { try piece(.send($0)) }
        #expect(!waits && pieces.map(\.start) == [first.end, pieces.first?.end])
        #expect(try piece(talk.action).start == pieces.last?.end, "the third is left to who waits")
        #expect(talk.progress.acknowledged == first.end)
        talk.sent(at: Self.at(4))
        #expect(talk.action == .wait)
    }

    @Test func `half a message is forgotten with the answer that it should have been`() throws {
        var talk = SMPTalk(try machine(window: 1), SMPReassembly(), at: Self.at(0))
        let first = try piece(talk.action)
        talk.sent(at: Self.at(1))
        let half = Array(try wants(first.sequence, first.end).bytes[..<10])
        #expect(talk.heard(half, at: Self.at(2)) { _ in true })
        talk.heardNothing(at: Self.at(1_000))
        #expect(talk.action == .wait && talk.reassembly.isWaiting)
        let deadline = try #require(talk.upload.deadline)
        talk.heardNothing(at: deadline)
        let again = try piece(talk.action)
        #expect(again.start == 0 && again.sequence != first.sequence)
        #expect(!talk.reassembly.isWaiting)
    }

    @Test func `a lost answer is made good by the next`() throws {
        var (machine, pieces) = try opened()
        let action = machine.received(
            try wants(pieces[1].sequence, pieces[1].end),
            at: Self.at(10)
        )
        #expect(try piece(action).start == pieces[2].end)
        #expect(machine.acknowledged == pieces[1].end)
    }

    @Test func `an answer that comes twice, or is another's, changes nothing`() throws {
        var (machine, pieces) = try opened()
        let answer = try wants(pieces[0].sequence, pieces[0].end)
        _ = machine.received(answer, at: Self.at(10))
        _ = machine.sent(at: Self.at(11))
        let before = machine.acknowledged
        #expect(machine.received(answer, at: Self.at(12)) == .wait)
        let stray = try #require(
            SMPFrame(
                .writeResponse,
                version: 1,
                group: 1,
                command: 0,
                sequence: pieces[1].sequence,
                payload: [0xA1, 0x62, 0x72, 0x63, 0x08]
            )
        )
        #expect(machine.received(stray, at: Self.at(13)) == .wait)
        #expect(machine.acknowledged == before)
    }

    @Test func `silence is answered by going back, then by giving the link up`() throws {
        var (machine, pieces) = try opened()
        var now = try #require(machine.deadline)
        for _ in 0..<2 {
            #expect(try piece(machine.timeout(at: now)).start == pieces[0].start)
            while case .send = machine.sent(at: now) {}
            now = try #require(machine.deadline)
        }
        #expect(
            machine.timeout(at: now)
                == .ended(.failed(.noAnswer(offset: pieces[0].start)))
        )
    }

    @Test func `a device that has part of it is taken up there`() throws {
        var machine = try machine()
        let first = try piece(machine.begin(at: Self.at(0)))
        let action = machine.received(try wants(first.sequence, 600), at: Self.at(2))
        #expect(try piece(action).start == 600)
        #expect(machine.resumedFrom == 600 && machine.acknowledged == 600)
    }

    @Test func `without a digest nothing is taken up in the middle`() throws {
        var machine = try machine(sha: nil)
        var action = machine.begin(at: Self.at(0))
        for _ in 0..<3 {
            let first = try piece(action)
            #expect(first.start == 0)
            action = machine.received(try wants(first.sequence, 600), at: Self.at(2))
        }
        #expect(action == .ended(.failed(.noProgress(offset: 600))))
    }

    @Test func `a busy device is given time, and then the same bytes`() throws {
        var (machine, pieces) = try opened(window: 1)
        let busy = try answer(pieces[0].sequence, .map(["rc": .int(10)]))
        #expect(machine.received(busy, at: Self.at(10)) == .pause(until: Self.at(110)))
        #expect(try piece(machine.pauseOver(at: Self.at(110))).start == pieces[0].start)
    }

    @Test func `a refusal ends it`() throws {
        var (machine, pieces) = try opened()
        let refusal = try answer(
            pieces[0].sequence,
            .map(["err": .map(["group": .int(1), "rc": .int(12)])])
        )
        #expect(
            machine.received(refusal, at: Self.at(9))
                == .ended(.failed(.refused(.image(.flashWrite))))
        )
    }

    @Test func `an offset beyond the image is not believed`() throws {
        var (machine, pieces) = try opened()
        #expect(
            machine.received(try wants(pieces[0].sequence, 1_001), at: Self.at(9))
                == .ended(.failed(.beyondImage(offset: 1_001)))
        )
    }

    @Test func `asked to stop, it waits for what is on its way`() throws {
        var (machine, pieces) = try opened()
        #expect(machine.stopRequested() == .wait)
        for piece in pieces.dropLast() {
            #expect(machine.received(try wants(piece.sequence, piece.end), at: Self.at(9)) == .wait)
        }
        let last = try #require(pieces.last)
        #expect(
            machine.received(try wants(last.sequence, last.end), at: Self.at(9))
                == .ended(.stopped(at: last.end))
        )
    }

    @Test func `whole words only are sent once the device shows that it wants them`() throws {
        let runs = try (124..<128).map { try opened(window: 1, frame: $0) }
        let run = try #require(runs.first { !$0.1[0].end.isMultiple(of: 4) })
        var machine = run.0
        let odd = run.1[0]
        let action = machine.received(
            try wants(odd.sequence, odd.end / 4 * 4),
            at: Self.at(9)
        )
        #expect(machine.isAligned)
        let next = try piece(action)
        #expect(next.start == odd.end / 4 * 4 && next.end.isMultiple(of: 4))
    }

    @Test func `the digest gives way to the image's header where there is no room`() throws {
        let short = try #require(SMPSettings(frameLength: 64, window: 1))
        var machine = SMPUpload(
            file: Self.file,
            sha: [UInt8](repeating: 7, count: 32),
            settings: short,
            sequence: 0
        )
        guard case .send(let bytes) = machine.begin(at: Self.at(0)) else {
            Issue.record("nothing is sent")
            return
        }
        let body = try CBORValue(cbor: try #require(SMPFrame(bytes)).payload)
        #expect(body["sha"] == nil && body["data"]?.bytes?.count ?? 0 >= 32)
        #expect(bytes.count <= 64)
        var none = SMPUpload(
            file: Self.file,
            sha: nil,
            settings: try #require(SMPSettings(frameLength: 48, window: 1)),
            sequence: 0
        )
        #expect(none.begin(at: Self.at(0)) == .ended(.failed(.frameTooShort(48))))
    }

    // MARK: One question

    @Test func `a question is asked again, and an answer to any asking counts`() throws {
        var machine = SMPExchange(.imageState, sequence: 5, limit: .seconds(1))
        guard case .send(let first) = machine.begin(at: Self.at(0)) else { return }
        guard case .send(let second) = machine.timeout(at: Self.at(1_000)) else {
            Issue.record("it is not asked again")
            return
        }
        #expect(first[6] == 5 && second[6] == 6)
        let late = try #require(
            SMPFrame(
                .readResponse,
                version: 1,
                group: 1,
                command: 0,
                sequence: 5,
                payload: [0xA0]
            )
        )
        guard case .ended(.answered) = machine.received(late, at: Self.at(1_100)) else {
            Issue.record("\(machine.state)")
            return
        }
    }

    @Test func `a restart is asked for once`() {
        var machine = SMPExchange(.reset(isForced: false), sequence: 0, limit: .seconds(1))
        _ = machine.begin(at: Self.at(0))
        #expect(machine.timeout(at: Self.at(1_000)) == .ended(.unanswered))
    }

    @Test func `a device that knows the first version only is asked in it`() throws {
        var machine = SMPExchange(.imageState, sequence: 0, limit: .seconds(1))
        _ = machine.begin(at: Self.at(0))
        let tooNew = try #require(
            SMPFrame(
                .readResponse,
                version: 0,
                group: 1,
                command: 0,
                sequence: 0,
                payload: CBORValue.map(["rc": .int(13)]).serialized
            )
        )
        guard case .send(let bytes) = machine.received(tooNew, at: Self.at(10)) else {
            Issue.record("it is not asked again")
            return
        }
        #expect(bytes[0] >> 3 == 0)
    }
}
