import Domain
import Journal
import Rollout
import Simulation
import Testing

/// One interruption in each run, at every place there is: the end is always the right one.
@Suite struct InterruptionTests {
    /// What may be sent twice: one object and the packets under way, and init packets.
    private static let again = 4_096 + 24 * 244 + 2 * 200

    @Test(arguments: ModulePlan.Break.allCases, [true, false])
    func `whatever the module does at any exchange, it ends with the new version`(
        kind: ModulePlan.Break,
        isBefore: Bool
    ) throws {
        let whole = try InterruptionBench().run()
        #expect(whole.outcomes == [.succeeded])
        #expect(whole.exchanges > 80)
        for number in 1...whole.exchanges {
            var bench = InterruptionBench()
            bench.module.faults = [
                .init(.breaks(kind, atExchange: number, isBefore: isBefore))
            ]
            let report = try bench.run()
            check(report, "\(kind) \(isBefore ? "before" : "after") exchange \(number)")
        }
    }

    @Test(arguments: FaultyCentral.Fate.allCases)
    func `whatever happens to the host at any use of the radio, the update ends well`(
        fate: FaultyCentral.Fate
    ) throws {
        let whole = try InterruptionBench().run()
        for number in 1...whole.uses {
            let report = try InterruptionBench(fate: (fate, number)).run()
            check(report, "\(fate) at use \(number)")
        }
    }

    private func check(_ report: InterruptionBench.Report, _ what: String) {
        let isRight =
            report.outcomes == [.succeeded] || report.outcomes == [.alreadyCurrent]
        #expect(isRight, "\(what): \(report.outcomes), \(report.message)")
        #expect(report.version == FirmwareVersion(4, 12), "\(what)")
        #expect(!report.isInBootloader, "\(what)")
        #expect(report.record?.inBootloader == false, "\(what)")
        #expect(report.openIntents == 0, "\(what): an intent is left in doubt")
        #expect(
            report.packetBytes <= 9_000 + Self.again,
            "\(what): \(report.packetBytes) bytes for 9000"
        )
    }
}
