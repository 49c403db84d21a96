import Base
import Store

extension LivePage {
    /// The address of the comparison of two runs.
    static func address(_ before: Int, _ after: Int) -> String {
        "/history/compare?before=\(before)&after=\(after)"
    }

    /// The page that compares two runs; `list` contains both.
    package func comparison(_ comparison: RunComparison, _ list: RunList) -> LiveFrame {
        let rows = [comparison.before, comparison.after]
        let runs = rows.map { row in
            "run \(row.run.number) of \(row.run.rollout), begun \(time(row.run.started)): "
                + list.sentence(of: row)
        }
        let lone = comparison.loneSentences.map { "<p>\($0)</p>\n" as HTML }
        return LiveFrame(
            .history,
            "Runs " + rows.map { "\($0.run.number)" }.joined(separator: " and "),
            """
            \(HTML.list(runs))\(counts(comparison))\
            \(RunComparison.Kind.allCases.map { HTML.section($0.title, changes(comparison.changes($0))) })\
            <h2>The others</h2>
            <p>As before: <b data-same>\(comparison.same)</b>.</p>
            \(lone)
            """
        )
    }

    private func counts(_ comparison: RunComparison) -> HTML {
        .table(
            ["outcome"] + [comparison.before, comparison.after].map { "run \($0.run.number)" },
            comparison.counts.map { count in
                HTML.Row(
                    cells: [
                        "\(count.name)", count.before.map { "\($0)" },
                        count.after.map { "\($0)" },
                    ],
                    data: ["outcome": count.name]
                )
            }
        )
    }

    private func changes(_ changes: [RunComparison.Change]) -> HTML {
        .table(
            ["vehicle", "before", "after", "what"],
            changes.map { change in
                HTML.Row(
                    cells: [
                        .link(change.vehicle), badge(change.before), badge(change.after),
                        "\(change.after.message)",
                    ],
                    data: ["vehicle": change.vehicle.text, "kind": change.kind.rawValue]
                )
            }
        )
    }

    private func badge(_ fate: RunComparison.Fate) -> HTML {
        .badge(fate.word, HTML.Mark(Outcome(rawValue: fate.word)))
    }
}
