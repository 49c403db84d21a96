import Base
import Store

/// A rollout at work, as a display shows it below the lines that scroll up.
///
/// `run` and `status --watch` make it from the events of a run, or from a fleet's rollout.
struct LiveView: Sendable {
    /// More live lines would push everything else off the screen.
    private static let rowLimit = 12
    /// The lines that are not vehicles, including one that stays free below them.
    private static let otherLines = 6

    /// The adapters, or the gateways of a fleet.
    var places: [String] = []
    /// The vehicles in work.
    var rows: [LiveRow] = []
    var wave: LiveWave?
    /// All vehicles; nil when there is nothing to say of them.
    var counts: VehicleCounts?
    /// An estimate of the work that is left.
    var left: Duration?
    /// What it waits for.
    var awaited: String?

    func lines(_ style: TerminalStyle, at now: WallTime) -> [String] {
        var lines: [String] = []
        if !rows.isEmpty {
            lines = vehicleLines(style, at: now)
            if let wave { lines.append(wave.text(style)) }
        }
        if let counts {
            let ended = counts.total - counts.unfinished
            let rest = left.map { ", about \($0.brief) of work left" } ?? ""
            lines.append(
                style.cut(
                    "\(ended) of \(counted(counts.total, "vehicle")) ended, "
                        + "\(counts.count(.failed)) failed\(rest)"
                )
            )
        }
        if let awaited { lines.append(style.cut(awaited)) }
        return lines
    }

    private func vehicleLines(_ style: TerminalStyle, at now: WallTime) -> [String] {
        // A row says its place only where there are several.
        let places = places.count > 1 ? places : []
        func place(_ row: LiveRow) -> Int {
            row.place.flatMap { places.firstIndex(of: $0) } ?? places.count
        }
        let limit = max(1, min(Self.rowLimit, style.height - Self.otherLines))
        let shown = rows.sorted { (place($0), $0.vehicle) < (place($1), $1.vehicle) }.prefix(limit)
        let widest = shown.reduce(0) { max($0, Columns.width($1.vehicle.text.visible)) }
        let name = min(max(widest, 4), max(4, style.width / 3), 24)
        let column = places.reduce(0) { max($0, Columns.width($1.visible)) }
        func cell(_ place: String?) -> String {
            places.isEmpty ? "" : Columns.padded(place?.visible ?? "-", column) + "  "
        }
        var lines = shown.map { $0.text(style, place: cell($0.place), name: name, at: now) }
        if rows.count > shown.count {
            lines.append("and \(rows.count - shown.count) more")
        } else {
            let idle = places.filter { name in !rows.contains { $0.place == name } }
            lines += idle.prefix(max(0, limit - shown.count)).map {
                Columns.prefix(cell($0) + "idle", max(0, style.width - 1))
            }
        }
        return lines
    }
}

extension LiveView {
    /// The rollout of a fleet.
    init(_ status: RolloutStatus) {
        let workers = status.snapshot.shared?.workers ?? []
        places = workers.filter(\.isAtWork).map(\.gateway)
        rows = status.rows.filter(\.isUnderWay).map { LiveRow($0) }
        wave = LiveWave(status.waves)
        counts = status.chosen.isEmpty ? nil : status.counts
        awaited = workers.isEmpty ? nil : workers.map(\.short).joined(separator: "; ")
    }
}
