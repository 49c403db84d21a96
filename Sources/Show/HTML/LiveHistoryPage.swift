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

    package var frame: LiveFrame {
        let before: HTML =
            "\(HTML.facts(list.source?.sentence))\(LiveFrame.filter(rollout, at: "/history"))"
        guard !list.rows.isEmpty else { return .nothing(.history, before) }
        let runs = HTML.table(
            ["run", "rollout", "begun", "took", "exit"] + Self.tallies.map(\.rawValue) + ["what"],
            list.rows.map(row)
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

    private static let tallies: [Outcome.Tally] = [.ok, .current, .deferred, .unreachable, .failed]

    private func row(_ row: RunList.Row) -> HTML.Row {
        let run = row.run
        let counts = Self.tallies.map { tally in
            row.end.map { "\($0.vehicles.count(tally))" as HTML }
        }
        let cells: [HTML?] = [
            "\(run.name)", .link(rollout: run.rollout, at: "/history?rollout="),
            "\(time(run.started))", row.took.map { "\($0.brief)" },
            run.end?.exitCode.map { "\($0)" },
        ]
        return HTML.Row(
            cells: cells + counts + ["\(list.sentence(of: row))\(comparison(row))"],
            data: ["run": run.name.description]
        )
    }

    /// A link to the differences from the previous run of the rollout.
    private func comparison(_ row: RunList.Row) -> HTML? {
        let run = row.run
        // Only the journal of its own gateway has the facts that are compared.
        guard run.gateway == nil else { return nil }
        let earlier = list.rows.first {
            $0.run.gateway == nil && $0.run.number < run.number && $0.run.rollout == run.rollout
        }
        return earlier.map { earlier in
            let address = LiveComparisonPage.address(earlier.run.number, run.number)
            return " <a href=\"\(address)\">beside run \(earlier.run.number)</a>"
        }
    }
}

extension LiveFrame {
    /// Says that a list has the runs of one rollout, with a link to that of all.
    static func filter(_ rollout: String?, at address: String) -> HTML {
        guard let rollout else { return "" }
        return
            "<p class=\"facts\">of the rollout \(rollout); <a href=\"\(address)\">of all</a></p>\n"
    }
}
