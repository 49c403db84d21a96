import Base
import Rollout
package import Show
package import Store

/// A fleet's figures for Prometheus.
package enum GatewayMetrics {
    /// The figures of the last start of each gateway.
    package static func families(_ all: [FleetGateway]) -> [MetricsText.Family] {
        var latest: [FleetGateway] = []
        for gateway in all where latest.last?.name != gateway.name { latest.append(gateway) }
        func family(
            _ name: String,
            _ help: String,
            _ value: (FleetGateway) -> Double?
        ) -> MetricsText.Family {
            MetricsText.family(
                "yardmaster_gateway_" + name,
                help: help,
                of: "gateway",
                latest.compactMap { gateway in value(gateway).map { (gateway.name, $0) } }
            )
        }
        func seconds(_ duration: Duration) -> Double {
            Double(duration.nanoseconds) / 1_000_000_000
        }
        return [
            family("up", "1 while it is at work and not silent.") {
                [.working, .draining].contains(SharedStanding.Worker.State($0)) ? 1 : 0
            },
            family("silent", "1 while it is silent and has not signed off.") {
                SharedStanding.Worker.State($0) == .silent ? 1 : 0
            },
            family("heard_timestamp_seconds", "The time of its last sign of life.") {
                Double($0.heard.milliseconds) / 1_000
            },
            family("rights_held", "Modules that it holds the right to.") { Double($0.modules) },
            family("links", "Modules that it can work with at the same time.") {
                ($0.figures?.links).map(Double.init)
            },
            family("rights_lost", "Rights of its run that ended before the work was done.") {
                ($0.figures?.rightsLost).map(Double.init)
            },
            family("database_wait_seconds", "How long its run has waited for the database.") {
                $0.figures.map { seconds($0.waited) }
            },
            family("unreported", "Results that it has not reported to the database yet.") {
                ($0.figures?.untold).map(Double.init)
            },
            family("clock_offset_seconds", "How far its clock is ahead of the server's.") {
                $0.clockOffset.map(seconds)
            },
        ]
    }

    /// Whether the database answers.
    package static func up(_ address: String, _ isUp: Bool) -> MetricsText.Family {
        MetricsText.family(
            "yardmaster_fleet_up",
            help: "1 while the fleet's database answers.",
            of: "fleet",
            [(address, isUp ? 1 : 0)]
        )
    }
}
