import Base
import Rollout
import Store
import Testing

/// The estimate of a plan's duration before the run.
@Suite struct EstimateTests {
    private func id(_ text: String) throws -> VehicleID { try #require(VehicleID(text)) }

    private func size(_ bytes: Int) throws -> ByteCount { try #require(ByteCount(bytes: bytes)) }

    private func measure(
        _ vehicle: String,
        _ model: String,
        bytes: Int,
        _ seconds: Int
    ) throws -> Measure {
        Measure(
            vehicle: try id(vehicle),
            model: model,
            bytes: try size(bytes),
            airtime: .seconds(seconds),
            at: WallTime(milliseconds: 0)
        )
    }

    /// With 20 s of settling and 8 s of other work, nothing is sent for 28 s of each airtime.
    private func estimate(_ measures: [Measure]) -> Estimate {
        Estimate(measures, quiet: .seconds(20), gap: .seconds(2))
    }

    @Test func `a vehicle's own rate comes first, then its model's, then what is assumed`() throws {
        let estimate = estimate([
            try measure("a", "city", bytes: 100_000, 38),
            try measure("b", "city", bytes: 100_000, 128),
        ])
        let own = estimate.airtime(try id("a"), model: "city", bytes: try size(200_000))
        #expect(own == (.seconds(48), .vehicle), "10,000 bytes a second")
        let slow = estimate.airtime(try id("b"), model: "city", bytes: try size(200_000))
        #expect(slow == (.seconds(228), .vehicle), "1,000 bytes a second")
        let other = estimate.airtime(try id("c"), model: "city", bytes: try size(110_000))
        #expect(other.1 == .model)
        #expect(other.0 > own.0 && other.0 < slow.0)
        let stranger = estimate.airtime(try id("d"), model: "cargo", bytes: try size(160_000))
        #expect(stranger == (.seconds(38), .assumed), "16,000 bytes a second")
    }

    @Test func `a measure that was all settling promises no endless rate`() throws {
        let estimate = estimate([try measure("a", "city", bytes: 100_000, 20)])
        let (time, _) = estimate.airtime(try id("a"), model: "city", bytes: try size(400_000))
        #expect(time == .seconds(30))
    }

    @Test func `links share the work, and no wave is quicker than its longest vehicle`() {
        let estimate = estimate([])
        let equal = [Duration](repeating: .seconds(60), count: 12)
        #expect(estimate.makespan(ofAirtimes: equal, links: 4) == .seconds(180))
        #expect(estimate.makespan(ofAirtimes: equal, links: 1) == .seconds(720))
        let uneven = equal + [.seconds(3_600)]
        #expect(
            estimate.makespan(ofAirtimes: uneven, links: 4)
                == estimate.duration(ofAirtime: .seconds(3_600))
        )
        #expect(estimate.makespan(ofAirtimes: [], links: 4) == .zero)
    }
}
