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
        LiveFrame(
            .vehicles,
            story.view.vehicle.text,
            """
            \(HTML.facts(story.source?.sentence))\(HTML.list(story.facts(time)))\
            \(HTML.section("What to do", toDo))\(acts)\
            \(HTML.section("Rollouts", rollouts))\
            \(HTML.section("Verdicts of all nights", verdicts))
            """
        )
    }

    private var toDo: HTML {
        guard !story.steps.isEmpty else { return "<p>Nothing.</p>\n" }
        return .list(
            story.steps.map { step in
                "<b>\(step.work.title)</b>: \(step.sentence)\(HTML.commands(step.commands))"
            },
            "attention"
        )
    }

    private var acts: HTML {
        guard mayAct else { return "" }
        let name = story.view.vehicle.text
        let isLeftAlone = story.view.inhibits.contains { $0.vehicle != nil }
        var acts = [
            LiveAct(isLeftAlone ? .uninhibit : .inhibit, vehicle: name),
            LiveAct(.clear, vehicle: name),
        ]
        if let row = story.rollouts.first, row.hold?.kind.isForGood != true {
            acts.insert(LiveAct(.retry, rollout: row.rollout, vehicle: name), at: 0)
        }
        return LiveActPage.links(acts)
    }

    private var rollouts: HTML {
        .table(
            ["rollout", "run", "state", "since", "what"],
            story.rollouts.map { row in
                let mark = HTML.Mark(row.isUnderWay ? nil : row.standing.verdict?.outcome)
                let hold = row.hold.map { " (the rollout is \($0.kind.rawValue))" } ?? ""
                return HTML.Row(cells: [
                    .link(rollout: row.rollout), row.run.map { "\($0)" },
                    "\(HTML.badge(row.state, mark))\(hold)", "\(time(row.record.updated))",
                    "\(row.sentence(time))",
                ])
            }
        )
    }

    private var verdicts: HTML {
        .table(
            ["when", "outcome"],
            story.view.endings.reversed().map { ending in
                HTML.Row(cells: [
                    "\(time(ending.time))",
                    .badge(ending.outcome.rawValue, HTML.Mark(ending.outcome)),
                ])
            }
        )
    }
}
