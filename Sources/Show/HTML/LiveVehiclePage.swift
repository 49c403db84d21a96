package import Base
import Store

/// All facts about one vehicle, over all nights: the content of `show` as a page.
package struct LiveVehiclePage {
    private let story: VehicleStory
    private let mayAct: Bool
    private let time: (WallTime) -> String

    package init(
        _ story: VehicleStory,
        mayAct: Bool = false,
        time: @escaping (WallTime) -> String
    ) {
        self.story = story
        self.mayAct = mayAct
        self.time = time
    }

    package var frame: LiveFrame {
        let name = story.view.vehicle.text
        let source =
            story.source.map { "<p class=\"facts\">\(Markup.text($0.sentence))</p>\n" } ?? ""
        let facts = story.facts(time).map { "<li>\(Markup.text($0))</li>\n" }.joined()
        let body = [
            "<h1>\(Markup.text(name))</h1>", source, "<ul class=\"told\">\n\(facts)</ul>", toDo,
            acts,
            rollouts, verdicts,
        ]
        return LiveFrame(.vehicles, name, body.filter { !$0.isEmpty }.joined(separator: "\n"))
    }

    private var toDo: String {
        guard !story.steps.isEmpty else { return "<h2>What to do</h2>\n<p>Nothing.</p>" }
        let items = story.steps.map { step in
            var text = "<li><b>\(Markup.text(step.work.title))</b>: \(Markup.text(step.sentence))"
            for command in step.commands {
                text += "<br><code>\(Markup.text(command.line))</code> "
                text += "<small>\(Markup.text(command.when))</small>"
            }
            return text + "</li>\n"
        }
        return "<h2>What to do</h2>\n<ul class=\"attention\">\n\(items.joined())</ul>"
    }

    private var acts: String {
        guard mayAct else { return "" }
        let name = story.view.vehicle.text
        let isLeftAlone = story.view.inhibits.contains { $0.vehicle != nil }
        var acts = [
            LiveAct(isLeftAlone ? .uninhibit : .inhibit, vehicle: name),
            LiveAct(.clear, vehicle: name),
        ]
        if let row = story.rollouts.first, row.hold?.kind != .aborted {
            acts.insert(LiveAct(.retry, rollout: row.rollout, vehicle: name), at: 0)
        }
        return LiveMarks.acts(acts)
    }

    private var rollouts: String {
        guard !story.rollouts.isEmpty else { return "" }
        let rows = story.rollouts.map { row in
            let mark = row.isUnderWay ? .wait : HTMLReport.mark(row.standing.verdict?.outcome)
            let hold = row.hold.map { " (the rollout is \($0.kind.rawValue))" } ?? ""
            let name = LiveTarget.escaped(row.rollout)
            return LiveMarks.row([
                ("rollout", "<a href=\"/rollouts/\(name)\">\(Markup.text(row.rollout))</a>"),
                ("run", "\(row.record.run)"),
                ("state", LiveMarks.badge(row.state, mark) + Markup.text(hold)),
                ("since", Markup.text(time(row.record.updated))),
                ("what", Markup.text(row.standing.sentence)),
            ])
        }
        return "<h2>Rollouts</h2>\n"
            + LiveMarks.table(["rollout", "run", "state", "since", "what"], rows)
    }

    private var verdicts: String {
        guard !story.view.endings.isEmpty else { return "" }
        let rows = story.view.endings.reversed().map { ending in
            LiveMarks.row([
                ("when", Markup.text(time(ending.time))),
                (
                    "outcome",
                    LiveMarks.badge(ending.outcome.rawValue, HTMLReport.mark(ending.outcome))
                ),
            ])
        }
        return "<h2>Verdicts of all nights</h2>\n" + LiveMarks.table(["when", "outcome"], rows)
    }
}
