import Base
import Store

extension LivePage {
    /// The list of all runs.
    package func history(_ list: RunList, of rollout: String?) -> LiveFrame {
        let before: HTML =
            "\(HTML.facts(list.source?.sentence))\(filter(rollout, at: "/history"))"
        guard !list.rows.isEmpty else { return .nothing(.history, before) }
        let runs = HTML.table(
            ["run", "rollout", "begun", "took", "exit"] + Self.tallies.map(\.rawValue) + ["what"],
            list.rows.map { row($0, in: list) }
        )
        let said = HTML.table(
            RunList.sayingTitles,
            list.sayings.map { HTML.Row(cells: RunList.words($0, time).map { "\($0)" }) }
        )
        return LiveFrame(
            .history,
            "History",
            before + runs + HTML.section("Requests of people", said)
        )
    }

    /// One run, as its report shows it.
    package func run(_ shown: ShownRun, _ story: RunStory) -> LiveFrame {
        LiveFrame(
            .history,
            "\(shown.run.rollout), run \(shown.run.name)",
            """
            \(HTML.facts(shown.source?.sentence))\(HTML.facts(shown.remark))\
            \(HTMLReport.content(story, time: time, most: LiveFilter.pageSize))
            """
        )
    }

    private static let tallies: [Outcome.Tally] = [.ok, .current, .deferred, .unreachable, .failed]

    private func row(_ row: RunList.Row, in list: RunList) -> HTML.Row {
        let run = row.run
        let counts = Self.tallies.map { tally in
            row.end.map { "\($0.vehicles.count(tally))" as HTML }
        }
        let cells: [HTML?] = [
            .link(run.name), .link(rollout: run.rollout, at: "/history?rollout="),
            "\(time(run.started))", row.took.map { "\($0.brief)" },
            run.end?.exitCode.map { "\($0)" },
        ]
        return HTML.Row(
            cells: cells + counts + ["\(list.sentence(of: row))\(comparison(row, in: list))"],
            data: ["run": run.name.description]
        )
    }

    /// A link to the differences from the previous run of the rollout.
    private func comparison(_ row: RunList.Row, in list: RunList) -> HTML? {
        let run = row.run
        // Only the journal of its own gateway has the facts that are compared.
        guard run.gateway == nil else { return nil }
        let earlier = list.rows.first {
            $0.run.gateway == nil && $0.run.number < run.number && $0.run.rollout == run.rollout
        }
        return earlier.map { earlier in
            let address = Self.address(earlier.run.number, run.number)
            return " <a href=\"\(address)\">beside run \(earlier.run.number)</a>"
        }
    }
}
