package import Base
import Store

/// The text of `status --watch` for a fleet: a line for whatever has changed, and on a terminal
/// below them what goes on now.
///
/// It is a value: the state of the rollout goes in, and text comes out.
package struct StatusPrinter: Sendable {
    private let zone: Zone
    /// Nil without a terminal.
    private var screen: LiveScreen?
    private var view = LiveView()
    /// The last words for each vehicle, and the last lines about the rollout.
    private var told: [VehicleID: String]?
    private var facts: [String] = []

    package init(_ style: TerminalStyle?, _ zone: Zone) {
        self.zone = zone
        screen = style.map { LiveScreen($0) }
    }

    package mutating func resize(width: Int, height: Int) {
        screen?.resize(width: width, height: height)
    }

    package mutating func print(
        _ status: RolloutStatus,
        at now: Moment,
        wall: WallTime
    ) -> [Output] {
        view = LiveView(status)
        return tell(news(status, at: wall), at: now, wall: wall)
    }

    /// Prints lines as they are, such as the reason why there is no news.
    package mutating func tell(_ lines: [String], at now: Moment, wall: WallTime) -> [Output] {
        guard screen != nil else {
            return lines.isEmpty ? [] : [Output(.out, lines.map { $0 + "\n" }.joined())]
        }
        for line in lines { screen?.scroll(line) }
        return screen?.draw(view, at: now, wall: wall) ?? []
    }

    /// The lines for what has changed since the last call; the first call gives the whole rollout.
    private mutating func news(_ status: RolloutStatus, at now: WallTime) -> [String] {
        let facts =
            (status.source.map { [$0.sentence] } ?? []) + [status.title(zone.text)]
            + (status.snapshot.shared?.workers ?? []).map(\.short) + [status.counts.sentence]
            + status.sentences(zone.text, withGate: false)
        var lines = facts.filter { !self.facts.contains($0) }
        self.facts = facts
        var words: [VehicleID: String] = [:]
        for row in status.rows {
            let by = row.holder.map { " at \($0.gateway.visible)" } ?? ""
            let word = row.isUnderWay ? row.state + by : "\(row.state), \(row.what(zone.text))"
            words[row.record.vehicle] = word
            let isNews =
                told.map { $0[row.record.vehicle] != word } ?? (row.needsMore && !row.isNotBegun)
            guard isNews else { continue }
            let time = told == nil ? "" : zone.text(now) + " "
            lines.append("\(time)\(row.record.vehicle.text.visible): \(word)")
        }
        told = words
        return lines
    }
}
