import Base
import Store

extension LivePage {
    /// All facts about one vehicle, over all nights: the content of `show` as a page.
    package func vehicle(_ story: VehicleStory) -> LiveFrame {
        LiveFrame(
            .vehicles,
            story.view.vehicle.text,
            """
            \(HTML.facts(story.source?.sentence))\(HTML.list(story.facts(time)))\
            \(HTML.section("What to do", toDo(story)))\(acts(story))\
            \(HTML.section("Rollouts", rollouts(story)))\
            \(HTML.section("Verdicts of all nights", verdicts(story)))
            """
        )
    }

    private func toDo(_ story: VehicleStory) -> HTML {
        guard !story.steps.isEmpty else { return "<p>Nothing.</p>\n" }
        return .list(
            story.help.map { step, commands in
                "<b>\(step.work.title)</b>: \(step.sentence)\(HTML.commands(commands))"
            },
            "attention"
        )
    }

    private func acts(_ story: VehicleStory) -> HTML {
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

    private func rollouts(_ story: VehicleStory) -> HTML {
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

    private func verdicts(_ story: VehicleStory) -> HTML {
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
