package import Base
import Store

/// A run as one HTML file that opens in any browser: no script, no external reference.
package enum HTMLReport {
    /// `zone` is the zone of the window; the report shows times in it.
    package static func text(_ story: RunStory, zone: Zone = .utc) -> String {
        let rollout = Markup.text(story.start?.rollout ?? "rollout")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(rollout): rollout report</title>
            <style>
            \(HTMLStyle.sheet)
            </style>
            </head>
            <body>
            <main>
            <h1>\(rollout)</h1>
            \(head(story, zone))
            \(tiles(story))
            \(attention(story))
            \(HTMLWaves.section(story))
            \(HTMLTimeLine.section(story))
            \(vehicles(story))
            \(remarks(story))
            </main>
            </body>
            </html>

            """
    }

    // MARK: Head

    private static func head(_ story: RunStory, _ zone: Zone) -> String {
        var parts: [String] = []
        if let start = story.start {
            parts.append("run \(Markup.text(start.name.description))")
            parts.append(Outlook.vehicles(start.vehicles))
            parts.append(start.adapters.map(Markup.text).joined(separator: ", "))
            parts.append("plan \(start.plan.description.prefix(12))")
            if let seed = start.seed { parts.append("simulated, seed \(seed)") }
        }
        if let began = story.began { parts.append("from \(zone.text(began))") }
        if let end = story.end {
            parts.append("to \(zone.text(end.time))")
            parts.append("took \(end.run.took.brief)")
        }
        return "<p class=\"facts\">\(parts.joined(separator: " · "))</p>\n" + exit(story, zone)
    }

    private static func exit(_ story: RunStory, _ zone: Zone) -> String {
        guard let end = story.end?.run else {
            if let stood = story.stood, stood.isAtWork {
                return
                    "<p class=\"exit wait\"><b>At work</b> as it stood at \(zone.text(stood.time))</p>"
            }
            return
                "<p class=\"exit bad\"><b>Cut off</b> its process ended unexpectedly; the next "
                + "run of this rollout continues from the modules' state</p>"
        }
        let kind = end.exitCode == 0 ? "good" : "bad"
        return "<p class=\"exit \(kind)\"><b>Exit \(end.exitCode)</b> "
            + "\(Markup.text(end.reason))</p>"
    }

    private static func tiles(_ story: RunStory) -> String {
        let counts = story.counts
        var tiles = Outcome.allCases.compactMap { outcome -> String? in
            guard let count = counts[outcome], count > 0 else { return nil }
            return tile(count, outcome.rawValue, mark(outcome))
        }
        if story.unfinished > 0 { tiles.append(tile(story.unfinished, "unfinished", Mark.wait)) }
        if let sent = ByteCount(bytes: story.bytesSent), sent > .zero {
            tiles.append(
                "<li class=\"plain\"><b>\(sent)</b><span>sent over the air</span></li>"
            )
        }
        return "<ul class=\"tiles\">\n" + tiles.joined(separator: "\n") + "\n</ul>"
    }

    private static func tile(_ count: Int, _ name: String, _ mark: Mark) -> String {
        "<li class=\"\(mark.rawValue)\"><b>\(count)</b><span>\(mark.sign) \(name)</span></li>"
    }

    /// How an outcome is shown: a colour, and a sign for people who cannot distinguish the colours.
    package enum Mark: String, CaseIterable, Sendable {
        case good, wait, bad

        package var sign: String {
            switch self {
            case .good: "✓"
            case .wait: "◌"
            case .bad: "✕"
            }
        }
    }

    package static func mark(_ outcome: Outcome?) -> Mark {
        switch outcome?.tally {
        case .ok, .current: .good
        case .deferred, .unreachable, .skipped, nil: .wait
        case .failed, .aborted: .bad
        }
    }

    // MARK: Vehicles that need attention

    private static func attention(_ story: RunStory) -> String {
        let wanting = story.vehicles.filter { mark($0.verdict?.outcome) != .good }
        guard !wanting.isEmpty else {
            return "<section><h2>To look at</h2><p>Nothing: every vehicle is where it should be."
                + "</p></section>"
        }
        let items = wanting.sorted { left, right in
            let (first, second) = (mark(left.verdict?.outcome), mark(right.verdict?.outcome))
            return first == second ? left.id < right.id : first == .bad
        }.map { vehicle -> String in
            let mark = mark(vehicle.verdict?.outcome)
            var text =
                "<li class=\"\(mark.rawValue)\"><b>\(Markup.text(vehicle.id.text))</b> "
                + "\(badge(vehicle)) \(Markup.text(vehicle.sentence))"
            for problem in vehicle.problems {
                text +=
                    "<div class=\"measured\">\(Markup.text(problem.check)): measured "
                    + "<b>\(Markup.text(problem.measured))</b>, required "
                    + "<b>\(Markup.text(problem.required))</b></div>"
            }
            return text + "</li>"
        }
        return "<section><h2>To look at</h2>\n<ul class=\"attention\">\n"
            + items.joined(separator: "\n") + "\n</ul></section>"
    }

    private static func badge(_ vehicle: VehicleInRun) -> String {
        let mark = mark(vehicle.verdict?.outcome)
        return "<span class=\"badge \(mark.rawValue)\">\(mark.sign) \(vehicle.name)</span>"
    }

    // MARK: All vehicles

    private static let columns = [
        "vehicle", "outcome", "versions", "took", "sent", "rate", "interruptions", "message",
    ]

    private static func vehicles(_ story: RunStory) -> String {
        let head = columns.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let rows = story.vehicles.map { vehicle -> String in
            let verdict = vehicle.verdict
            let sent = ByteCount(bytes: vehicle.bytesSent).flatMap {
                $0 > .zero ? $0.description : nil
            }
            let rate = vehicle.rate.map { "\(Markup.number($0 / 1_024, digits: 1)) KiB/s" }
            let causes = vehicle.interruptions.map(Markup.text).joined(separator: "; ")
            let interruptions =
                vehicle.interruptions.isEmpty
                ? "–" : "<span title=\"\(causes)\">\(vehicle.interruptions.count)</span>"
            var name = "<b>\(Markup.text(vehicle.id.text))</b>"
            if let serial = vehicle.serial {
                name += "<br><small>\(Markup.text(serial.text))</small>"
            }
            var message = Markup.text(vehicle.sentence)
            for step in vehicle.steps {
                let facts = step.facts.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
                message +=
                    "<br><small>\(Markup.text(step.action)): \(step.fate.rawValue)"
                    + (facts.isEmpty ? "" : ", \(Markup.text(facts))") + "</small>"
            }
            for retry in vehicle.retries {
                message +=
                    "<br><small>tried again after \(retry.failure.rawValue): "
                    + "\(Markup.text(retry.message))</small>"
            }
            let cells = [
                name, badge(vehicle), (verdict?.versions).map(Markup.text) ?? "–",
                verdict.flatMap { $0.took > .zero ? $0.took.brief : nil } ?? "–", sent ?? "–",
                rate ?? "–", interruptions,
                message,
            ]
            return "<tr>"
                + zip(columns, cells).map { column, cell in
                    let none = cell == "–" ? " class=\"none\"" : ""
                    return "<td data-label=\"\(column)\"\(none)><span>\(cell)</span></td>"
                }.joined()
                + "</tr>"
        }
        return "<section><h2>Vehicles</h2>\n<table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
            + rows.joined(separator: "\n") + "\n</tbody>\n</table></section>"
    }

    private static func remarks(_ story: RunStory) -> String {
        var text = ""
        if !story.images.isEmpty {
            let items = story.images.map { image in
                let known = image.provenance.map { "<br>\(Markup.text($0))" }.joined()
                return "<li>\(Markup.text(image.name)), \(image.size)\(known)</li>"
            }
            text += "<section><h2>Images</h2><ul>\(items.joined())</ul></section>\n"
        }
        if !story.notices.isEmpty {
            let items = story.notices.map { "<li>\(Markup.text($0))</li>" }
            text += "<section><h2>Course</h2><ul>\(items.joined())</ul></section>\n"
        }
        if !story.warnings.isEmpty {
            let items = story.warnings.map { "<li>\(Markup.text($0))</li>" }
            text += "<section><h2>Warnings</h2><ul>\(items.joined())</ul></section>\n"
        }
        return text
    }
}
