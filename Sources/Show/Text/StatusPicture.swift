package import Base
import Store

/// The text of `status --watch` for a fleet: the whole screen, or lines for what has changed.
///
/// It is a value: the state of the rollout goes in, and text comes out.
package struct StatusPicture: Sendable {
    private let zone: Zone
    /// The last words for each vehicle, and for the rollout.
    private var told: [VehicleID: String]?
    private var head: [String] = []

    package init(_ zone: Zone = .utc) { self.zone = zone }

    /// The screen for a terminal of this size; vehicles that need a person come first.
    package func lines(
        _ status: RolloutStatus,
        at now: WallTime,
        width: Int,
        height: Int
    ) -> [String] {
        let time = { (time: WallTime) in short(time, now) }
        var lines = whole(status, time)
        let rows = status.rows
        let shown =
            rows.filter(\.isUnderWay) + rows.filter { !$0.isUnderWay && $0.needsMore }
        if !shown.isEmpty { lines.append("") }
        let room = max(3, height - lines.count - 2)
        let cut = shown.count > room ? shown.prefix(room - 1) : shown[...]
        lines += Columns.table(
            cut.map { [$0.record.vehicle.text.visible, $0.state, $0.what(time)] }
        )
        let rest = rows.count - cut.count
        if rest > 0 {
            lines.append(rest == 1 ? "and 1 more vehicle" : "and \(rest) more vehicles")
        }
        return lines.map { Columns.prefix($0, max(20, width - 1)) }
    }

    /// The lines for what has changed since the last call; the first call gives the whole rollout.
    package mutating func news(_ status: RolloutStatus, at now: WallTime) -> [String] {
        let time = { (time: WallTime) in zone.text(time) }
        var lines: [String] = []
        let source = status.source.map { [$0.sentence] } ?? []
        // The numbers of modules change with each vehicle, whose line says it already.
        let head =
            source + status.head(nil, time).prefix(1)
            + (status.snapshot.shared?.workers ?? []).map(\.short) + [status.counts.sentence]
            + status.sentences(time).filter { !$0.hasPrefix(Self.load) }
        for line in head where !self.head.contains(line) { lines.append(line) }
        self.head = head
        var words: [VehicleID: String] = [:]
        for row in status.rows {
            let word = row.isUnderWay ? row.state : row.what(time)
            words[row.record.vehicle] = word
            guard let told, told[row.record.vehicle] != word else { continue }
            let by = row.holder.map { " at \($0.gateway.visible)" } ?? ""
            lines.append(
                "\(zone.text(now)) \(row.record.vehicle.text.visible): "
                    + (row.isUnderWay ? "\(row.state)\(by)" : "\(row.state), \(word)")
            )
        }
        told = words
        return lines
    }

    private static let load = "gate: "

    private func whole(_ status: RolloutStatus, _ time: (WallTime) -> String) -> [String] {
        let source = status.source.map { [$0.sentence] } ?? []
        guard status.snapshot.run != nil else { return source + ["nothing has run here yet"] }
        return source + status.head(nil, time) + [status.counts.sentence] + status.sentences(time)
    }

    /// Without the date when the time is near.
    private func short(_ time: WallTime, _ now: WallTime) -> String {
        let whole = zone.text(time)
        let age = time.duration(to: now)
        return max(age, .zero - age) < .seconds(20 * 3_600)
            ? String(whole.dropFirst(11).prefix(8)) : whole
    }
}
