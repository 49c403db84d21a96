import Base
import BlueZ
import Radio
import Testing

/// What a device says about itself, and what was found on a link to it.
@Suite struct DeviceRecordTests {
    private static let advertised = GATTUUID(short: 0xFE59)
    private static let found = GATTUUID(short: 0x8D53)

    private static func uuids(_ list: GATTUUID...) -> [String: DBusValue] {
        ["UUIDs": .strings(list.map(\.description))]
    }

    private static let resolved = uuids(
        GATTUUID(short: 0x1800),
        GATTUUID(short: 0x1801),
        found,
        advertised
    )

    private static let manufacturerData: [String: DBusValue] = [
        "ManufacturerData": .dictionary(
            key: .uint16,
            value: .variant,
            [DBusEntry(key: .uint16(0xFFFF), value: .variant(.bytes([1])))]
        )
    ]

    private let path = ObjectPath("/org/bluez/hci0/dev_C0_00_00_00_00_01") ?? .root

    @Test func `services that were found on a link are not those of its advertisements`() {
        var device = DeviceRecord(path: path)
        _ = device.set(Self.uuids(Self.advertised))
        _ = device.set(Self.resolved)
        #expect(device.services == [Self.advertised])
    }

    @Test func `a device that advertises no service has none, whatever was found on a link`() {
        var device = DeviceRecord(path: path)
        _ = device.set(Self.manufacturerData)
        _ = device.set(Self.resolved)
        #expect(device.services == [])
    }

    @Test func `a device that says nothing of itself is known by what was found`() {
        var device = DeviceRecord(path: path)
        _ = device.set(Self.resolved)
        #expect(device.services.contains(Self.found))
    }
}

@Suite struct BondPropertyTests {
    @Test func `where BlueZ tells no bonds, what is paired is bonded`() {
        var device = DeviceRecord(path: .root)
        _ = device.set(["Paired": .boolean(true)])
        #expect(device.isBonded)
        // From 5.65 on it tells them, and a pairing alone has no keys.
        _ = device.set(["Bonded": .boolean(false), "Paired": .boolean(true)])
        #expect(!device.isBonded)
    }
}

@Suite struct ScannerMachineTests {
    private func scanning() -> ScannerMachine {
        var machine = ScannerMachine()
        #expect(machine.want(true) == .perform(.setFilter))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.start))
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.state == .on)
        return machine
    }

    @Test func `a scan is begun, set again for another filter, and ended with the last user`() {
        var machine = scanning()
        #expect(machine.want(true) == .nothing)
        #expect(machine.filterChanged() == .perform(.setFilter))
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.want(false) == .perform(.stop))
        #expect(machine.want(true) == .nothing)
        #expect(machine.want(false) == .nothing)
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.state == .off)
    }

    @Test func `a start that is in progress is a start`() {
        var machine = ScannerMachine()
        _ = machine.want(true)
        _ = machine.done(nil, mayCyclePower: true)
        #expect(machine.done(.inProgress, mayCyclePower: true) == .nothing)
        #expect(machine.state == .on)
    }

    @Test func `a stop that is refused is tried once more around a start`() {
        var machine = scanning()
        _ = machine.want(false)
        #expect(machine.done(.inProgress, mayCyclePower: true) == .perform(.startAgain))
        #expect(machine.done(.inProgress, mayCyclePower: true) == .perform(.stopAgain))
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.state == .off)
    }

    @Test func `a stop that is refused twice costs the adapter its power`() {
        var machine = scanning()
        _ = machine.want(false)
        _ = machine.done(.inProgress, mayCyclePower: true)
        _ = machine.done(nil, mayCyclePower: true)
        #expect(machine.done(.inProgress, mayCyclePower: true) == .perform(.powerOff))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.powerOn))
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.state == .off)
    }

    @Test func `an adapter with links keeps its power`() {
        var machine = scanning()
        _ = machine.want(false)
        _ = machine.done(.inProgress, mayCyclePower: false)
        _ = machine.done(nil, mayCyclePower: false)
        #expect(machine.done(.inProgress, mayCyclePower: false) == .nothing)
        #expect(machine.state == .off)
    }

    @Test func `a restart of a silent scan ends in a scan`() {
        var machine = scanning()
        #expect(machine.restart() == .perform(.stop))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.setFilter))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.start))
        #expect(machine.done(nil, mayCyclePower: true) == .nothing)
        #expect(machine.cyclePower() == .perform(.powerOff))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.powerOn))
        #expect(machine.done(nil, mayCyclePower: true) == .perform(.setFilter))
    }

    @Test(arguments: [
        (BlueZRefusal.notReady, RadioError.adapterOff), (.objectGone, .adapterMissing),
        (.serviceGone, .serviceUnavailable), (.accessDenied, .unauthorized),
    ])
    func `what cannot be repaired is told to all who scan`(refusal: BlueZRefusal, error: RadioError)
    {
        var machine = ScannerMachine()
        _ = machine.want(true)
        #expect(machine.done(refusal, mayCyclePower: true) == .fail(error))
        #expect(machine.state == .off)
    }
}

@Suite struct LadderTests {
    private static let begin = Moment(nanoseconds: 0)

    @Test func `each rung is taken once until something is heard`() {
        var ladder = WatchdogLadder()
        #expect(ladder.silent(mayCyclePower: true) == .restartScan)
        #expect(ladder.silent(mayCyclePower: true) == .cyclePower)
        #expect(ladder.silent(mayCyclePower: true) == .report)
        #expect(ladder.silent(mayCyclePower: true) == nil)
        ladder.heard()
        #expect(ladder.silent(mayCyclePower: false) == .restartScan)
        #expect(ladder.silent(mayCyclePower: false) == .report)
    }

    @Test func `a cap is learned from three failures in a row beside links`() {
        var cap = LinkCap(7)
        var learned = false
        for module in ["w", "x", "y", "z"] {
            learned = cap.failed(module, beside: 0, at: Self.begin) || learned
        }
        for module in ["a", "b"] {
            learned = cap.failed(module, beside: 3, at: Self.begin) || learned
        }
        cap.connected("e", as: 3, at: Self.begin)
        for module in ["a", "b"] {
            learned = cap.failed(module, beside: 3, at: Self.begin) || learned
        }
        #expect(!learned)
        learned = cap.failed("c", beside: 3, at: Self.begin)
        let room = (2...3).map { cap.hasRoom(beside: $0, at: Self.begin) }
        #expect(learned && cap.limit == 3 && room == [true, false])
    }

    @Test func `a module that always breaks off teaches nothing about the adapter`() {
        var cap = LinkCap(7)
        var learned = false
        for _ in 0..<50 { learned = cap.failed("a", beside: 2, at: Self.begin) || learned }
        #expect(!learned && cap.limit == 7)
    }

    @Test func `a cap that the adapter tells is believed at once`() {
        var cap = LinkCap(7)
        let learned = [4, 5, 0].map { cap.refused(beside: $0, at: Self.begin) }
        #expect(learned == [true, false, false])
        #expect(cap.limit == 4)
    }

    @Test
    func `a limit that bad modules were taken for is dropped when one fails with room to spare`() {
        var cap = LinkCap(7)
        for module in ["a", "b", "c"] { _ = cap.failed(module, beside: 6, at: Self.begin) }
        #expect(cap.limit == 6)
        _ = cap.failed("d", beside: 5, at: Self.begin)
        #expect(cap.limit == 6, "one that had no part in it proves nothing")
        _ = cap.failed("b", beside: 5, at: Self.begin)
        #expect(cap.limit == 7)
        let hasRoom = cap.hasRoom(beside: 6, at: Self.begin)
        #expect(hasRoom)
        _ = cap.refused(beside: 4, at: Self.begin)
        _ = cap.failed("b", beside: 3, at: Self.begin)
        #expect(cap.limit == 4, "the adapter's own word stays")
    }

    @Test func `modules that fail without other links lower no limit beside links`() {
        var cap = LinkCap(7)
        for module in ["a", "b", "c"] { _ = cap.failed(module, beside: 0, at: Self.begin) }
        let learned = ["a", "b", "c", "a"].map { cap.failed($0, beside: 5, at: Self.begin) }
        #expect(learned == [false, false, false, false] && cap.limit == 7)
        cap.connected("a", as: 6, at: Self.begin)
        let again = ["a", "d", "e"].map { cap.failed($0, beside: 6, at: Self.begin) }
        #expect(again == [false, false, true], "one that was connected since is believed")
    }

    @Test func `fewer links than were open lately are no limit, but later they may be`() {
        var cap = LinkCap(7)
        cap.connected("a", as: 7, at: Self.begin)
        let soon = Self.begin.advanced(by: LinkCap.proof - .nanoseconds(1))
        let late = Self.begin.advanced(by: LinkCap.proof)
        let learned = ["b", "c", "d", "e"].map { cap.failed($0, beside: 6, at: soon) }
        #expect(learned == [false, false, false, false] && cap.limit == 7)
        let again = ["f", "g", "h"].map { cap.failed($0, beside: 6, at: late) }
        #expect(again == [false, false, true] && cap.limit == 6)
    }

    @Test func `a guessed limit is tried soon, and dropped when one more link is made`() {
        var cap = LinkCap(7)
        for module in ["a", "b", "c"] { _ = cap.failed(module, beside: 3, at: Self.begin) }
        var now = Self.begin.advanced(by: LinkCap.doubt)
        let room = [
            cap.hasRoom(beside: 3, at: now.advanced(by: .nanoseconds(-1))),
            cap.hasRoom(beside: 3, at: now), cap.hasRoom(beside: 4, at: now),
        ]
        #expect(room == [false, true, false])
        // That one failed, too: the next is tried after twice the time.
        _ = cap.failed("d", beside: 3, at: now)
        now = now.advanced(by: LinkCap.doubt)
        let isEarly = cap.hasRoom(beside: 3, at: now)
        now = now.advanced(by: LinkCap.doubt)
        let isDue = cap.hasRoom(beside: 3, at: now)
        #expect(!isEarly && isDue)
        cap.connected("e", as: 4, at: now)
        #expect(cap.limit == 7)
        let hasRoom = cap.hasRoom(beside: 6, at: now)
        #expect(hasRoom)
    }

    @Test func `a learned cap rises again step by step, never beyond what is allowed`() {
        var cap = LinkCap(5)
        _ = cap.refused(beside: 3, at: Self.begin)
        var now = Self.begin.advanced(by: LinkCap.memory - .nanoseconds(1))
        var room = [cap.hasRoom(beside: 3, at: now)]
        for _ in 0..<3 {
            now = now.advanced(by: LinkCap.memory)
            room += [cap.hasRoom(beside: 3, at: now), cap.hasRoom(beside: 4, at: now)]
        }
        #expect(room == [false, true, false, true, true, true, true])
        #expect(cap.limit == 5)
    }
}

@Suite struct RefusalTests {
    static let rows: [(String, String, BlueZRefusal)] = [
        ("NotReady", "Resource Not Ready", .notReady),
        ("InProgress", "", .inProgress),
        ("Failed", "Operation already in progress", .inProgress),
        ("Failed", "le-connection-abort-by-local", .failed),
        ("Failed", "le-connection-concurrent-connection-limit", .tooManyLinks),
        ("Failed", "Not connected", .notConnected),
        ("Failed", "Operation failed with ATT error: 0x80", .att(0x80)),
        ("Failed", "Operation failed with ATT error: zz", .failed),
        ("NotPermitted", "Write acquired", .acquired),
        ("NotPermitted", "Notify acquired", .acquired),
        ("NotPermitted", "Not paired", .att(0x05)),
        ("NotPermitted", "Read not permitted", .att(0x02)),
        ("NotPermitted", "Write not permitted", .att(0x03)),
        ("NotPermitted", "Maximum advertisements reached", .notPermitted),
        ("NotAuthorized", "", .att(0x08)),
        ("InvalidArguments", "Invalid Length", .att(0x0D)),
        ("InvalidArguments", "Invalid offset", .att(0x07)),
        ("DoesNotExist", "", .objectGone),
        ("Unheard", "", .failed),
    ]

    @Test(arguments: rows.indices)
    func `an error of BlueZ has one meaning`(index: Int) {
        let (name, words, meaning) = Self.rows[index]
        #expect(BlueZRefusal(ErrorReply("org.bluez.Error." + name, words)) == meaning)
    }

    @Test(arguments: [
        ("UnknownObject", BlueZRefusal.objectGone), ("UnknownMethod", .objectGone),
        ("ServiceUnknown", .serviceGone), ("NoReply", .serviceGone),
        ("AccessDenied", .accessDenied), ("Failed", .failed),
    ])
    func `an error of the bus has one meaning`(name: String, meaning: BlueZRefusal) {
        #expect(BlueZRefusal(ErrorReply("org.freedesktop.DBus.Error." + name)) == meaning)
    }
}
