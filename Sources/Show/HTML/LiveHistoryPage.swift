package import Base
import Store

/// The list of all runs.
package struct LiveHistoryPage {
    private let list: RunList
    private let rollout: String?
    private let time: (WallTime) -> String

    package init(_ list: RunList, of rollout: String?, time: @escaping (WallTime) -> String) {
        self.list = list
        self.rollout = rollout
        self.time = time
    }

    /// A link to the differences from the previous run of the rollout.
    private func comparison(_ row: RunList.Row) -> String {
        let run = row.run
        // Only the journal of its own gateway has the facts that are compared.
        guard run.gateway == nil else { return "" }
        let earlier = list.rows.first {
            $0.run.gateway == nil && $0.run.number < run.number && $0.run.rollout == run.rollout
        }
        guard let earlier else { return "" }
        let address = LiveComparisonPage.address(earlier.run.number, run.number)
        return " <a href=\"\(Markup.text(address))\">beside run \(earlier.run.number)</a>"
    }

    package var frame: LiveFrame {
        var body = "<h1>History</h1>\n"
        if let source = list.source {
            body += "<p class=\"facts\">\(Markup.text(source.sentence))</p>\n"
        }
        if let rollout {
            body += "<p class=\"facts\">of the rollout \(Markup.text(rollout)); "
            body += "<a href=\"/history\">of all</a></p>\n"
        }
        let rows = list.rows.map { row in
            let run = row.run
            let took = row.took?.brief ?? "-"
            let name = LiveTarget.escaped(run.rollout)
            let counts = row.end?.vehicles
            func count(_ tally: Outcome.Tally) -> String {
                counts.map { "\($0.count(tally))" } ?? "-"
            }
            return LiveMarks.row(
                [
                    ("run", Markup.text(run.name.description)),
                    (
                        "rollout",
                        "<a href=\"/history?rollout=\(name)\">\(Markup.text(run.rollout))</a>"
                    ),
                    ("begun", Markup.text(time(run.started))),
                    ("took", took),
                    ("exit", run.end?.exitCode.map { "\($0)" } ?? "-"),
                    ("ok", count(.ok)), ("current", count(.current)),
                    ("deferred", count(.deferred)), ("unreachable", count(.unreachable)),
                    ("failed", count(.failed)),
                    ("what", Markup.text(list.sentence(of: row)) + comparison(row)),
                ],
                " data-run=\"\(Markup.text(run.name.description))\""
            )
        }
        body +=
            rows.isEmpty
            ? "<p>Nothing has run here yet.</p>\n"
            : LiveMarks.table(
                [
                    "run", "rollout", "begun", "took", "exit", "ok", "current", "deferred",
                    "unreachable", "failed", "what",
                ],
                rows
            )
        if !list.sayings.isEmpty {
            let titles = RunList.sayingTitles
            body += "<h2>Requests of people</h2>\n"
            body += LiveMarks.table(
                titles,
                list.sayings.map { saying in
                    LiveMarks.row(
                        zip(titles, RunList.words(saying, time)).map { ($0, Markup.text($1)) }
                    )
                }
            )
        }
        return LiveFrame(.history, "History", body)
    }
}
