import Base
import Store

extension LivePage {
    /// The page of one rollout: its status, waves and gates, and tasks for people; and the other
    /// rollouts.
    package func rollout(_ status: RolloutStatus) -> LiveFrame {
        guard let run = status.snapshot.run else { return .nothing(.rollouts) }
        let groups = status.groups
        let headline = status.headline(groups).sentence
        return LiveFrame(
            .rollouts,
            run.rollout,
            """
            \(HTML.facts(status.source?.sentence))\(head(run, status))\
            \(headline.map { "<p><b>\($0)</b></p>\n" as HTML } ?? "")\(HTML.tiles(status.counts))\
            \(HTML.list(status.sentences(time, besideVehicles: true)))\(acts(status, groups))\
            \(HTML.section("Waves and gates", .waves(status.waves) + .list(status.gates)))\
            \(HTML.section("Under way", underWay(status)))\(HTML.section("What to do", toDo(groups)))\(needing(status))\
            \(HTML.section("All rollouts", others(status)))
            """
        )
    }

    private func head(_ run: RunRecord, _ status: RolloutStatus) -> HTML {
        guard status.snapshot.shared == nil else { return .list(status.head(nil, time)) }
        let facts = [
            "run \(run.number)", "begun \(time(run.started))",
            run.end.map { "ended \(time($0.time))" }, run.seed.map { _ in "simulated" },
        ]
        return .facts(facts.compactMap(\.self).joined(separator: " · ")) + banner(run, status)
    }

    private func banner(_ run: RunRecord, _ status: RolloutStatus) -> HTML {
        if let end = run.end {
            return .banner(
                end.exitCode == 0 ? .good : .bad,
                end.exitCode.map { "Exit \($0)" } ?? "",
                end.reason(under: status.snapshot.rollout?.hold)
            )
        }
        return status.isRunning
            ? .banner(.wait, "At work now", "")
            : .banner(.bad, "Cut off", run.cutOff)
    }

    private func acts(_ status: RolloutStatus, _ groups: [HelpGroup]) -> HTML {
        guard mayAct, let name = status.snapshot.run?.rollout else { return "" }
        var verbs: [SteeringVerb] = []
        switch status.snapshot.rollout?.hold?.kind {
        case .aborted, .recalled: break
        case .paused: verbs = [.resume, .retry, .abort]
        // What is over is not aborted, and only where a run would still do something can it be paused.
        case nil where status.snapshot.rollout?.state == .finished && !status.snapshot.isAtWork:
            verbs = groups.isEmpty ? [] : [.pause, .retry]
        case nil: verbs = [.pause, .retry, .abort]
        }
        let isLeftAlone = status.snapshot.inhibits.contains { $0.vehicle == nil }
        return LiveActPage.links(
            verbs.map { LiveAct($0, rollout: name) }
                + [LiveAct(isLeftAlone ? .uninhibit : .inhibit)]
        )
    }

    private func underWay(_ status: RolloutStatus) -> HTML {
        let items = status.rows.filter(\.isUnderWay).map { row -> HTML in
            let (record, total) = (row.record, row.record.totalBytes ?? .zero)
            let bar = record.acknowledged.map { done -> HTML in
                "<progress max=\"\(total.bytes)\" value=\"\(done.bytes)\" "
                    + "aria-label=\"\(record.vehicle.text)\"></progress>"
            }
            return "\(HTML.link(record.vehicle)) \(row.state): \(row.what(time))"
                + (total > .zero ? bar ?? "" : "")
        }
        return .list(items)
    }

    private func toDo(_ groups: [HelpGroup]) -> HTML {
        .list(
            groups.map { group in
                // Those that wait are a number; they are on the page of all vehicles.
                let names: HTML =
                    group.work == .wait && group.tasks.count > 1
                    ? ""
                    : "<br>\(HTML(group.tasks.map { name($0.card) }, between: ", "))"
                return
                    "<b>\(group.work.title)</b> (\(group.tasks.count)): \(group.remedy.advice)\(names)"
                    + HTML.commands(group.commands)
            },
            "attention"
        )
    }

    /// A link to the vehicle, with where it stands and its plate.
    private func name(_ card: MorningPage.Card) -> HTML {
        let marks = card.name.dropFirst(card.vehicle.text.count)
        return HTML.link(card.vehicle) + "\(String(marks))"
    }

    private func needing(_ status: RolloutStatus) -> HTML {
        let rows = status.rows.filter { $0.needsMore && !$0.isNotBegun }
        let name = LiveTarget.escaped(status.snapshot.run?.rollout ?? "")
        // All others are one page further: in a rollout that has just begun, no vehicle is done.
        let shown = HTML.table(Array(rows.prefix(50)), time)
        let all = counted(status.chosen.count, "vehicle")
        return HTML.section("Not as they should be (\(rows.count))", shown)
            + "<p><a href=\"/vehicles?rollout=\(name)\">All \(all)</a></p>\n"
    }

    private func others(_ status: RolloutStatus) -> HTML {
        .table(
            ["rollout", "state", "run", "ended", "exit", "vehicles"],
            status.briefs.map { brief in
                let run = brief.run
                return HTML.Row(cells: [
                    .link(rollout: run.rollout), "\(brief.state)", "\(run.name)",
                    run.end.map { "\(time($0.time))" }, run.end?.exitCode.map { "\($0)" },
                    "\(brief.counts.sentence)",
                ])
            }
        )
    }
}
