import Base
import Store
import Testing

/// The databases that may grant rights.
@Suite struct EpochGuardTests {
    private func history(
        system: String = "7",
        timeline: String = "00000001",
        isSameTable: Bool = true,
        wait: Duration = .zero
    ) -> FleetHistory {
        FleetHistory(
            recordedSystem: "7",
            system: system,
            recordedTimeline: "00000001",
            timeline: timeline,
            isSameTable: isSameTable,
            generation: 3,
            wait: wait
        )
    }

    @Test func `the same database grants rights`() {
        #expect(EpochGuard(history(), known: nil) == .open)
        #expect(EpochGuard(history(), known: 3) == .open)
        #expect(EpochGuard(history(), known: 2) == .open)
    }

    @Test func `after a fail-over all wait`() {
        #expect(
            EpochGuard(history(timeline: "00000002"), known: 3)
                == .movedOn(from: "00000001", to: "00000002")
        )
        #expect(EpochGuard(history(wait: .seconds(9)), known: 3) == .waits(.seconds(9)))
    }

    @Test func `a backup grants nothing until a person has said so`() {
        for found in [
            EpochGuard(history(system: "8"), known: nil),
            EpochGuard(history(isSameTable: false), known: nil),
            EpochGuard(history(), known: 4),
            // This applies whatever else is wrong with the database.
            EpochGuard(history(system: "8", timeline: "00000002", wait: .seconds(9)), known: nil),
        ] {
            guard case .restored = found else {
                Issue.record("\(found)")
                continue
            }
        }
    }
}
