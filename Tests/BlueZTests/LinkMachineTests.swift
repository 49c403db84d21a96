import Base
import BlueZ
import Radio
import Testing

/// A link machine with the facts that its shell would collect.
private struct LinkBench {
    static let address = "C0:00:00:00:00:01"
    private static let adapter = ObjectPath("/org/bluez/hci0") ?? .root
    private static let path = ObjectPath("/org/bluez/hci0/dev_C0_00_00_00_00_01") ?? .root

    var machine: LinkMachine
    var facts: LinkFacts
    var now = Moment(nanoseconds: 0)

    init(
        _ policy: BondPolicy = .unbonded,
        isLeftBehind: Bool = false,
        isKnown: Bool = true,
        before limit: Duration = .seconds(100)
    ) {
        machine = LinkMachine(
            to: Self.address,
            on: "hci0",
            policy,
            isLeftBehind: isLeftBehind,
            before: now.advanced(by: limit)
        )
        var adapter = AdapterRecord(path: Self.adapter)
        adapter.isPowered = true
        facts = LinkFacts(adapter: adapter, device: nil)
        if isKnown { appear() }
    }

    mutating func appear() { facts.device = DeviceRecord(path: Self.path) }

    mutating func begin() -> [LinkMachine.Action] { machine.begin(facts, at: now) }

    mutating func see(_ change: (inout LinkFacts) -> Void) -> [LinkMachine.Action] {
        change(&facts)
        return machine.changed(facts, at: now)
    }

    mutating func connected(_ isConnected: Bool = true) -> [LinkMachine.Action] {
        see { $0.device?.isConnected = isConnected }
    }

    mutating func resolved(_ isResolved: Bool = true) -> [LinkMachine.Action] {
        see { $0.device?.isResolved = isResolved }
    }

    mutating func answer(
        _ call: LinkMachine.Call,
        _ refusal: BlueZRefusal? = nil
    ) -> [LinkMachine.Action] {
        machine.answered(call, refusal, facts, at: now)
    }

    mutating func pass(_ time: Duration) -> [LinkMachine.Action] {
        now = now.advanced(by: time)
        return machine.tick(facts, at: now)
    }

    mutating func measure(_ length: Int?) -> [LinkMachine.Action] {
        machine.socketMeasured(length, at: now)
    }

    mutating func read(_ mtu: Int?) -> [LinkMachine.Action] { machine.propertyRead(mtu, at: now) }
    mutating func release() -> [LinkMachine.Action] { machine.release(at: now) }
    mutating func drained() -> [LinkMachine.Action] { machine.drained(facts, at: now) }
    mutating func notDrained() -> [LinkMachine.Action] { machine.notDrained(at: now) }
    mutating func signOfLoss() -> [LinkMachine.Action] { machine.signOfLoss(facts, at: now) }
    mutating func cancelled() -> [LinkMachine.Action] { machine.cancelled(facts, at: now) }
    mutating func refused(_ error: RadioError) -> [LinkMachine.Action] { machine.refused(error) }

    /// An open link, ready for use, with 244 bytes per packet.
    static func standing(_ policy: BondPolicy = .unbonded) -> LinkBench {
        var bench = LinkBench(policy)
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        _ = bench.resolved()
        _ = bench.answer(.fence)
        _ = bench.measure(244)
        return bench
    }
}

@Suite struct LinkMachineTests {
    @Test func `a link is made step by step, and each step waits for its sign`() {
        var bench = LinkBench()
        #expect(bench.begin() == [.remember, .call(.connect)])
        #expect(bench.connected() == [])
        #expect(bench.answer(.connect) == [])
        #expect(bench.resolved() == [.call(.fence)])
        #expect(bench.answer(.fence) == [.measure])
        let stands = bench.measure(244)
        #expect(stands == [.stands(maximumLength: 244)])
        #expect(bench.machine.isStanding)
    }

    @Test func `an answer before its facts is waited for, and is no link without them`() {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.answer(.connect) == [])
        #expect(bench.pass(.seconds(2)) == [.call(.disconnect)])
        #expect(
            bench.answer(.disconnect, .notConnected) == [
                .forget, .failed(.radio(.connectFailed)), .over,
            ]
        )
    }

    @Test func `a device that is not known is heard first, once`() {
        var bench = LinkBench(isKnown: false)
        #expect(bench.begin() == [.hear])
        let heard = bench.see { _ in }
        #expect(heard == [])
        bench.appear()
        #expect(bench.see { _ in } == [.remember, .call(.connect)])
        #expect(bench.answer(.connect, .objectGone) == [.call(.disconnect)])
    }

    @Test func `a device that is dropped when it is called is heard again`() {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.answer(.connect, .objectGone) == [.forget, .hear])
        #expect(bench.pass(.seconds(10)) == [.failed(.radio(.connectFailed)), .over])
    }

    @Test func `a wait for hearing ends with the caller's own time, and says so`() {
        var bench = LinkBench(isKnown: false, before: .seconds(5))
        _ = bench.begin()
        #expect(bench.pass(.seconds(5)) == [.failed(.radio(.timedOut)), .over])
    }

    @Test func `services that a refused bond keeps back have that reason`() {
        for isLost in [true, false] {
            var bench = LinkBench()
            _ = bench.begin()
            _ = bench.connected()
            _ = bench.answer(.connect)
            bench.machine.bondRefused(at: bench.now)
            let end = isLost ? bench.connected(false) : bench.pass(.seconds(30))
            #expect(end == [.call(.disconnect)])
            _ = bench.connected(false)
            #expect(
                bench.answer(.disconnect)
                    == [.forget, .failed(.radio(.bond(.notConfigured))), .over]
            )
        }
    }

    @Test func `a bond that was refused long ago, or that has a setting, explains no lost link`() {
        for policy in [BondPolicy.unbonded, BondPolicy(.justWorks)] {
            var bench = LinkBench(policy)
            _ = bench.begin()
            _ = bench.connected()
            _ = bench.answer(policy.pairing == .none ? .connect : .pair)
            bench.machine.bondRefused(at: bench.now)
            #expect((bench.machine.bondLimit(at: bench.now) == nil) == (policy.pairing != .none))
            bench.now = bench.now.advanced(by: .seconds(policy.pairing == .none ? 6 : 1))
            _ = bench.connected(false)
            #expect(
                bench.answer(.disconnect) == [.forget, .failed(.radio(.connectFailed)), .over]
            )
        }
    }

    @Test func `services that are found need no bond, and neither does a module that answers`() {
        var bench = LinkBench()
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        bench.machine.bondRefused(at: bench.now)
        _ = bench.resolved()
        #expect(bench.machine.bondLimit(at: bench.now) == nil)
        bench = .standing()
        bench.machine.bondRefused(at: bench.now)
        #expect(bench.machine.bondLimit(at: bench.now) == bench.now.advanced(by: .seconds(5)))
        bench.machine.bondUnneeded()
        #expect(bench.machine.bondLimit(at: bench.now) == nil)
    }

    @Test func `services that are found and not there were refused by the module`() {
        var bench = LinkBench()
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        bench.facts.hasServices = false
        #expect(bench.resolved() == [.call(.fence)])
        #expect(bench.answer(.fence) == [.call(.disconnect)])
        _ = bench.connected(false)
        #expect(
            bench.answer(.disconnect)
                == [.forget, .failed(.services(isRefused: true)), .over]
        )
    }

    @Test func `an attempt that somebody began is joined, and not ended under him`() {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.answer(.connect, .inProgress) == [])
        #expect(bench.connected() == [])
        #expect(bench.resolved() == [.call(.fence)])
        _ = bench.answer(.fence)
        _ = bench.measure(20)
        bench.facts.isInUse = true
        #expect(bench.release() == [.look])
        let ended = bench.drained()
        #expect(ended == [.void, .forget, .over])
    }

    @Test(arguments: [
        (BlueZRefusal.notReady, RadioError.adapterOff), (.serviceGone, .serviceUnavailable),
        (.accessDenied, .unauthorized), (.tooManyLinks, .noFreeLink), (.failed, .connectFailed),
        (.canceled, .connectFailed), (.att(0x0E), .connectFailed),
    ])
    func `a refusal has one meaning, told when nothing is left`(
        refusal: BlueZRefusal,
        error: RadioError
    ) {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.answer(.connect, refusal) == [.call(.disconnect)])
        #expect(bench.answer(.disconnect) == [.forget, .failed(.radio(error)), .over])
    }

    @Test func `a connection that never answers is ended in its own time`() {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.pass(.seconds(24)) == [])
        #expect(bench.pass(.seconds(1)) == [.call(.disconnect)])
        // There is no answer to the disconnect either: the machine does not wait for it forever.
        #expect(
            bench.pass(.seconds(6)) == [
                .forget, .failed(.radio(.connectFailed)), .over,
            ]
        )
    }

    @Test func `what still stands after a vain end is left for the next run to know`() {
        var bench = LinkBench.standing()
        _ = bench.release()
        #expect(bench.drained() == [.void, .call(.disconnect)])
        #expect(bench.answer(.disconnect) == [])
        #expect(bench.pass(.seconds(6)) == [.over])
    }

    @Test func `services that are not found in time are another failure than no time`() {
        var bench = LinkBench()
        _ = bench.begin()
        _ = bench.answer(.connect)
        _ = bench.connected()
        #expect(bench.pass(.seconds(30)) == [.call(.disconnect)])
        _ = bench.connected(false)
        #expect(
            bench.answer(.disconnect)
                == [.forget, .failed(.services(isRefused: false)), .over]
        )

        bench = LinkBench(before: .seconds(10))
        _ = bench.begin()
        _ = bench.answer(.connect)
        _ = bench.connected()
        #expect(bench.pass(.seconds(10)) == [.call(.disconnect)])
        _ = bench.connected(false)
        #expect(bench.answer(.disconnect) == [.forget, .failed(.radio(.timedOut)), .over])
    }

    @Test func `without a socket the property tells, which may be late`() {
        var bench = LinkBench()
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        _ = bench.resolved()
        _ = bench.answer(.fence)
        #expect(bench.measure(nil) == [.readMTU])
        #expect(bench.read(23) == [])
        #expect(bench.pass(.milliseconds(200)) == [.readMTU])
        let stands = bench.read(517)
        #expect(stands == [.stands(maximumLength: 512)])
    }

    @Test(arguments: [(nil, 20), (23, 20), (24, 21), (247, 244), (9, 20), (60_000, 512)])
    func `a property of any size makes a length that can be sent`(mtu: Int?, length: Int) {
        var bench = LinkBench()
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        _ = bench.resolved()
        _ = bench.answer(.fence)
        _ = bench.measure(nil)
        var actions = bench.read(mtu)
        for _ in 0..<3 where actions.isEmpty {
            #expect(bench.pass(.milliseconds(200)) == [.readMTU])
            actions = bench.read(mtu)
        }
        #expect(actions == [.stands(maximumLength: length)])
    }

    // MARK: Losses

    /// Each of these is the first sign of a loss in one version of BlueZ or another.
    private static let losses: [@Sendable (inout LinkFacts) -> Void] = [
        { $0.isSameGeneration = false }, { $0.adapter = nil }, { $0.adapter?.isPowered = false },
        { $0.device = nil }, { $0.device?.isConnected = false },
        {
            $0.device?.isResolved = false
            $0.device?.isConnected = false
        },
    ]

    @Test(arguments: losses.indices)
    func `the first sign of a loss voids what stands`(index: Int) {
        var bench = LinkBench.standing()
        // When only the connection to BlueZ is lost, the link may still exist, and stays listed.
        let end: [LinkMachine.Action] = index == 0 ? [.over] : [.forget, .over]
        #expect(bench.see(Self.losses[index]) == [.void] + end)
    }

    @Test func `services that are found again are other services`() {
        var bench = LinkBench.standing()
        #expect(bench.resolved(false) == [.void, .call(.disconnect)])
        #expect(bench.resolved() == [])
        _ = bench.connected(false)
        #expect(bench.answer(.disconnect) == [.forget, .over])
    }

    @Test func `a socket that is gone is a loss, told once`() {
        var bench = LinkBench.standing()
        #expect(bench.signOfLoss() == [.void, .call(.disconnect)])
        #expect(bench.signOfLoss() == [])
    }

    @Test(arguments: losses.indices)
    func `a loss in the making is a failure and leaves nothing`(index: Int) {
        for steps in 0...3 {
            var bench = LinkBench()
            _ = bench.begin()
            _ = bench.connected()
            if steps > 0 { _ = bench.answer(.connect) }
            if steps > 1 { _ = bench.resolved() }
            if steps > 2 { _ = bench.answer(.fence) }
            var actions = bench.see(Self.losses[index])
            if steps == 0, actions.isEmpty { actions = bench.answer(.connect, .failed) }
            if actions == [.forget, .hear] { actions = bench.pass(.seconds(10)) }
            if actions == [.call(.disconnect)] { actions = bench.answer(.disconnect) }
            #expect(actions.contains { if case .failed = $0 { true } else { false } })
            #expect(actions.last == .over)
        }
    }

    // MARK: Whose link it is

    @Test func `a device that another program holds is named and left alone`() {
        var bench = LinkBench()
        bench.facts.device?.isConnected = true
        #expect(
            bench.begin() == [
                .note(.heldByAnother(adapter: "hci0", address: LinkBench.address)),
                .failed(.radio(.heldByAnother)), .over,
            ]
        )
    }

    @Test func `a link of an earlier run is ended before a new one is made`() {
        var bench = LinkBench(isLeftBehind: true)
        bench.facts.device?.isConnected = true
        #expect(
            bench.begin() == [
                .note(.leftBehind(adapter: "hci0", address: LinkBench.address)), .call(.disconnect),
            ]
        )
        #expect(bench.answer(.disconnect) == [])
        #expect(bench.connected(false) == [.remember, .call(.connect)])
    }

    @Test func `a link that did not end is left to the next try, and no other run is blamed`() {
        var bench = LinkBench.standing()
        _ = bench.release()
        _ = bench.drained()
        #expect(bench.answer(.disconnect) == [])
        // Without `forget`, the address stays among those of this program's links.
        #expect(bench.pass(.seconds(6)) == [.over])
        var next = LinkBench(isLeftBehind: true)
        next.facts.device?.isConnected = true
        guard case .note(let note) = next.begin().first else {
            Issue.record("the link that was left is not noted")
            return
        }
        #expect(note.description.contains("by an earlier link of this program"))
        #expect(!note.description.contains("run"))
    }

    @Test func `a link of an earlier run that somebody uses is that one's`() {
        var bench = LinkBench(isLeftBehind: true)
        bench.facts.device?.isConnected = true
        bench.facts.isInUse = true
        #expect(bench.begin().contains(.failed(.radio(.heldByAnother))))
    }

    // MARK: The end

    @Test func `what was sent last goes out before the link ends`() {
        var bench = LinkBench.standing()
        #expect(bench.release() == [.look])
        #expect(bench.notDrained() == [])
        #expect(bench.pass(.microseconds(499)) == [])
        #expect(bench.pass(.microseconds(1)) == [.look])
        #expect(bench.notDrained() == [])
        #expect(bench.pass(.milliseconds(1)) == [.look])
        #expect(bench.drained() == [.void, .call(.disconnect)])
        _ = bench.connected(false)
        #expect(bench.answer(.disconnect) == [.forget, .over])
    }

    @Test func `packets that nobody takes do not keep a link`() {
        var bench = LinkBench.standing()
        _ = bench.release()
        _ = bench.notDrained()
        #expect(bench.pass(.milliseconds(500)) == [.void, .call(.disconnect)])
    }

    @Test func `who gives up is not told, and nothing is left all the same`() {
        var bench = LinkBench()
        _ = bench.begin()
        #expect(bench.cancelled() == [.call(.disconnect)])
        #expect(bench.answer(.disconnect) == [.forget, .over])
        bench = LinkBench(isKnown: false)
        _ = bench.begin()
        #expect(bench.cancelled() == [.over])
    }

    @Test func `a wait in the line is refused or runs out like any other`() {
        var bench = LinkBench()
        #expect(bench.refused(.noFreeLink) == [.failed(.radio(.noFreeLink)), .over])
        bench = LinkBench(before: .seconds(3))
        #expect(bench.pass(.seconds(3)) == [.failed(.radio(.timedOut)), .over])
    }
}

@Suite struct BondMachineTests {
    private static let passkey = Passkey(123_456).map { BondPolicy(.passkey($0)) } ?? .unbonded

    @Test func `a module that wants a bond is paired instead of connected to`() {
        var bench = LinkBench(BondPolicy(.justWorks))
        #expect(bench.begin() == [.remember, .call(.pair)])
        _ = bench.connected()
        _ = bench.resolved()
        #expect(bench.answer(.pair) == [.bonded, .call(.fence)])
    }

    @Test func `a bond that nobody asked a passkey for is dropped`() {
        var bench = LinkBench(Self.passkey)
        _ = bench.begin()
        _ = bench.connected()
        #expect(bench.answer(.pair) == [.unbond, .call(.disconnect)])
        #expect(bench.answer(.disconnect) == [])
        #expect(bench.connected(false).contains(.failed(.radio(.bond(.passkeyUnused)))))
    }

    @Test func `a bond that is there is not made again`() {
        var bench = LinkBench(BondPolicy(.justWorks))
        bench.facts.device?.isBonded = true
        #expect(bench.begin() == [.remember, .call(.connect)])
    }

    @Test func `a bond that was made meanwhile needs a link all the same`() {
        var bench = LinkBench(BondPolicy(.justWorks))
        _ = bench.begin()
        #expect(bench.answer(.pair, .alreadyExists) == [.call(.connect)])
    }

    @Test(arguments: [
        (BlueZRefusal.Authentication.failed, RadioError.bond(.refused)),
        (.rejected, .connectFailed), (.canceled, .connectFailed), (.noLink, .connectFailed),
        (.timedOut, .bond(.timedOut)),
    ])
    func `a pairing that fails has one meaning`(
        what: BlueZRefusal.Authentication,
        error: RadioError
    ) {
        var bench = LinkBench(BondPolicy(.justWorks))
        _ = bench.begin()
        _ = bench.answer(.pair, .authentication(what))
        #expect(bench.answer(.disconnect) == [.forget, .failed(.radio(error)), .over])
    }

    @Test(arguments: [true, false])
    func `a passkey is wrong when it was asked for and not taken`(isAsked: Bool) {
        var bench = LinkBench(Self.passkey)
        _ = bench.begin()
        if isAsked { bench.machine.passkeyGiven() }
        _ = bench.answer(.pair, .authentication(.failed))
        let failure = isAsked ? BondFailure.wrongPasskey : .refused
        #expect(bench.answer(.disconnect).contains(.failed(.radio(.bond(failure)))))
    }

    @Test func `a pairing without an end is ended after a minute`() {
        var bench = LinkBench(BondPolicy(.justWorks))
        _ = bench.begin()
        #expect(bench.pass(.seconds(59)) == [])
        #expect(bench.pass(.seconds(1)) == [.call(.disconnect)])
        #expect(bench.answer(.disconnect).contains(.failed(.radio(.bond(.timedOut)))))
    }

    @Test(arguments: [BlueZRefusal.failed, .canceled, .keyMissing])
    func `a link that breaks off before its services speaks of lost keys`(refusal: BlueZRefusal) {
        var bench = LinkBench(BondPolicy(.justWorks))
        bench.facts.device?.isBonded = true
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.connected(false)
        #expect(bench.answer(.connect, refusal) == [.call(.disconnect)])
        #expect(bench.answer(.disconnect) == [.forget, .failed(.keys), .over])
    }

    @Test func `a link that breaks off after its services has lost no keys`() {
        var bench = LinkBench(BondPolicy(.justWorks))
        bench.facts.device?.isBonded = true
        _ = bench.begin()
        _ = bench.connected()
        _ = bench.answer(.connect)
        _ = bench.resolved()
        #expect(bench.connected(false) == [.call(.disconnect)])
        #expect(bench.answer(.disconnect) == [.forget, .failed(.radio(.connectFailed)), .over])
    }

    @Test func `a bonded module that was never connected has lost nothing`() {
        var bench = LinkBench()
        bench.facts.device?.isBonded = true
        _ = bench.begin()
        _ = bench.answer(.connect, .failed)
        #expect(bench.answer(.disconnect).contains(.failed(.radio(.connectFailed))))
    }
}
