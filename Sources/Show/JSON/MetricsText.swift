package import Base
import Store

/// A run as metrics for the textfile collector of the Prometheus node exporter.
///
/// The names are stable and the cardinality is low: no metric has a vehicle as a label.
package enum MetricsText {
    private static let success = "yardmaster_run_last_success_timestamp_seconds"

    /// One metric with its samples, from one rollout or from several.
    package struct Family: Sendable {
        let name: String
        let help: String
        private(set) var samples: [(labels: String, value: String)]

        var text: String {
            var text = "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
            for sample in samples { text += "\(name){\(sample.labels)} \(sample.value)\n" }
            return text
        }

        fileprivate mutating func add(_ family: Family) { samples += family.samples }
    }

    /// `earlier` is the previous content of the file: the time of the last success survives a
    /// failed run.
    package static func text(_ story: RunStory, earlier: String = "") -> String {
        let families = families(story) { sample(success, $0, in: earlier) }
        guard !families.isEmpty else { return earlier }
        return families.map(\.text).joined()
    }

    /// Several metrics in one text, each name once, as the format requires.
    package static func text(_ families: [Family]) -> String {
        var merged: [Family] = []
        for family in families {
            if let index = merged.firstIndex(where: { $0.name == family.name }) {
                merged[index].add(family)
            } else {
                merged.append(family)
            }
        }
        return merged.map(\.text).joined()
    }

    /// A metric for named things, such as the gateways of a fleet.
    package static func family(
        _ name: String,
        help: String,
        of kind: String,
        _ samples: [(name: String, value: Double)]
    ) -> Family {
        Family(
            name: name,
            help: help,
            samples: samples.map {
                (
                    labels: "\(kind)=\"\(label($0.name))\"",
                    value: Markup.number($0.value, digits: $0.value == $0.value.rounded() ? 0 : 3)
                )
            }
        )
    }

    /// How a rollout stands, over all its runs: its vehicles, its state, what people have to do.
    package static func standing(_ brief: RolloutStatus.Brief) -> [Family] {
        let rollout = "rollout=\"\(label(brief.run.rollout))\""
        let counts = brief.counts
        func family(
            _ name: String,
            _ help: String,
            _ kind: String,
            _ samples: [(String, Int)]
        ) -> Family {
            Family(
                name: "yardmaster_rollout_" + name,
                help: help,
                samples: samples.map { ("\(rollout),\(kind)=\"\($0.0)\"", String($0.1)) }
            )
        }
        let families = [
            family(
                "vehicles",
                "Vehicles of the rollout by outcome, as its last run left them.",
                "outcome",
                Outcome.allCases.map { ($0.rawValue, counts.outcomes[$0] ?? 0) }
                    + [("unfinished", counts.unfinished)]
            ),
            family(
                "state",
                "1 for the state that the rollout is in, or the hold that people or a gate have set.",
                "state",
                RolloutStatus.stateWords.map { ($0, $0 == brief.state ? 1 : 0) }
            ),
            family(
                "tasks",
                "Vehicles that somebody, or a run, has to see to, by the kind of work.",
                "work",
                brief.tasks.map { tasks in
                    NextStep.Work.allCases.map { ($0.rawValue, tasks[$0] ?? 0) }
                } ?? []
            ),
            Family(
                name: "yardmaster_rollout_at_work",
                help: "1 while a run works on the rollout.",
                samples: brief.isAtWork.map { [(rollout, $0 ? "1" : "0")] } ?? []
            ),
            Family(
                name: "yardmaster_rollout_oldest_debt_timestamp_seconds",
                help: "When the oldest update that is not proven yet was begun.",
                samples: brief.oldestDebt.map { [(rollout, stamp($0))] } ?? []
            ),
        ]
        return families.filter { !$0.samples.isEmpty }
    }

    /// The metrics of a run; one without an end has no exit code and no length.
    ///
    /// `earlier` returns the sample of the last success before this run, by its labels.
    package static func families(
        _ story: RunStory,
        earlier: (_ labels: String) -> String?
    ) -> [Family] {
        guard let start = story.start, let began = story.began else { return [] }
        let rollout = "rollout=\"\(label(start.rollout))\""
        let families =
            times(story, rollout, began: began, earlier: earlier(rollout)) + counts(story, rollout)
        return families.filter { !$0.samples.isEmpty }
    }

    /// When a run began and ended, and with what.
    private static func times(
        _ story: RunStory,
        _ rollout: String,
        began: WallTime,
        earlier: @autoclosure () -> String?
    ) -> [Family] {
        let end = story.end
        func family(_ name: String, _ help: String, _ value: String?) -> Family {
            Family(name: name, help: help, samples: value.map { [(rollout, $0)] } ?? [])
        }
        return [
            family(
                "yardmaster_run_start_timestamp_seconds",
                "When the last run began.",
                stamp(began)
            ),
            family(
                "yardmaster_run_end_timestamp_seconds",
                "When the last run ended.",
                end.map { stamp($0.time) }
            ),
            family(
                success,
                "When a run last ended with exit code 0; 0 before the first.",
                end.flatMap { $0.run.exitCode == 0 ? stamp($0.time) : nil } ?? earlier() ?? "0"
            ),
            family(
                "yardmaster_run_exit_code",
                "What the last run ended with.",
                end.map { String($0.run.exitCode) }
            ),
            family(
                "yardmaster_run_seconds",
                "How long the last run took.",
                end.map { Markup.seconds($0.run.took) }
            ),
        ]
    }

    /// What a run's vehicles and transfers came to.
    private static func counts(_ story: RunStory, _ rollout: String) -> [Family] {
        let vehicles = story.vehicles
        return [
            Family(
                name: "yardmaster_run_vehicles",
                help: "Vehicles of the last run by outcome.",
                samples: Outcome.allCases.map {
                    ("\(rollout),outcome=\"\($0.rawValue)\"", String(story.counts[$0] ?? 0))
                } + [("\(rollout),outcome=\"unfinished\"", String(story.unfinished))]
            ),
            Family(
                name: "yardmaster_run_failures",
                help: "Vehicles of the last run by class of failure.",
                samples: FailureClass.allCases.map { failure in
                    (
                        "\(rollout),class=\"\(failure.rawValue)\"",
                        String(vehicles.count { $0.verdict?.failure == failure })
                    )
                }
            ),
            Family(
                name: "yardmaster_run_image_bytes",
                help: "Image bytes sent over the air in the last run, repeats included.",
                samples: [(rollout, String(story.bytesSent))]
            ),
            Family(
                name: "yardmaster_run_transfer_seconds",
                help:
                    "Time in which image bytes were on their way in the last run, over all vehicles.",
                samples: [
                    (rollout, Markup.seconds(vehicles.reduce(.zero) { $0 + $1.transfer }))
                ]
            ),
            Family(
                name: "yardmaster_run_interruptions",
                help: "Transfers of the last run that had to be taken up again.",
                samples: [(rollout, String(vehicles.reduce(0) { $0 + $1.interruptions.count }))]
            ),
        ]
    }

    package static func stamp(_ time: WallTime) -> String {
        Markup.number(Double(time.milliseconds) / 1_000, digits: 3)
    }

    /// The value of a sample in a metrics file.
    private static func sample(_ name: String, _ labels: String, in text: String) -> String? {
        let head = "\(name){\(labels)} "
        for line in text.split(separator: "\n") where line.hasPrefix(head) {
            let value = line.dropFirst(head.count)
            return Double(value).map { _ in String(value) }
        }
        return nil
    }

    private static func label(_ text: String) -> String {
        var result = ""
        for character in text.visible {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }
}
