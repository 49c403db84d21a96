import Base
import Families
import Rollout
import Simulation
import Store
import Testing

@Suite struct NightTests {
    /// Every tenth module has a fault, and all of them are updated all the same.
    @Test func `a night in the depot brings every module home`() throws {
        let count = 60
        let modules = (1...count).map { number in
            DepotBench.module(number) {
                switch number % 30 {
                case 7: $0.faults = [.init(.linkLost(at: 31_000 + number), times: 2)]
                case 17: $0.faults = [.init(.restart(at: 52_000 - number))]
                case 27: $0.faults = [.init(.flap(total: .seconds(45), period: .seconds(8)))]
                default: break
                }
            }
        }
        let bench = DepotBench(seed: 2_026, modules)
        let report = try bench.run([.update(DepotBench.image(bytes: 64 << 10))])
        #expect(report.result.counts == [.succeeded: count])
        #expect(report.versions.allSatisfy { $0 == FirmwareVersion(4, 12) })
    }
}
