import Base
import Families
import Radio
import Simulation
import Synchronization
import Testing

@testable import VehicleModules

@Suite struct LogTests {
    private static var time: any Timekeeper { Simulation(seed: 1).time }

    @Test func `the last 250 entries are kept, the oldest first, and can be cleared`() {
        let log = ModuleLog(time: Self.time)
        #expect(log.entries.isEmpty)
        for number in 1...1_000 { log.info("entry \(number)") }
        #expect(log.entries.count == 250)
        #expect(log.entries.first?.text == "entry 751")
        #expect(log.entries.last?.text == "entry 1000")
        log.clear()
        #expect(log.entries.isEmpty)
        log.warning("again")
        #expect(log.entries.map(\.description) == ["2026-01-05T22:00:00.000Z warning: again"])
    }

    @Test func `only the levels that are wanted are kept`() {
        let log = ModuleLog(time: Self.time, levels: [.error])
        log.info("one")
        log.warning("two")
        log.error("three")
        log.keep([.warning])
        log.error("four")
        log.warning("five")
        #expect(log.entries.map(\.text) == ["three", "five"])
    }

    @Test func `the console can be switched on and off`() {
        let shown = Mutex<[String]>([])
        let log = ModuleLog(time: Self.time)
        log.info("one")
        log.show { entry in shown.withLock { $0.append(entry.text) } }
        log.info("two")
        log.show(on: nil)
        log.info("three")
        #expect(shown.withLock { $0 } == ["two"])
        #expect(log.entries.count == 3)
    }

    @Test func `no secret and no raw bytes get into an entry`() throws {
        let log = ModuleLog(time: Self.time)
        let secret = Secret(Array("0badcafe".utf8))
        let key = try ComoduleKey(secret)
        log.info("secret \(secret), key \(key), bytes \([0x0B, 0xAD] as [UInt8])")
        #expect(log.entries[0].text == "secret <secret>, key <secret>, bytes <2 bytes>")
    }

    @Test func `a name from the air cannot command a terminal`() {
        let log = ModuleLog(time: Self.time)
        log.info("heard \(name: "a\u{1B}[2Jb\nc")")
        #expect(log.entries[0].text == "heard a\\u{1b}[2Jb\\u{a}c")
    }
}
