package import Base
package import Store

/// The text of `status`: the headline, what to do, and below it each vehicle, or of many those that need more.
package struct StatusText {
    private let status: RolloutStatus
    private let holder: LockHolder?
    private let isQuiet: Bool
    private let listsAll: Bool
    private let time: (WallTime) -> String

    /// `isQuiet` leaves out vehicles that are fine; `listsAll` lists them also where they are many.
    package init(
        _ status: RolloutStatus,
        _ holder: LockHolder?,
        isQuiet: Bool,
        listsAll: Bool = false,
        time: @escaping (WallTime) -> String
    ) {
        self.status = status
        self.holder = holder
        self.isQuiet = isQuiet
        self.listsAll = listsAll
        self.time = time
    }

    /// `hasOthers` adds a line for each of the other rollouts.
    package func text(hasOthers: Bool) -> String {
        let source = status.source.map { [$0.sentence] } ?? []
        guard status.snapshot.run != nil else {
            return (source + ["nothing has run here yet"]).map { $0 + "\n" }.joined()
        }
        var lines = source + status.head(holder, time)
        let groups = status.groups
        lines += status.headline(groups).sentence.map { [$0] } ?? []
        let counts = status.counts
        if counts.total > 0 { lines.append(counts.sentence) }
        lines += status.sentences(time, besideVehicles: true) + atWork
        if !groups.isEmpty { lines += ["", "what to do"] }
        for group in groups { lines += HelpText(detail: .name).lines(group) }
        let rows = status.rows
        lines += table(rows, of: counts.total) + inBootloader(rows)
        if hasOthers { lines += others }
        return lines.joined(separator: "\n") + "\n"
    }

    private var atWork: [String] {
        let (now, before) = (status.snapshot.underWay, status.snapshot.cutOff)
        var lines: [String] = []
        if !now.isEmpty {
            let names = now.map { "\($0.vehicle.text.visible) (\($0.state.rawValue))" }
            lines.append("works on \(names.joined(separator: ", "))")
        }
        if !before.isEmpty {
            let names = before.map(\.vehicle.text.visible).joined(separator: ", ")
            lines.append("was working on \(names)")
        }
        return lines
    }

    private func table(_ rows: [RolloutStatus.Row], of total: Int) -> [String] {
        let listsAll = !isQuiet && (listsAll || total <= RolloutStatus.mostListed)
        let shown = rows.filter { row in
            listsAll || row.needsMore && !row.isNotBegun || row.isUnderWay && !isQuiet
        }
        let others = total - shown.count
        var lines: [String] = []
        if !shown.isEmpty {
            let head = ["vehicle", "serial", "state", "version", "since", "what"]
            lines = Columns.table(
                [head]
                    + shown.map { row in
                        [
                            row.record.vehicle.text.visible, row.record.serial.text, row.state,
                            row.version ?? "-", time(row.record.updated), row.what(time),
                        ]
                    }
            )
        }
        if others > 0, !isQuiet {
            lines.append("\(others) more are done or wait for a run; --limit '*' lists them, too")
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    private func inBootloader(_ rows: [RolloutStatus.Row]) -> [String] {
        let left = rows.filter { $0.record.isInBootloader($0.standing) && !$0.isUnderWay }
        guard !left.isEmpty else { return [] }
        let names = left.map(\.record.vehicle.text.visible).joined(separator: ", ")
        return ["", "in the bootloader, and first in the next run: \(names)"]
    }

    /// The other rollouts of the state directory, the newest first: one line each.
    private var others: [String] {
        guard !status.others.isEmpty else { return [] }
        let place = status.snapshot.shared == nil ? "here" : "of the fleet"
        return ["", "other rollouts \(place) ('status --rollout NAME' shows one):"]
            + status.others.map { other in
                let end = other.run.end.map { "ended \(time($0.time))" } ?? "has no end"
                return
                    "  \(other.run.rollout.visible): \(other.state), run \(other.run.name) \(end), "
                    + other.counts.sentence + (other.isOwn ? " (this machine's journal only)" : "")
            }
    }
}
