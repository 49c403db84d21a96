import Base
import BlueZ
import Radio
import Testing

@Suite struct AdapterMachineTests {
    private typealias Machine = AdapterMachine

    private static let begin = Moment(nanoseconds: 0)
    private static func after(_ seconds: Int) -> Moment { begin.advanced(by: .seconds(seconds)) }

    /// A machine with one active scan, started at `begin`.
    private func scanning(_ rules: Machine.Rules = Machine.Rules()) -> Machine {
        var machine = Machine("hci0", rules: rules)
        #expect(machine.scanBegan(1, at: Self.begin) == [.perform(.setFilter)])
        #expect(done(&machine) == [.perform(.start)])
        #expect(done(&machine) == [])
        return machine
    }

    private func done(
        _ machine: inout Machine,
        _ refusal: BlueZRefusal? = nil,
        at now: Moment = begin
    ) -> [Machine.Action] {
        machine.stepDone(refusal, isFree: true, at: now)
    }

    // MARK: Connecting

    @Test func `the scan rests while somebody connects, and goes on`() {
        var machine = scanning()
        #expect(machine.wantsToConnect(7, at: Self.begin) == [.perform(.stop)])
        #expect(!machine.isListening)
        #expect(done(&machine) == [.admit(7)])
        machine.linked("a", at: Self.begin)
        #expect(machine.attemptEnded(7, at: Self.begin) == [.perform(.setFilter)])
        #expect(machine.isListening)
    }

    @Test func `one connects at a time, in the order of their wishes`() {
        var machine = Machine("hci0")
        #expect(machine.wantsToConnect(1, at: Self.begin) == [.admit(1)])
        #expect(machine.wantsToConnect(2, at: Self.begin) == [])
        #expect(machine.wantsToConnect(3, at: Self.begin) == [])
        // The second attempt is given up while it waits.
        #expect(machine.attemptEnded(2, at: Self.begin) == [])
        #expect(machine.attemptEnded(1, at: Self.begin) == [.admit(3)])
    }

    @Test func `a stop that hangs is waited for three seconds`() {
        var machine = scanning()
        _ = machine.wantsToConnect(7, at: Self.begin)
        #expect(machine.deadline == Self.after(3))
        #expect(machine.tick(at: Self.after(3), isFree: true) == [.admit(7)])
    }

    @Test func `a module that must be heard has the scan on, for everybody`() {
        var machine = Machine("hci0")
        _ = machine.wantsToConnect(7, at: Self.begin)
        #expect(machine.mustHear(7, at: Self.begin) == [.perform(.setFilter)])
        #expect(machine.hearsForConnecting && machine.isListening)
        _ = done(&machine)
        _ = done(&machine)
        #expect(machine.attemptEnded(7, at: Self.begin) == [.perform(.stop)])
        #expect(!machine.hearsForConnecting)
    }

    @Test func `an adapter that serves a central connects nobody`() {
        var machine = Machine("hci0")
        machine.servesCentral = true
        #expect(
            machine.wantsToConnect(7, at: Self.begin) == [
                .note(.adapterServesACentral(adapter: "hci0")), .refuse(7, .noFreeLink),
            ]
        )
        machine.servesCentral = false
        #expect(machine.wantsToConnect(8, at: Self.begin) == [.admit(8)])
    }

    @Test func `links beyond the limit are refused until one ends`() {
        var rules = Machine.Rules()
        rules.links = 1
        var machine = Machine("hci0", rules: rules)
        _ = machine.wantsToConnect(1, at: Self.begin)
        machine.linked("a", at: Self.begin)
        _ = machine.attemptEnded(1, at: Self.begin)
        #expect(machine.wantsToConnect(2, at: Self.begin) == [.refuse(2, .noFreeLink)])
        machine.unlinked(at: Self.begin)
        #expect(machine.wantsToConnect(3, at: Self.begin) == [.admit(3)])
    }

    @Test func `a limit that the adapter tells is noted once`() {
        var machine = Machine("hci0")
        machine.linked("a", at: Self.begin)
        machine.linked("b", at: Self.begin)
        let first = machine.failed("c", .noFreeLink, at: Self.begin)
        let second = machine.failed("c", .noFreeLink, at: Self.begin)
        #expect(first == [.note(.limitLearned(adapter: "hci0", links: 2))])
        #expect(second == [])
    }

    @Test func `a limit that is only guessed is not told as a fact`() {
        var machine = Machine("hci0")
        machine.linked("a", at: Self.begin)
        let notes = ["b", "c", "d"].map { machine.failed($0, .connectFailed, at: Self.begin) }
        #expect(notes == [[], [], [.note(.limitGuessed(adapter: "hci0", links: 1))]])
    }

    @Test func `what a full adapter carried a moment ago is no limit for those that fail`() {
        var machine = Machine("hci0")
        for module in ["a", "b", "c"] { machine.linked(module, at: Self.begin) }
        let later = Self.begin.advanced(by: .seconds(600))
        machine.unlinked(at: later)
        for module in ["d", "e", "f"] {
            #expect(machine.failed(module, .connectFailed, at: later) == [])
        }
    }

    @Test func `what fails three times in a row is forgotten, and counted again`() {
        var machine = Machine("hci0")
        let misses = (0..<6).map { _ in machine.servicesMissed("a") }
        #expect(misses == [false, false, true, false, false, true])
        _ = machine.servicesMissed("a")
        _ = machine.servicesMissed("a")
        machine.linked("a", at: Self.begin)
        #expect(machine.servicesMissed("a") == false)
    }

    @Test func `keys that are missed three times in a row are lost`() {
        var machine = Machine("hci0")
        let misses = (0..<4).map { _ in machine.keysMissed("a") }
        #expect(misses == [false, false, true, false])
        // What has another reason between them breaks the row.
        _ = machine.keysMissed("a")
        machine.keysUntried("a")
        #expect(!machine.keysMissed("a") && !machine.keysMissed("a"))
        machine.linked("a", at: Self.begin)
        #expect(machine.keysMissed("a") == false)
        #expect(machine.keysMissed("b") == false)
    }

    // MARK: Losses

    @Test func `an adapter that goes ends the scans, and one that is back has none`() {
        for (presence, error) in [
            (Machine.Presence.off, RadioError.adapterOff), (.missing, .adapterMissing),
        ] {
            var machine = scanning()
            #expect(machine.changed(to: presence, at: Self.begin) == [.endScans(error)])
            #expect(machine.changed(to: presence, at: Self.begin) == [])
            #expect(machine.changed(to: .on, at: Self.begin) == [])
            #expect(machine.scanBegan(2, at: Self.begin) == [.perform(.setFilter)])
        }
    }

    @Test func `who waits for the scan to rest goes on when the adapter goes`() {
        var machine = scanning()
        _ = machine.wantsToConnect(7, at: Self.begin)
        #expect(
            machine.changed(to: .off, at: Self.begin) == [.endScans(.adapterOff), .admit(7)]
        )
    }

    @Test func `a refusal of the scan ends the scans`() {
        var machine = Machine("hci0")
        _ = machine.scanBegan(1, at: Self.begin)
        #expect(done(&machine, .accessDenied) == [.endScans(.unauthorized)])
        #expect(machine.scanEnded(1, at: Self.begin) == [])
    }

    // MARK: Silence

    @Test func `silence is met by a restart, then by power, then by a report`() {
        var machine = scanning()
        #expect(machine.deadline == Self.after(30))
        #expect(
            machine.tick(at: Self.after(30), isFree: true) == [
                .note(.scanRestarted(adapter: "hci0")), .perform(.stop),
            ]
        )
        for _ in 0..<3 { _ = done(&machine, at: Self.after(31)) }
        #expect(
            machine.tick(at: Self.after(61), isFree: true) == [
                .note(.powerCycled(adapter: "hci0")), .perform(.powerOff),
            ]
        )
        // The power cycle of this program switches the adapter off.
        #expect(machine.changed(to: .off, at: Self.after(61)) == [])
        for _ in 0..<4 { _ = done(&machine, at: Self.after(62)) }
        #expect(
            machine.tick(at: Self.after(92), isFree: true) == [.note(.deaf(adapter: "hci0"))]
        )
        #expect(machine.tick(at: Self.after(122), isFree: true) == [])
    }

    @Test func `what is heard puts the watchdog off`() {
        var machine = scanning()
        machine.heard(at: Self.after(20))
        #expect(machine.deadline == Self.after(50))
        #expect(machine.tick(at: Self.after(30), isFree: true) == [])
    }

    @Test func `an adapter that others use keeps its power`() {
        var machine = scanning()
        _ = machine.tick(at: Self.after(30), isFree: false)
        for _ in 0..<3 { _ = done(&machine, at: Self.after(30)) }
        let actions = machine.tick(at: Self.after(60), isFree: false)
        #expect(actions == [.note(.deaf(adapter: "hci0"))])
    }
}
