import Foundation
import Testing
import Workbench

/// The rules for Prometheus in `packaging/monitoring`, over what `serve` really gives.
@Suite struct MonitoringTests {
    private static let rules = Program.repository
        .appending(path: "packaging/monitoring/alerts.yml").path

    /// The samples of /metrics after these runs.
    private func samples(_ program: Program) throws -> [(name: String, value: Double)] {
        let serving = try Serving(program)
        let text = try serving.get("/metrics").text
        #expect(serving.stop() == 143)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let end = try #require(line.lastIndex(of: " "))
            let value = try #require(Double(line[line.index(after: end)...]))
            return (String(line[..<end]), value)
        }
    }

    private func night(_ depot: String) throws -> Program {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo(depot))
        return program
    }

    /// The names of the metrics in the expressions of the rules.
    private func asked() throws -> Set<String> {
        let text = try String(contentsOfFile: Self.rules, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains(" expr: ") }
            .reduce(into: []) { names, line in
                for match in line.matches(of: /yardmaster_[a-z_]+/) {
                    names.insert(String(match.output))
                }
            }
    }

    /// What promtool says to these alerts, `hours` after the last run of these samples.
    private func verdict(
        _ samples: [(name: String, value: Double)],
        after hours: Int,
        _ alerts: [String],
        in folder: String
    ) throws -> (status: Int32, text: String) {
        let end = try #require(
            samples.first { $0.name.hasPrefix("yardmaster_run_end_timestamp_seconds") }?.value
        )
        // A test of promtool begins at the time 0; the last run ended at its hour 400.
        let shift = end - 400 * 3_600
        let series = samples.map { name, value in
            let isTime = name.contains("_timestamp_seconds{") && value > 0
            return "{series: '\(name)', values: '\(isTime ? value - shift : value)x600'}"
        }
        let expected = alerts.map {
            "{labels: '{alertname=\"\($0)\"}', value: 1}"
        }
        let text = """
            rule_files: ['\(Self.rules)']
            evaluation_interval: 1h
            tests:
              - interval: 1h
                input_series: [\(series.joined(separator: ", "))]
                promql_expr_test:
                  - expr: count by (alertname) (ALERTS{alertstate="firing"})
                    eval_time: \(400 + hours)h
                    exp_samples: [\(expected.joined(separator: ", "))]
            """
        let file = folder + "/rules-test.yml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try #require(Tool("promtool")).run(["test", "rules", file], input: "")
        return (result.status, result.output + result.errors)
    }

    @Test func `each rule asks for metrics that serve has`() throws {
        var names = Set(
            try samples(try night("depot-troubled")).map { $0.name.prefix { $0 != "{" } }
        )
        // These are a fleet's, and what is not there before there is a debt.
        names.formUnion([
            "yardmaster_gateway_silent", "yardmaster_fleet_up",
            "yardmaster_rollout_oldest_debt_timestamp_seconds",
        ])
        let wanted = try asked()
        #expect(wanted.count > 8)
        #expect(wanted.filter { !names.contains(Substring($0)) } == [])
    }

    @Test(.enabled(if: Tool.isInstalled("promtool"), "promtool is not installed"))
    func `a bad night fires its alerts, and a good one none`() throws {
        let good = try night("depot")
        let well = try samples(good)
        let quiet = try verdict(well, after: 2, [], in: good.folder.path)
        #expect(quiet.status == 0, "\(quiet.text)")
        let late = try verdict(well, after: 31, ["YardmasterNightMissing"], in: good.folder.path)
        #expect(late.status == 0, "\(late.text)")
        let held = try good.run(["pause", "--reason", "the gates are shut", "--state", good.state])
        #expect(held.status == 0, "\(held.errors)")
        let shut = try verdict(
            try samples(good),
            after: 2,
            ["YardmasterRolloutHeld"],
            in: good.folder.path
        )
        #expect(shut.status == 0, "\(shut.text)")
        let bad = try night("depot-troubled")
        let fired = try verdict(
            try samples(bad),
            after: 2,
            [
                "YardmasterMechanicNeeded", "YardmasterNeverSucceeded", "YardmasterVehiclesFailed",
            ],
            in: bad.folder.path
        )
        #expect(fired.status == 0, "\(fired.text)")
    }
}
