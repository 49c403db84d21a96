package import Base
import Store

/// The page that compares two runs.
package struct LiveComparisonPage {
    private let comparison: RunComparison
    private let list: RunList
    private let time: (WallTime) -> String

    /// `list` contains both runs.
    package init(
        _ comparison: RunComparison,
        _ list: RunList,
        time: @escaping (WallTime) -> String
    ) {
        self.comparison = comparison
        self.list = list
        self.time = time
    }

    /// The address of the comparison of two runs.
    static func address(_ before: Int, _ after: Int) -> String {
        "/history/compare?before=\(before)&after=\(after)"
    }

    package var frame: LiveFrame {
        let rows = [comparison.before, comparison.after]
        let title = "Runs " + rows.map { "\($0.run.number)" }.joined(separator: " and ")
        var body = "<h1>\(title)</h1>\n<ul class=\"told\">\n"
        for row in rows {
            body += "<li>run \(row.run.number) of \(Markup.text(row.run.rollout)), begun "
            body += "\(Markup.text(time(row.run.started))): "
            body += "\(Markup.text(list.sentence(of: row)))</li>\n"
        }
        body += "</ul>\n" + counts
        for kind in RunComparison.Kind.allCases { body += changes(kind) }
        body += "<h2>The others</h2>\n<p>As before: <b data-same>\(comparison.same)</b>.</p>\n"
        for sentence in comparison.loneSentences { body += "<p>\(Markup.text(sentence))</p>\n" }
        return LiveFrame(.history, title, body)
    }

    private var counts: String {
        let titles = [comparison.before, comparison.after].map { "run \($0.run.number)" }
        return LiveMarks.table(
            ["outcome"] + titles,
            comparison.counts.map { count in
                let numbers = [count.before, count.after].map { RunComparison.number($0) }
                return LiveMarks.row(
                    [("outcome", count.name)] + zip(titles, numbers).map { ($0, $1) },
                    " data-outcome=\"\(count.name)\""
                )
            }
        )
    }

    private func changes(_ kind: RunComparison.Kind) -> String {
        let changes = comparison.changes(kind)
        guard !changes.isEmpty else { return "" }
        let rows = changes.map { change in
            LiveMarks.row(
                [
                    ("vehicle", LiveMarks.link(change.vehicle)),
                    ("before", badge(change.before)), ("after", badge(change.after)),
                    ("what", Markup.text(change.after.message)),
                ],
                " data-vehicle=\"\(Markup.text(change.vehicle.text))\" data-kind=\"\(kind.rawValue)\""
            )
        }
        return "<h2>\(kind.title)</h2>\n"
            + LiveMarks.table(["vehicle", "before", "after", "what"], rows)
    }

    private func badge(_ fate: RunComparison.Fate) -> String {
        LiveMarks.badge(
            fate.word,
            Outcome(rawValue: fate.word).map { HTMLReport.mark($0) } ?? .wait
        )
    }
}
