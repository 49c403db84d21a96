package import Base
package import Store

/// Estimates how long updates will take, from the times of earlier ones.
package struct Estimate: Sendable {
    /// What an estimate is based on, the best first.
    package enum Ground: String, Sendable, Comparable, CaseIterable {
        case vehicle, model, assumed

        package static func < (left: Ground, right: Ground) -> Bool {
            (left == .vehicle && right != .vehicle) || (left == .model && right == .assumed)
        }
    }

    /// Bytes per second when nothing was measured: a connection interval of 30 ms, and flash that
    /// has to be erased.
    private static let assumedRate = 16_000.0
    /// Searching, connecting, authenticating, reading.
    private static let overhead = Duration.seconds(8)
    /// Restarts, in which no adapter is needed.
    private static let restarts = Duration.seconds(12)

    private let byVehicle: [VehicleID: Double]
    private let byModel: [String: Double]
    private let fixed: Duration

    /// `quiet` and `gap` are the connected time that settling takes at least.
    package init(_ measures: [Measure], quiet: Duration, gap: Duration) {
        let fixed = Self.overhead + max(quiet, gap)
        self.fixed = fixed
        var byVehicle: [VehicleID: Double] = [:]
        var sums: [String: (bytes: Double, seconds: Double)] = [:]
        for measure in measures where measure.bytes > .zero {
            let net = Self.seconds(measure.airtime - fixed)
            // No link is faster: the settle times may have been shorter then than they are now.
            let seconds = max(net, Double(measure.bytes.bytes) / 200_000)
            byVehicle[measure.vehicle] = Double(measure.bytes.bytes) / seconds
            sums[measure.model, default: (0, 0)].bytes += Double(measure.bytes.bytes)
            sums[measure.model]?.seconds += seconds
        }
        self.byVehicle = byVehicle
        byModel = sums.mapValues { $0.bytes / $0.seconds }
    }

    /// How long an adapter is used to send `bytes` to a vehicle and to watch it settle.
    package func airtime(
        _ vehicle: VehicleID,
        model: String,
        bytes: ByteCount
    ) -> (Duration, Ground) {
        let (rate, ground): (Double, Ground) =
            if let own = byVehicle[vehicle] {
                (own, .vehicle)
            } else if let model = byModel[model] {
                (model, .model)
            } else {
                (Self.assumedRate, .assumed)
            }
        return (fixed + .seconds(Double(bytes.bytes) / rate), ground)
    }

    /// From the first link to the verdict.
    package func duration(ofAirtime airtime: Duration) -> Duration { airtime + Self.restarts }

    /// How long these updates take together on `links` links: at least as long as the longest
    /// alone.
    package func makespan(ofAirtimes airtimes: [Duration], links: Int) -> Duration {
        let sum = airtimes.reduce(Duration.zero, +)
        let longest = airtimes.max().map { duration(ofAirtime: $0) } ?? .zero
        return max(sum / max(links, 1), longest)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.nanoseconds) / 1e9
    }
}
