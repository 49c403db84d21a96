import Base
import BlueZ
import Radio
import Testing

@Suite struct RequestMachineTests {
    private static let begin = Moment(nanoseconds: 0)
    private static func at(_ milliseconds: Int) -> Moment {
        begin.advanced(by: .milliseconds(milliseconds))
    }

    private func machine(
        _ kind: RequestMachine.Kind = .read,
        before limit: Duration = .seconds(10)
    ) -> RequestMachine {
        RequestMachine(kind, before: Self.begin.advanced(by: limit), at: Self.begin)
    }

    /// A machine whose request was sent and is not answered yet.
    private func asked(
        _ kind: RequestMachine.Kind = .read,
        before limit: Duration = .seconds(10)
    ) -> RequestMachine {
        var machine = machine(kind, before: limit)
        if machine.begin(at: Self.begin) == .look { #expect(machine.drained() == .ask) }
        return machine
    }

    @Test(arguments: [
        RequestMachine.Kind.read, .write, .command, .startNotify, .acquireNotify,
    ])
    func `a request follows the packets that were sent before it`(kind: RequestMachine.Kind) {
        var machine = machine(kind)
        #expect(machine.begin(at: Self.begin) == .look)
        #expect(machine.notDrained(at: Self.begin) == .wait)
        #expect(machine.tick(at: Self.begin) == .wait)
        #expect(machine.tick(at: Self.at(1)) == .look)
        #expect(machine.drained() == .ask)
        #expect(machine.answered(nil, at: Self.at(1)) == .done)
    }

    @Test func `an empty socket is looked for soon, and then less often`() {
        var machine = machine()
        _ = machine.begin(at: Self.begin)
        var (now, pauses) = (Self.begin, [Int64]())
        for _ in 0..<7 {
            _ = machine.notDrained(at: now)
            let next = machine.deadline ?? now
            pauses.append(now.duration(to: next).nanoseconds / 1_000)
            now = next
            #expect(machine.tick(at: now) == .look)
        }
        #expect(pauses == [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
    }

    @Test func `a socket for packets does not wait for packets`() {
        var machine = machine(.acquireWrite)
        #expect(machine.begin(at: Self.begin) == .ask)
    }

    @Test func `what is busy is asked again, less and less often, until there is no time`() {
        var machine = asked(before: .seconds(1))
        var (now, pauses) = (Self.begin, [Int64]())
        while machine.answered(.inProgress, at: now) == .wait {
            let next = machine.deadline ?? now
            pauses.append(now.duration(to: next).nanoseconds / 1_000_000)
            now = next
            #expect(machine.tick(at: now) == .ask)
        }
        #expect(pauses == [20, 40, 80, 160, 200, 200, 200])
        #expect(machine.state == .over)
    }

    @Test func `a refusal without a reason waits for the news of a lost link`() {
        for refusal in [BlueZRefusal.failed, .att(0x0E)] {
            var machine = asked()
            #expect(machine.answered(refusal, at: Self.begin) == .wait)
            #expect(machine.tick(at: Self.at(199)) == .wait)
            #expect(machine.tick(at: Self.at(200)) == .fail(.att(ATTError(rawValue: 0x0E))))
            machine = asked()
            _ = machine.answered(refusal, at: Self.begin)
            #expect(machine.lost() == .fail(.linkLost))
            #expect(machine.lost() == .wait)
        }
    }

    @Test(arguments: [
        BlueZRefusal.notConnected, .objectGone, .serviceGone, .notReady,
    ])
    func `an answer that the link is gone ends it`(refusal: BlueZRefusal) {
        var machine = asked()
        #expect(machine.answered(refusal, at: Self.begin) == .lose)
    }

    static let rows: [(RequestMachine.Kind, BlueZRefusal, RequestMachine.Action)] = [
        (.read, .notPermitted, .fail(.att(.readNotPermitted))),
        (.write, .notPermitted, .fail(.att(.writeNotPermitted))),
        (.startNotify, .notPermitted, .fail(.att(.improperlyConfigured))),
        (.read, .att(0x05), .fail(.bond(.notConfigured))),
        (.acquireNotify, .att(0x0F), .fail(.bond(.notConfigured))),
        (.read, .att(0x08), .fail(.att(.insufficientAuthorization))),
        (.read, .att(0x06), .fail(.att(ATTError(rawValue: 0x06)))),
        (.read, .accessDenied, .fail(.unauthorized)),
        (.acquireNotify, .acquired, .doWithout(isLocked: true)),
        (.acquireNotify, .notPermitted, .doWithout(isLocked: true)),
        (.acquireNotify, .att(0x06), .doWithout(isLocked: false)),
        (.acquireNotify, .failed, .doWithout(isLocked: false)),
        (.acquireNotify, .att(0x08), .fail(.att(.insufficientAuthorization))),
        (.acquireWrite, .failed, .doWithout(isLocked: false)),
        (.acquireWrite, .att(0x03), .doWithout(isLocked: false)),
    ]

    @Test(arguments: rows.indices)
    func `a refusal has one meaning for what was asked`(index: Int) {
        let (kind, refusal, action) = Self.rows[index]
        var machine = asked(kind)
        #expect(machine.answered(refusal, at: Self.begin) == action)
    }

    @Test func `a bond that is not enough is reported by how it was to be made`() throws {
        let passkey = try #require(Passkey(1))
        for (pairing, failure) in [
            (Pairing.none, BondFailure.notConfigured), (.justWorks, .passkeyNeeded),
            (.passkey(passkey), .refused),
        ] {
            var machine = RequestMachine(.read, pairing, before: Self.at(1_000), at: Self.begin)
            _ = machine.begin(at: Self.begin)
            _ = machine.drained()
            let action = machine.answered(.att(0x05), at: Self.begin)
            #expect(action == .fail(.bond(failure)))
        }
    }

    @Test func `after a refused bond an answer is waited for only a short time`() {
        let failed = RequestMachine.Action.fail(.bond(.notConfigured))
        // In bluetoothd, or still behind packets that are not taken any more.
        for isSent in [true, false] {
            var machine = isSent ? asked(.startNotify) : machine(.startNotify)
            if !isSent { _ = machine.notDrained(at: Self.begin) }
            machine.bondRefused(until: Self.at(5_000))
            if isSent { #expect(machine.deadline == Self.at(5_000)) }
            #expect(machine.tick(at: Self.at(4_999)) == (isSent ? .wait : .look))
            #expect(machine.tick(at: Self.at(5_000)) == failed)
        }
        // The caller's limit may be earlier: the reason is the same.
        var machine = asked(before: .seconds(3))
        machine.bondRefused(until: Self.at(5_000))
        #expect(machine.tick(at: Self.at(3_000)) == failed)
        // The module, or bluetoothd, may report the end of the link first.
        machine = asked()
        machine.bondRefused(until: Self.at(5_000))
        #expect(machine.lost() == failed)
        machine = asked()
        machine.bondRefused(until: Self.at(5_000))
        #expect(machine.answered(.notConnected, at: Self.at(100)) == failed)
    }

    @Test func `a module that answers does not need the bond that it wanted`() {
        var machine = asked()
        machine.bondRefused(until: Self.at(5_000))
        machine.bondUnneeded()
        #expect(machine.deadline == Self.at(10_000))
        #expect(machine.tick(at: Self.at(10_000)) == .fail(.timedOut))
        machine = asked()
        machine.bondRefused(until: Self.at(5_000))
        #expect(machine.answered(nil, at: Self.at(100)) == .done)
        let kinds: [RequestMachine.Kind] = [
            .read, .write, .command, .startNotify, .acquireNotify, .acquireWrite,
        ]
        #expect(kinds.filter(\.isAnsweredByModule) == [.read, .write, .startNotify])
    }

    @Test func `a socket that we let go a moment ago is waited for, another's is not`() {
        var machine = asked(.acquireWrite)
        #expect(machine.answered(.acquired, at: Self.begin) == .wait)
        #expect(machine.tick(at: Self.at(20)) == .ask)
        #expect(machine.answered(nil, at: Self.at(20)) == .done)

        machine = asked(.acquireWrite)
        var now = Self.begin
        var action = machine.answered(.acquired, at: now)
        while action == .wait {
            now = machine.deadline ?? now
            _ = machine.tick(at: now)
            action = machine.answered(.acquired, at: now)
        }
        #expect(action == .doWithout(isLocked: true))
        #expect(now < Self.at(1_000))
    }

    @Test func `a request ends with its time, wherever it is`() {
        var machine = machine(before: .milliseconds(100))
        _ = machine.begin(at: Self.begin)
        _ = machine.notDrained(at: Self.begin)
        #expect(machine.tick(at: Self.at(100)) == .fail(.timedOut))
        machine = asked(before: .milliseconds(100))
        #expect(machine.deadline == Self.at(100))
        #expect(machine.tick(at: Self.at(100)) == .fail(.timedOut))
        #expect(machine.answered(nil, at: Self.at(101)) == .wait)
        machine = self.machine(before: .zero)
        #expect(machine.begin(at: Self.begin) == .fail(.timedOut))
    }
}
