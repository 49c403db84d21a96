import Domain

/// A run as metrics for the textfile collector of Prometheus's node exporter.
///
/// Names are stable and cardinality is low: nothing here is labelled with a vehicle.
package enum MetricsText {
    private static let success = "yardmaster_run_last_success_timestamp_seconds"

    /// `earlier` is what the file held before: the last success outlives a failed run.
    package static func text(_ story: RunStory, earlier: String = "") -> String {
        guard let end = story.end, let start = story.start, let began = story.began else {
            return earlier
        }
        let rollout = "rollout=\"\(label(start.rollout))\""
        var text = ""
        func metric(_ name: String, _ help: String, _ samples: [(labels: String, String)]) {
            guard !samples.isEmpty else { return }
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
            for sample in samples { text += "\(name){\(sample.labels)} \(sample.1)\n" }
        }
        metric(
            "yardmaster_run_start_timestamp_seconds",
            "When the last run began.",
            [(rollout, stamp(began))]
        )
        metric(
            "yardmaster_run_end_timestamp_seconds",
            "When the last run ended.",
            [(rollout, stamp(end.time))]
        )
        let last =
            end.run.exitCode == 0
            ? stamp(end.time) : sample(success, rollout, in: earlier)
        metric(
            success,
            "When a run last ended with exit code 0.",
            last.map { [(rollout, $0)] } ?? []
        )
        metric(
            "yardmaster_run_exit_code",
            "What the last run ended with.",
            [(rollout, String(end.run.exitCode))]
        )
        metric(
            "yardmaster_run_seconds",
            "How long the last run took.",
            [(rollout, Markup.seconds(end.run.took))]
        )
        metric(
            "yardmaster_run_vehicles",
            "Vehicles of the last run by outcome.",
            Outcome.allCases.map {
                ("\(rollout),outcome=\"\($0.rawValue)\"", String(end.run.counts[$0] ?? 0))
            } + [("\(rollout),outcome=\"unfinished\"", String(end.run.unfinished))]
        )
        let vehicles = story.vehicles
        metric(
            "yardmaster_run_failures",
            "Vehicles of the last run by class of failure.",
            FailureClass.allCases.map { failure in
                (
                    "\(rollout),class=\"\(failure.rawValue)\"",
                    String(vehicles.count { $0.verdict?.failure == failure })
                )
            }
        )
        metric(
            "yardmaster_run_image_bytes",
            "Image bytes sent over the air in the last run, repeats included.",
            [(rollout, String(vehicles.reduce(0) { $0 + ($1.verdict?.bytesSent.bytes ?? 0) }))]
        )
        metric(
            "yardmaster_run_transfer_seconds",
            "Time in which image bytes were on their way in the last run, over all vehicles.",
            [(rollout, Markup.seconds(vehicles.reduce(.zero) { $0 + $1.transfer }))]
        )
        metric(
            "yardmaster_run_interruptions",
            "Transfers of the last run that had to be taken up again.",
            [(rollout, String(vehicles.reduce(0) { $0 + $1.interruptions.count }))]
        )
        return text
    }

    private static func stamp(_ time: WallTime) -> String {
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
