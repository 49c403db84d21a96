import Base
import Families
import Radio
import Testing

private func at(_ seconds: Double) -> Moment {
    Moment(nanoseconds: Int64(seconds * 1_000_000_000))
}

/// The command protocol: the reaction of each state to each event, and exactly one result for each
/// command.
@Suite struct ExchangeTests {
    private static let lock = CarShareCommands(.lock)
    private static let challenge = [1, 1, 0] + [UInt8](repeating: 0xC7, count: 32)
    private static let success = CarShareReport(isSuccess: true).message
    private static let failure = hex("0A 07 12 05 08 94 1A 10 02")

    private static func fresh(signs: Bool = true) -> CarShareExchange {
        CarShareExchange { commands, challenge in
            signs ? CarShareMessage.secure(commands.bytes + challenge.bytes.prefix(1)) : nil
        }
    }

    @Test func `a device that ends at the acknowledgement succeeds with it, by its profile`() {
        var machine = CarShareExchange(success: .acknowledgement) { commands, _ in
            CarShareMessage.secure(commands.bytes)
        }
        for again in [0.0, 10.0] {
            #expect(machine.begin(Self.lock, at: at(again)).count == 1)
            machine.messageLeaves()
            #expect(machine.accepted(at: at(again)).isEmpty)
            #expect(machine.received(Self.challenge, at: at(again)).count == 1)
            machine.messageLeaves()
            #expect(machine.accepted(at: at(again)).isEmpty)
            let report = CarShareReport(isSuccess: true)
            #expect(machine.received([0x81, 0], at: at(again)) == [.finished(.success(report))])
            #expect(machine.state == .idle(used: true) && machine.deadline == nil)
        }
        // A result that comes nevertheless must not be taken for an answer to the next command.
        _ = machine.received(Self.success, at: at(20))
        #expect(machine.state == .spent)
        // A refusal is one as always.
        machine = CarShareExchange(isProven: true, success: .acknowledgement) { commands, _ in
            CarShareMessage.secure(commands.bytes)
        }
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        _ = machine.received(Self.challenge, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        let ends = machine.received([0x81, 4], at: at(0)).compactMap { action in
            if case .finished(.failure(let failure)) = action { failure.fate } else { nil }
        }
        #expect(ends == [.refused])
    }

    /// Every state, with its name.
    static func machines() -> [(String, CarShareExchange)] {
        var list: [(String, CarShareExchange)] = []
        var machine = fresh()
        list.append(("idle", machine))
        _ = machine.begin(lock, at: at(0))
        list.append(("requesting", machine))
        machine.messageLeaves()
        list.append(("requested", machine))
        var early = machine
        _ = early.received(challenge, at: at(0))
        list.append(("overtaken", early))
        _ = machine.accepted(at: at(0))
        list.append(("waitingForChallenge", machine))
        _ = machine.received(challenge, at: at(0))
        list.append(("issuing", machine))
        machine.messageLeaves()
        list.append(("issued", machine))
        early = machine
        _ = early.received([0x81, 0], at: at(0))
        list.append(("judgedEarly", early))
        _ = early.received(success, at: at(0))
        list.append(("reportedEarly", early))
        _ = machine.accepted(at: at(0))
        list.append(("awaitingVerdict", machine))
        _ = machine.received([0x81, 0], at: at(0))
        list.append(("awaitingResult", machine))
        var done = machine
        _ = done.received(success, at: at(0))
        list.append(("used", done))
        _ = machine.abort(.closed)
        list.append(("spent", machine))
        return list
    }

    typealias Event = @Sendable (inout CarShareExchange) -> [CarShareExchange.Action]

    static let events: [(String, Event)] = [
        ("begin", { $0.begin(CarShareCommands(.locate), at: at(1)) }),
        (
            "leaves",
            {
                $0.messageLeaves()
                return []
            }
        ),
        ("accepted", { $0.accepted(at: at(1)) }),
        ("rejected", { $0.rejected() }),
        ("challenge", { $0.received(challenge, at: at(1)) }),
        ("challenge31", { $0.received(Array(challenge.dropLast()), at: at(1)) }),
        ("ack", { $0.received([0x81, 0], at: at(1)) }),
        ("nack", { $0.received([0x81, 4], at: at(1)) }),
        ("ack3", { $0.received([0x81, 0, 0], at: at(1)) }),
        ("success", { $0.received(success, at: at(1)) }),
        ("failure", { $0.received(failure, at: at(1)) }),
        ("nothing", { $0.received([], at: at(1)) }),
        ("torn", { $0.received([0x0A, 0x7F], at: at(1)) }),
        ("damaged", { $0.damaged(.checksum) }),
        ("notTaken", { $0.notTaken(.length(1_025)) }),
        ("linkLost", { $0.abort(.link(.lost)) }),
        ("early", { $0.timeout(at: at(1)) }),
        ("late", { $0.timeout(at: at(100)) }),
    ]

    static func word(_ state: CarShareExchange.State) -> String {
        switch state {
        case .idle(let used): used ? "idle(used)" : "idle"
        case .requesting(let commands, let kept, let left):
            "requesting(\(commands), \(kept.count) kept\(left ? ", left" : ""))"
        case .waitingForChallenge(let commands): "waitingForChallenge(\(commands))"
        case .issuing(let commands, let kept, let left):
            "issuing(\(commands), \(kept.count) kept\(left ? ", left" : ""))"
        case .awaitingVerdict(let commands): "awaitingVerdict(\(commands))"
        case .awaitingResult(let commands): "awaitingResult(\(commands))"
        case .spent: "spent"
        }
    }

    static func word(_ action: CarShareExchange.Action) -> String {
        switch action {
        case .send(let bytes): "send \(Hex.text(bytes))"
        case .finished(.success): "done"
        case .finished(.failure(let failure)): "\(failure.fate.rawValue): \(failure)"
        case .note(let note): "note: \(note)"
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
                // A command that is over has had exactly one result, and has no deadline any more.
                let ends = actions.count { if case .finished = $0 { true } else { false } }
                let isOver = machine.isUnderWay && !copy.isUnderWay
                let isRefused =
                    word == "begin" && !copy.isUnderWay
                    || word == "begin"
                        && machine.isUnderWay
                #expect(ends == (isOver || isRefused ? 1 : 0), "\(name) \(word)")
                #expect(copy.isUnderWay == (copy.deadline != nil), "\(name) \(word)")
            }
        }
        try Table.expect(lines, equal: "exchange.txt")
    }

    @Test func `a challenge that overtakes the acceptance is used after it`() {
        var machine = Self.fresh()
        #expect(machine.begin(Self.lock, at: at(0)) == [.send([0, 1, 0])])
        machine.messageLeaves()
        #expect(machine.received(Self.challenge, at: at(1)) == [])
        #expect(machine.accepted(at: at(2)) == [.send(hex("80 0D 01 00 00 00 C7"))])
    }

    @Test func `verdict and result that overtake the acceptance are used after it`() {
        var machine = Self.fresh()
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        _ = machine.received(Self.challenge, at: at(0))
        machine.messageLeaves()
        #expect(machine.received([0x81, 0], at: at(1)) == [])
        #expect(machine.received(Self.success, at: at(1)) == [])
        #expect(
            machine.accepted(at: at(2))
                == [.finished(.success(CarShareReport(isSuccess: true)))]
        )
    }

    @Test(arguments: [1, 2, 5])
    func `a vehicle that says everything more than once is understood once`(times: Int) {
        func isRepeated(_ actions: [CarShareExchange.Action], _ length: Int) -> Bool {
            actions == [.note(.repeated(length: length))]
        }
        var machine = Self.fresh()
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        _ = machine.received(Self.challenge, at: at(0))
        for _ in 0..<times { #expect(isRepeated(machine.received(Self.challenge, at: at(0)), 35)) }
        machine.messageLeaves()
        for _ in 0..<times { #expect(isRepeated(machine.received(Self.challenge, at: at(0)), 35)) }
        _ = machine.accepted(at: at(0))
        for _ in 0..<times { #expect(isRepeated(machine.received(Self.challenge, at: at(0)), 35)) }
        #expect(machine.received([0x81, 0], at: at(1)) == [])
        for _ in 0..<times { #expect(isRepeated(machine.received([0x81, 0], at: at(1)), 2)) }
        #expect(
            machine.received(Self.success, at: at(1))
                == [.finished(.success(CarShareReport(isSuccess: true)))]
        )
    }

    @Test func `answers that overtake the acceptance more than once are understood once`() {
        var machine = Self.fresh()
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.received(Self.challenge, at: at(0))
        #expect(machine.received(Self.challenge, at: at(0)) == [.note(.repeated(length: 35))])
        #expect(machine.accepted(at: at(0)) == [.send(hex("80 0D 01 00 00 00 C7"))])
        machine.messageLeaves()
        for _ in 0..<3 { _ = machine.received([0x81, 0], at: at(1)) }
        for _ in 0..<3 { _ = machine.received(Self.success, at: at(1)) }
        #expect(
            machine.accepted(at: at(2))
                == [.finished(.success(CarShareReport(isSuccess: true)))]
        )
    }

    @Test func `another challenge is no repetition of the one that was answered`() {
        var machine = Self.fresh()
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        _ = machine.received(Self.challenge, at: at(0))
        let other = [1, 1, 0] + [UInt8](repeating: 0x7C, count: 32)
        #expect(
            machine.received(other, at: at(0))
                == [.finished(.failure(CarShareFailure(.notSent, .verdict(.length(35)))))]
        )
    }

    @Test func `a key that cannot sign ends the command before it is sent`() {
        var machine = Self.fresh(signs: false)
        _ = machine.begin(Self.lock, at: at(0))
        machine.messageLeaves()
        _ = machine.accepted(at: at(0))
        #expect(
            machine.received(Self.challenge, at: at(0))
                == [.finished(.failure(CarShareFailure(.notSent, .signing)))]
        )
    }

    @Test func `each state has the deadline of its limit`() {
        let deadlines = Self.machines().map { name, machine in
            "\(name) \(machine.deadline.map { "\($0.nanoseconds / 1_000_000_000)" } ?? "none")"
        }
        #expect(
            deadlines == [
                "idle none", "requesting 15", "requested 15", "overtaken 15",
                "waitingForChallenge 10", "issuing 15", "issued 15", "judgedEarly 15",
                "reportedEarly 15", "awaitingVerdict 15", "awaitingResult 60", "used none",
                "spent none",
            ]
        )
    }

    @Test(arguments: CarShareFailure.Phase.allCases)
    func `what did not come is said`(phase: CarShareFailure.Phase) {
        let sentence = CarShareFailure.Reason.silence(phase).description
        #expect(sentence.hasPrefix("the vehicle "))
    }
}

/// The connection to a vehicle: the reaction of each state to each event.
@Suite struct SocketTests {
    static func machines() -> [(String, CarShareSocket)] {
        var list: [(String, CarShareSocket)] = []
        var machine = CarShareSocket()
        list.append(("idle", machine))
        _ = machine.open(at: at(0))
        list.append(("initializing", machine))
        _ = machine.published(at: at(0))
        list.append(("advertising", machine))
        _ = machine.subscribed(maximumLength: 20)
        list.append(("connected", machine))
        _ = machine.unsubscribed()
        list.append(("lost", machine))
        return list
    }

    typealias Event = @Sendable (inout CarShareSocket) -> CarShareSocket.Action

    static let events: [(String, Event)] = [
        ("open", { $0.open(at: at(1)) }),
        ("published", { $0.published(at: at(1)) }),
        ("subscribed", { $0.subscribed(maximumLength: 244) }),
        ("subscribed0", { $0.subscribed(maximumLength: 0) }),
        ("nobody1", { $0.nobodyCame(at: at(1)) }),
        ("nobody3", { $0.nobodyCame(at: at(3)) }),
        ("nobody90", { $0.nobodyCame(at: at(90)) }),
        ("unsubscribed", { $0.unsubscribed() }),
        ("off", { $0.radioFailed(.off) }),
        ("missing", { $0.radioFailed(.missing) }),
        ("unavailable", { $0.radioFailed(.unavailable) }),
        ("unauthorized", { $0.radioFailed(.unauthorized) }),
        ("failed", { $0.radioFailed(.failed) }),
        ("close", { $0.close() }),
    ]

    private static func second(_ moment: Moment) -> String {
        "\(moment.nanoseconds / 1_000_000_000)"
    }

    static func word(_ state: CarShareSocket.State) -> String {
        switch state {
        case .idle: "idle"
        case .initializing(let until): "initializing(\(second(until)))"
        case .advertising(let round, let until): "advertising(\(second(round)), \(second(until)))"
        case .connected(let length): "connected(\(length))"
        case .closed(let error): "closed(\(error.map { "\($0)" } ?? "asked"))"
        }
    }

    static func word(_ action: CarShareSocket.Action) -> String {
        switch action {
        case .publish: "publish"
        case .advertise(let until): "advertise \(second(until))"
        case .publishAgain: "publishAgain"
        case .opened(let length): "opened \(length)"
        case .closed: "closed"
        case .wait: "wait"
        }
    }

    @Test func `every event in every state`() throws {
        var lines: [String] = []
        for (name, machine) in Self.machines() {
            for (word, event) in Self.events {
                var copy = machine
                let action = event(&copy)
                lines.append("\(name) \(word) -> \(Self.word(copy.state)) \(Self.word(action))")
                let isConnected =
                    copy.state == .connected(maximumLength: 20)
                    || copy.state == .connected(maximumLength: 244)
                #expect((copy.maximumLength != nil) == isConnected)
            }
        }
        try Table.expect(lines, equal: "socket.txt")
    }

    @Test func `it begins again after rounds that grow from three seconds, until the time is over`()
    {
        var machine = CarShareSocket()
        #expect(machine.open(at: at(0)) == .publish)
        let ends: [Double] = [3, 9, 21, 36, 51, 66, 81]
        for (begin, end) in zip([0] + ends, ends) {
            #expect(machine.published(at: at(begin)) == .advertise(until: at(end)))
            #expect(machine.nobodyCame(at: at(end)) == .publishAgain)
        }
        #expect(machine.published(at: at(81)) == .advertise(until: at(90)))
        #expect(machine.nobodyCame(at: at(90)) == .closed(.nobodyCame))
    }

    @Test func `a deadline from outside cuts the last round short`() {
        var machine = CarShareSocket()
        _ = machine.open(at: at(0), until: at(2))
        #expect(machine.published(at: at(0)) == .advertise(until: at(2)))
        #expect(machine.nobodyCame(at: at(2)) == .closed(.nobodyCame))
    }
}
