import Base
import Families
import Rollout
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
