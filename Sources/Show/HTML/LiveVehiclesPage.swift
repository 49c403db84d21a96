import Base
import Manifest
import Store

extension LivePage {
    /// The vehicles of a rollout, with a search form that needs no script.
    package func vehicles(_ status: RolloutStatus, _ filter: LiveFilter) -> LiveFrame {
        guard let run = status.snapshot.run else { return .nothing(.vehicles) }
        let all = status.rows
        let planned = status.plan?.vehicles ?? []
        let labels = Dictionary(planned.map { ($0.id, $0.labels.map(\.value)) }) { $1 }
        let found = all.filter { filter.takes($0, labels[$0.record.vehicle] ?? []) }
        let from = (filter.page - 1) * LiveFilter.pageSize
        let shown = Array(found.dropFirst(from).prefix(LiveFilter.pageSize))
        let part =
            shown.isEmpty || shown.count == found.count
            ? "" : ", here from \(from + 1) to \(from + shown.count)"
        return LiveFrame(
            .vehicles,
            "Vehicles",
            """
            <p class="facts">of the rollout \(HTML.link(rollout: run.rollout))</p>
            \(form(run.rollout, Set(all.map(\.state)).sorted(), filter))\
            <p role="status"><b>\(found.count)</b> of \(all.count)\(part)</p>
            \(shown.isEmpty ? "<p>No vehicle matches.</p>\n" : .table(shown, time))\
            \(pages(of: found.count, filter))
            """
        )
    }

    private func form(_ rollout: String, _ states: [String], _ filter: LiveFilter) -> HTML {
        let options = states.map { state -> HTML in
            let chosen: HTML = state == filter.state ? " selected" : ""
            return "<option\(chosen)>\(state)</option>"
        }
        return """
            <form action="/vehicles" method="get" role="search">
            <input type="hidden" name="rollout" value="\(rollout)">
            <label>Id, serial or label<input type="search" name="q" value="\(filter.text)"></label>
            <label>State<select name="state"><option value="">all</option>\(options)</select></label>
            <button>Show</button>
            </form>

            """
    }

    private func pages(of count: Int, _ filter: LiveFilter) -> HTML {
        let last = (count + LiveFilter.pageSize - 1) / LiveFilter.pageSize
        guard last > 1 else { return "" }
        func link(_ page: Int, _ title: String) -> HTML {
            guard (1...last).contains(page) else { return "" }
            let fields = [
                ("rollout", filter.rollout ?? ""), ("q", filter.text), ("state", filter.state),
            ]
            let query = fields.filter { !$1.isEmpty }.map { "&\($0)=\(LiveTarget.escaped($1))" }
            return "<a href=\"/vehicles?page=\(page)\(query.joined())\">\(title)</a>"
        }
        return
            "<nav class=\"pages\" aria-label=\"More vehicles\">\(link(filter.page - 1, "Previous"))"
            + "<span>page \(filter.page) of \(last)</span>\(link(filter.page + 1, "Further"))</nav>\n"
    }
}

extension LiveFilter {
    fileprivate func takes(_ row: RolloutStatus.Row, _ labels: [String]) -> Bool {
        let wanted = text.lowercased()
        return (state.isEmpty || row.state == state)
            && (wanted.isEmpty
                || ([row.record.vehicle.text, row.record.serial.text] + labels)
                    .contains { $0.lowercased().contains(wanted) })
    }
}

extension HTML {
    /// Vehicles as a rollout has them.
    static func table(_ rows: [RolloutStatus.Row], _ time: (WallTime) -> String) -> HTML {
        table(
            ["vehicle", "serial", "state", "version", "since", "what"],
            rows.map { row in
                let record = row.record
                let mark = Mark(row.isUnderWay ? nil : row.standing.verdict?.outcome)
                return Row(
                    cells: [
                        link(record.vehicle), "\(record.serial.text)", badge(row.state, mark),
                        row.version.map { "\($0)" }, "\(time(record.updated))",
                        "\(row.what(time))",
                    ],
                    data: ["vehicle": record.vehicle.text, "state": row.state]
                )
            }
        )
    }
}
