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
        guard let run = status.snapshot.run else {
            return LiveFrame(
                .vehicles,
                "Vehicles",
                "<h1>Vehicles</h1>\n<p>Nothing has run here yet.</p>"
            )
        }
        let all = status.rows
        let found = all.filter(takes)
        let from = (filter.page - 1) * LiveFilter.pageSize
        let shown = found.dropFirst(from).prefix(LiveFilter.pageSize)
        let rollout = LiveTarget.escaped(run.rollout)
        var body = "<h1>Vehicles</h1>\n<p class=\"facts\">of the rollout "
        body += "<a href=\"/rollouts/\(rollout)\">\(Markup.text(run.rollout))</a></p>\n"
        body += form(run.rollout, Set(all.map(\.state)).sorted())
        body += "<p role=\"status\"><b data-count=\"found\">\(found.count)</b> of \(all.count)"
        if !shown.isEmpty, shown.count < found.count {
            body += ", here from \(from + 1) to \(from + shown.count)"
        }
        body += "</p>\n"
        body += shown.isEmpty ? "<p>No vehicle matches.</p>\n" : LiveMarks.table(Array(shown), time)
        body += pages(of: found.count)
        return LiveFrame(.vehicles, "Vehicles", body)
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

    private func form(_ rollout: String, _ states: [String]) -> String {
        let options = states.map { state in
            let chosen = state == filter.state ? " selected" : ""
            return "<option\(chosen)>\(Markup.text(state))</option>"
        }
        return """
            <form action="/vehicles" method="get" role="search">
            <input type="hidden" name="rollout" value="\(Markup.text(rollout))">
            <label>Id, serial or label<input type="search" name="q" value="\(Markup.text(filter.text))"></label>
            <label>State<select name="state"><option value="">all</option>\(options.joined())</select></label>
            <button>Show</button>
            </form>

            """
    }

    private func pages(of count: Int) -> String {
        let last = (count + LiveFilter.pageSize - 1) / LiveFilter.pageSize
        guard last > 1 else { return "" }
        func link(_ page: Int, _ title: String) -> String {
            guard (1...last).contains(page) else { return "" }
            var parts = ["page=\(page)"]
            if let rollout = filter.rollout {
                parts.append("rollout=\(LiveTarget.escaped(rollout))")
            }
            if !filter.text.isEmpty { parts.append("q=\(LiveTarget.escaped(filter.text))") }
            if !filter.state.isEmpty { parts.append("state=\(LiveTarget.escaped(filter.state))") }
            return "<a href=\"/vehicles?\(parts.joined(separator: "&amp;"))\">\(title)</a>"
        }
        return "<nav class=\"pages\" aria-label=\"More vehicles\">"
            + link(filter.page - 1, "Previous") + "<span>page \(filter.page) of \(last)</span>"
            + link(filter.page + 1, "Further") + "</nav>"
    }
}
