package import Base
import Manifest
import Store

/// The vehicles of a rollout, with a search form that needs no script.
package struct LiveVehiclesPage {
    private let status: RolloutStatus
    private let filter: LiveFilter
    private let labels: [VehicleID: [String]]
    private let time: (WallTime) -> String

    package init(
        _ status: RolloutStatus,
        _ filter: LiveFilter,
        time: @escaping (WallTime) -> String
    ) {
        self.status = status
        self.filter = filter
        labels = Self.labels(of: status)
        self.time = time
    }

    package var frame: LiveFrame {
        guard let run = status.snapshot.run else { return .nothing(.vehicles) }
        let all = status.rows
        let found = all.filter(takes)
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
            \(form(run.rollout, Set(all.map(\.state)).sorted()))\
            <p role="status"><b>\(found.count)</b> of \(all.count)\(part)</p>
            \(shown.isEmpty ? "<p>No vehicle matches.</p>\n" : .table(shown, time))\
            \(pages(of: found.count))
            """
        )
    }

    private func takes(_ row: RolloutStatus.Row) -> Bool {
        guard filter.state.isEmpty || row.state == filter.state else { return false }
        guard !filter.text.isEmpty else { return true }
        let wanted = filter.text.lowercased()
        let labels = labels[row.record.vehicle] ?? []
        return ([row.record.vehicle.text, row.record.serial.text] + labels)
            .contains { $0.lowercased().contains(wanted) }
    }

    private static func labels(of status: RolloutStatus) -> [VehicleID: [String]] {
        var labels: [VehicleID: [String]] = [:]
        for vehicle in status.plan?.vehicles ?? [] {
            labels[vehicle.id] = vehicle.labels.map(\.value)
        }
        return labels
    }

    private func form(_ rollout: String, _ states: [String]) -> HTML {
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

    private func pages(of count: Int) -> HTML {
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
