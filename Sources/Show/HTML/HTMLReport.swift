package import Base
import Store

/// A run as one HTML file that opens in any browser.
package enum HTMLReport {
    /// `zone` is the zone of the window; the report shows times in it.
    package static func text(_ story: RunStory, zone: Zone = .utc) -> String {
        let rollout = story.start?.rollout ?? "rollout"
        return HTML.file(
            "\(rollout): rollout report",
            "<h1>\(rollout)</h1>\n\(content(story, time: zone.screen()))"
        )
    }

    /// The same below its title; with `most` at most this many vehicles, those to look at first.
    static func content(
        _ story: RunStory,
        time: (WallTime) -> String,
        most: Int = .max
    ) -> HTML {
        let waves = story.waveStatuses
        let wanting = wanting(story)
        var shown = story.vehicles
        if shown.count > most {
            let first = Set(wanting.map(\.id))
            shown = Array((wanting + shown.filter { !first.contains($0.id) }).prefix(most))
        }
        let more = story.vehicles.count - shown.count
        let rest: HTML =
            more == 0
            ? "" : "<p>\("\(counted(more, "vehicle")) more are in the report of the run.")</p>\n"
        return """
            \(head(story, time))\
            \(.tiles(story.vehicleCounts, sent: ByteCount(bytes: story.bytesSent)))\
            \(.section("To look at", attention(Array(wanting.prefix(most)))))\
            \(waves.count > 1 ? .section("Waves", .waves(waves)) : "")\
            \(more == 0 ? .section("Time line", HTMLTimeLine.content(story)) : "")\
            \(.section("Vehicles", vehicles(shown) + rest))\
            \(.section("Images", .list(story.images.map(line))))\
            \(.section("Course", .list(story.notices)))\
            \(.section("Warnings", .list(story.warnings)))
            """
    }

    private static func head(_ story: RunStory, _ time: (WallTime) -> String) -> HTML {
        var parts: [String] = []
        if let start = story.start {
            parts = [
                "run \(start.name)", counted(start.vehicles, "vehicle"),
                start.adapters.joined(separator: ", "), "plan \(start.plan.description.prefix(12))",
            ]
            if let words = start.approval { parts.append(words) }
            if let seed = start.seed { parts.append("simulated, seed \(seed)") }
        }
        if let began = story.began { parts.append("from \(time(began))") }
        if let end = story.end {
            parts += ["to \(time(end.time))", "took \(end.run.took.brief)"]
        }
        return .facts(parts.joined(separator: " · ")) + exit(story, time)
    }

    private static func exit(_ story: RunStory, _ time: (WallTime) -> String) -> HTML {
        if let end = story.end?.run {
            return .banner(end.exitCode == 0 ? .good : .bad, "Exit \(end.exitCode)", end.reason)
        }
        if let stood = story.stood, stood.isAtWork {
            return .banner(.wait, "At work", "as it stood at \(time(stood.time))")
        }
        return .banner(
            .bad,
            "Cut off",
            "its process ended unexpectedly; the next run of this rollout continues from the "
                + "modules' state"
        )
    }

    // MARK: Vehicles

    /// The vehicles that are not where they should be; those that failed come first.
    private static func wanting(_ story: RunStory) -> [VehicleInRun] {
        func mark(_ vehicle: VehicleInRun) -> HTML.Mark { HTML.Mark(vehicle.verdict?.outcome) }
        let wanting = story.vehicles.filter { mark($0) != .good }
        return wanting.filter { mark($0) == .bad } + wanting.filter { mark($0) != .bad }
    }

    private static func attention(_ wanting: [VehicleInRun]) -> HTML {
        guard !wanting.isEmpty else {
            return "<p>Nothing: every vehicle is where it should be.</p>\n"
        }
        let items = wanting.map { vehicle -> HTML in
            let problems = vehicle.problems.map { problem -> HTML in
                "<div class=\"measured\">\(problem.check): measured <b>\(problem.measured)</b>, "
                    + "required <b>\(problem.required)</b></div>"
            }
            return "<b>\(vehicle.id.text)</b> \(badge(vehicle)) \(vehicle.sentence)\(problems)"
        }
        return .list(items, "attention")
    }

    private static func badge(_ vehicle: VehicleInRun) -> HTML {
        .badge(vehicle.name, HTML.Mark(vehicle.verdict?.outcome))
    }

    private static func vehicles(_ vehicles: [VehicleInRun]) -> HTML {
        .table(
            [
                "vehicle", "outcome", "versions", "took", "sent", "rate", "interruptions",
                "message",
            ],
            vehicles.map(row)
        )
    }

    private static func row(_ vehicle: VehicleInRun) -> HTML.Row {
        let verdict = vehicle.verdict
        let causes = vehicle.interruptions
        return HTML.Row(cells: [
            "<b>\(vehicle.id.text)</b>\(vehicle.serial.map { small($0.text) })", badge(vehicle),
            verdict?.versions.map { "\($0)" },
            verdict.flatMap { $0.took > .zero ? "\($0.took.brief)" : nil },
            ByteCount(bytes: vehicle.bytesSent).flatMap { $0 > .zero ? "\($0)" : nil },
            vehicle.rate.map { "\(Markup.number($0 / 1_024, digits: 1)) KiB/s" },
            causes.isEmpty
                ? nil : "<span title=\"\(causes.joined(separator: "; "))\">\(causes.count)</span>",
            message(vehicle),
        ])
    }

    private static func message(_ vehicle: VehicleInRun) -> HTML {
        let steps = vehicle.steps.map { step in
            let facts = step.facts.map { ", \($0.name) \($0.value)" }.joined()
            return small("\(step.action): \(step.fate.rawValue)\(facts)")
        }
        let retries = vehicle.retries.map { retry in
            small("tried again after \(retry.failure.rawValue): \(retry.message)")
        }
        return "\(vehicle.sentence)\(steps)\(retries)"
    }

    private static func small(_ text: String) -> HTML { "<br><small>\(text)</small>" }

    private static func line(
        _ image: (name: String, size: ByteCount, provenance: [String])
    ) -> HTML {
        "\(image.name), \(image.size)\(image.provenance.map { "<br>\($0)" as HTML })"
    }
}
