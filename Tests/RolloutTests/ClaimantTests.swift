import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Two modules that claim one serial: the one that accepts our secret is updated, and the report
/// names both.
@Suite struct ClaimantTests {
    @Test func `of two modules with one serial the one that takes our secret is updated`() throws {
        for seed in 1...12 {
            let own = DepotBench.module(1) { $0.isBonded = true }
            // A stronger signal, heard more often, with another address.
            let other = DepotBench.module(1) {
                $0.key = [UInt8](repeating: 0x22, count: 20)
                $0.signal = -40
                $0.advertisingInterval = .milliseconds(50)
                $0.addressGeneration = 5
            }
            let bench = DepotBench(seed: UInt64(seed), [own, other])
            let report = try bench.run([.update(DepotBench.image(bytes: 6_000))], vehicles: 1)
            #expect(report.result.counts == [.succeeded: 1], "\(report.record(1)?.end as Any)")
            #expect(
                report.versions == [FirmwareVersion(4, 12), FirmwareVersion(4, 11, 3)],
                "seed \(seed)"
            )
            let message = report.record(1)?.end?.message ?? ""
            // When the right module is heard first, the run may never learn that there is another
            // one.
            if message.contains("claim the serial") {
                #expect(message.contains("2 modules claim the serial 00a0000000000001"))
            }
        }
    }

    private func warnings(
        of bench: DepotBench,
        _ outcome: Outcome = .succeeded
    ) throws -> [String] {
        let report = try bench.run([.update(DepotBench.image(bytes: 6_000))], vehicles: 1)
        #expect(report.result.counts == [outcome: 1], "\(report.record(1)?.end as Any)")
        return bench.events.compactMap { event in
            if case .warning(let text) = event.body { text } else { nil }
        }
    }

    @Test func `of two modules with one serial and one secret a warning names both`() throws {
        for seed in 1...8 {
            let twin = DepotBench.module(1) { $0.addressGeneration = 5 }
            let bench = DepotBench(seed: UInt64(seed), [DepotBench.module(1), twin])
            // The one that was not updated answers after the restart: nothing is proven.
            let warnings = try warnings(of: bench, .failed)
            #expect(warnings.count == 1, "seed \(seed): \(warnings)")
            let text = warnings.first ?? ""
            #expect(text.hasPrefix("v1: two modules in reach have the serial 00a0000000000001"))
            #expect(text.contains("at C0:00:00:00:00:02 and C5:00:00:00:00:02"), "\(text)")
        }
    }

    @Test
    func `a module alone is not warned of, and neither is one with another address each time`()
        throws
    {
        for seed in 1...4 {
            let module = DepotBench.module(1) { $0.faults = [.init(.addressChanges, times: 9)] }
            #expect(try warnings(of: DepotBench(seed: UInt64(seed), [module])) == [])
        }
    }

    @Test(arguments: [("ABA", "AB"), ("ABCDB", "BD"), ("AAB", nil), ("ABCDEF", nil), ("", nil)])
    func `an address that is heard again after another one is a second module's`(
        heard: String,
        pair: String?
    ) {
        var namesakes = Namesakes()
        for letter in heard { namesakes.hears(Peer(handle: String(letter))) }
        #expect(namesakes.pair.map { $0.map(\.handle).joined() } == pair)
    }

    @Test func `both are named when the other one was met first`() throws {
        let own = DepotBench.module(1) { $0.signal = -80 }
        let other = DepotBench.module(1) {
            $0.key = [UInt8](repeating: 0x22, count: 20)
            $0.advertisingInterval = .milliseconds(20)
            $0.addressGeneration = 5
        }
        let bench = DepotBench(seed: 3, [own, other])
        let report = try bench.run([.update(DepotBench.image(bytes: 6_000))], vehicles: 1)
        #expect(report.result.counts == [.succeeded: 1], "\(report.record(1)?.end as Any)")
        let message = report.record(1)?.end?.message ?? ""
        #expect(message.contains("2 modules claim the serial"), "\(message)")
        #expect(message.contains("did not take our secret"), "\(message)")
    }
}
