package import Base
import Store

/// The page of one rollout: its status, waves and gates, and tasks for people; and the other
/// rollouts.
package struct LiveRolloutPage {
    private let status: RolloutStatus
    /// Whether the viewer may send requests.
    private let mayAct: Bool
    private let time: (WallTime) -> String

    /// `time` formats a time for people.
    package init(
        _ status: RolloutStatus,
        mayAct: Bool = false,
        time: @escaping (WallTime) -> String
    ) {
        self.status = status
        self.mayAct = mayAct
        self.time = time
    }

    package var frame: LiveFrame {
        guard let run = status.snapshot.run else {
            return LiveFrame(
                .rollouts,
                "Rollouts",
                "<h1>Rollouts</h1>\n<p>Nothing has run here yet.</p>"
            )
        }
        let body = [
            "<h1>\(Markup.text(run.rollout))</h1>", head, LiveMarks.tiles(status.counts), told,
            acts, waves, underWay, toDo, needing, others,
        ]
        return LiveFrame(
            .rollouts,
            run.rollout,
            body.filter { !$0.isEmpty }.joined(separator: "\n")
        )
    }

    private var head: String {
        guard let run = status.snapshot.run else { return "" }
        let source =
            status.source.map { "<p class=\"facts\">\(Markup.text($0.sentence))</p>\n" } ?? ""
        if status.snapshot.shared != nil {
            let lines = status.head(nil, time)
            return source + "<ul class=\"told\" role=\"status\">\n"
                + lines.map { "<li>\(Markup.text($0))</li>\n" }.joined() + "</ul>"
        }
        var facts = [
            "run <b data-count=\"run\">\(run.number)</b>", "begun \(escaped(run.started))",
        ]
        if let end = run.end { facts.append("ended \(escaped(end.time))") }
        if run.seed != nil { facts.append("simulated") }
        let sentence: String
        let mark: HTMLReport.Mark
        if let end = run.end {
            let code = end.exitCode.map { "<b>Exit \($0)</b> " } ?? ""
            sentence = code + Markup.text(end.reason(under: status.snapshot.rollout?.hold))
            mark = end.exitCode == 0 ? .good : .bad
        } else if let opens = status.waitsUntil {
            sentence = "<b>Waits for its window</b> it opens \(Markup.text(time(opens)))"
            mark = .wait
        } else if status.isRunning {
            (sentence, mark) = ("<b>At work now</b>", .wait)
        } else {
            sentence =
                "<b>Cut off</b> run it again and it goes on where the modules stand"
            mark = .bad
        }
        return source + "<p class=\"facts\">\(facts.joined(separator: " · "))</p>\n"
            + "<p class=\"exit \(mark.rawValue)\" role=\"status\">\(sentence)</p>"
    }

    private var told: String {
        var lines = status.sentences(time, besideVehicles: true)
        if let until = status.soaksUntil {
            lines.append("the next wave may begin at \(time(until))")
        }
        if let words = status.openings.words(time) { lines.append(words) }
        if let next = status.snapshot.nextDeadline {
            lines.append(
                "next deadline: \(next.deadline.label) of \(next.vehicle.text) at "
                    + time(next.deadline.time)
            )
        }
        guard !lines.isEmpty else { return "" }
        return "<ul class=\"told\">\n"
            + lines.map { "<li>\(Markup.text($0))</li>\n" }.joined() + "</ul>"
    }

    private var acts: String {
        guard mayAct, let name = status.snapshot.run?.rollout else { return "" }
        var verbs: [SteeringVerb] = []
        switch status.snapshot.rollout?.hold?.kind {
        case .aborted: break
        case .paused: verbs = [.resume, .retry, .abort]
        case nil: verbs = [.pause, .retry, .abort]
        }
        let isLeftAlone = status.snapshot.inhibits.contains { $0.vehicle == nil }
        return LiveMarks.acts(
            verbs.map { LiveAct($0, rollout: name) }
                + [LiveAct(isLeftAlone ? .uninhibit : .inhibit)]
        )
    }

    private var waves: String {
        let waves = status.waves
        guard !waves.isEmpty || !status.gates.isEmpty else { return "" }
        var text = "<h2>Waves and gates</h2>\n"
        if !waves.isEmpty {
            text += "<ol class=\"waves\">\n"
            for wave in waves {
                let ended = wave.counts.total - wave.counts.unfinished
                let state =
                    switch wave.state {
                    case .over: "over"
                    case .current: "at work"
                    case .open: "not begun"
                    }
                text += "<li data-wave=\"\(wave.number)\"><b>wave \(wave.number)</b> "
                text += "<small>\(state): \(Markup.text(wave.counts.sentence))</small>\n"
                text += "<progress max=\"\(max(1, wave.counts.total))\" value=\"\(ended)\" "
                text += "aria-label=\"wave \(wave.number)\">\(ended) of \(wave.counts.total)"
                text += "</progress></li>\n"
            }
            text += "</ol>\n"
        }
        guard !status.gates.isEmpty else { return text }
        return text + "<ul class=\"told\">\n"
            + status.gates.map { "<li>\(Markup.text($0))</li>\n" }.joined() + "</ul>"
    }

    private var underWay: String {
        let rows = status.rows.filter(\.isUnderWay)
        guard !rows.isEmpty else { return "" }
        let items = rows.map { row in
            var bar = ""
            if let done = row.record.acknowledged, let total = row.record.totalBytes,
                total > .zero
            {
                bar =
                    "<progress max=\"\(total.bytes)\" value=\"\(done.bytes)\" "
                    + "aria-label=\"\(Markup.text(row.record.vehicle.text))\"></progress>"
            }
            return "<li>\(LiveMarks.link(row.record.vehicle)) \(Markup.text(row.state)): "
                + "\(Markup.text(row.what(time)))\(bar)</li>\n"
        }
        return "<h2>Under way</h2>\n<ul>\n\(items.joined())</ul>"
    }

    private var toDo: String {
        let steps = status.nextSteps
        guard !steps.isEmpty else { return "" }
        var text = "<h2>What to do</h2>\n<ul class=\"attention\">\n"
        for (work, vehicles, commands) in NextStep.byWork(steps) {
            text += "<li><b>\(Markup.text(work.title))</b> (\(vehicles.count))"
            // Those that wait are a number; they are on the page of all vehicles.
            if work != .wait || vehicles.count == 1 {
                text += ": " + vehicles.map { LiveMarks.link($0) }.joined(separator: ", ")
            }
            for command in commands {
                text += "<br><code>\(Markup.text(command.line))</code> "
                text += "<small>\(Markup.text(command.when))</small>"
            }
            text += "</li>\n"
        }
        return text + "</ul>"
    }

    private var needing: String {
        let rows = status.rows.filter { $0.needsMore && !$0.isNotBegun }
        let name = LiveTarget.escaped(status.snapshot.run?.rollout ?? "")
        let all =
            "<p><a href=\"/vehicles?rollout=\(name)\">All \(status.chosen.count) vehicles</a></p>"
        guard !rows.isEmpty else { return all }
        // All others are one page further: in a rollout that has just begun, no vehicle is done.
        return "<h2>Not as they should be (\(rows.count))</h2>\n"
            + LiveMarks.table(Array(rows.prefix(50)), time) + all
    }

    private var others: String {
        guard !status.briefs.isEmpty else { return "" }
        let rows = status.briefs.map { brief in
            let end = brief.run.end.map { time($0.time) } ?? "-"
            let name = LiveTarget.escaped(brief.run.rollout)
            return LiveMarks.row([
                (
                    "rollout",
                    "<a href=\"/rollouts/\(name)\">\(Markup.text(brief.run.rollout))</a>"
                ),
                ("state", Markup.text(brief.state)),
                ("run", Markup.text(brief.run.name.description)),
                ("ended", Markup.text(end)),
                ("exit", brief.run.end?.exitCode.map { "\($0)" } ?? "-"),
                ("vehicles", Markup.text(brief.counts.sentence)),
            ])
        }
        return "<h2>All rollouts</h2>\n"
            + LiveMarks.table(["rollout", "state", "run", "ended", "exit", "vehicles"], rows)
    }

    private func escaped(_ moment: WallTime) -> String { Markup.text(time(moment)) }
}

/// Parts that several pages share.
enum LiveMarks {
    /// The counts, each with a sign in addition to its colour.
    static func tiles(_ counts: VehicleCounts) -> String {
        var tiles = Outcome.allCases.compactMap { outcome -> String? in
            guard let count = counts.outcomes[outcome], count > 0 else { return nil }
            return tile(outcome.rawValue, count, HTMLReport.mark(outcome))
        }
        if counts.unfinished > 0 { tiles.append(tile("unfinished", counts.unfinished, .wait)) }
        return "<ul class=\"tiles\">\n" + tiles.joined() + "</ul>"
    }

    private static func tile(_ name: String, _ count: Int, _ mark: HTMLReport.Mark) -> String {
        "<li class=\"\(mark.rawValue)\"><b data-count=\"\(name)\">\(count)</b>"
            + "<span>\(mark.sign) \(name)</span></li>\n"
    }

    /// The links with which operators begin a request.
    static func acts(_ acts: [LiveAct]) -> String {
        let links = acts.map {
            "<a href=\"\(Markup.text($0.address))\">\(Markup.text(LiveActPage.title($0)))</a>"
        }
        return "<nav class=\"acts\" aria-label=\"What you can do\">\n"
            + links.joined(separator: "\n") + "\n</nav>"
    }

    static func link(_ vehicle: VehicleID) -> String {
        "<a href=\"/vehicles/\(LiveTarget.escaped(vehicle.text))\">\(Markup.text(vehicle.text))</a>"
    }

    static func badge(_ state: String, _ mark: HTMLReport.Mark) -> String {
        "<span class=\"badge \(mark.rawValue)\">\(mark.sign) \(Markup.text(state))</span>"
    }

    static func table(_ rows: [RolloutStatus.Row], _ time: (WallTime) -> String) -> String {
        table(
            ["vehicle", "serial", "state", "version", "since", "what"],
            rows.map { row in
                let mark = row.isUnderWay ? .wait : HTMLReport.mark(row.standing.verdict?.outcome)
                return self.row(
                    [
                        ("vehicle", link(row.record.vehicle)),
                        ("serial", Markup.text(row.record.serial.text)),
                        ("state", badge(row.state, mark)),
                        ("version", Markup.text(row.version ?? "-")),
                        ("since", Markup.text(time(row.record.updated))),
                        ("what", Markup.text(row.what(time))),
                    ],
                    " data-vehicle=\"\(Markup.text(row.record.vehicle.text))\" "
                        + "data-state=\"\(Markup.text(row.state))\""
                )
            }
        )
    }

    /// On a narrow screen each row becomes a list, in which each cell contains the name of its
    /// column.
    static func row(_ cells: [(column: String, html: String)], _ attributes: String = "") -> String
    {
        "<tr\(attributes)>"
            + cells.map { "<td data-label=\"\($0.column)\"><span>\($0.html)</span></td>" }.joined()
            + "</tr>\n"
    }

    static func table(_ columns: [String], _ rows: [String]) -> String {
        "<table class=\"live\">\n<thead><tr>"
            + columns.map { "<th scope=\"col\">\($0)</th>" }.joined()
            + "</tr></thead>\n<tbody>\n" + rows.joined() + "</tbody>\n</table>\n"
    }
}
