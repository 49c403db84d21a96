package import Base
import Store

/// The morning page as plain text, for a terminal and for mail.
package struct MorningText {
    private let page: MorningPage
    /// Formats a time for people.
    private let time: (WallTime) -> String
    private let width: Int

    package init(_ page: MorningPage, width: Int, time: @escaping (WallTime) -> String) {
        self.page = page
        self.time = time
        self.width = max(40, width)
    }

    package var text: String {
        // An address can be copied as long as it is one line.
        let source = page.source.map { $0.sentence + "\n" } ?? ""
        let since = "Since \(time(page.since)): "
        var lines =
            page.headline.sentence.map { [since + $0, "  " + page.summary] } ?? [
                since + page.summary
            ]
        lines += page.nights.map(night)
        let help = HelpText(detail: .card(head))
        for group in page.groups { lines += [""] + help.lines(group) }
        lines += changes + stale
        return source + lines.map { Columns.folded($0, width) + "\n" }.joined()
    }

    private func night(_ night: MorningPage.Night) -> String {
        "  \(night.rollout.visible), run \(night.name), begun \(time(night.began)), "
            + "\(night.ending(time)): \(night.counts.sentence)"
            + (night.reason.isEmpty ? "" : "; \(night.reason.visible)")
    }

    private func head(_ card: MorningPage.Card) -> String {
        let serial = card.plate == nil ? card.serial.map { "serial \($0)" } : nil
        let seen =
            (card.lastSeen.map { "seen \(time($0))" } ?? "never seen")
            + (card.signal.map { " at \($0)" } ?? "")
        let depot = page.depots.count > 1 ? card.depot : nil
        return [
            card.vehicle.text, depot, card.stand, card.plate.map { "plate \($0)" }, serial, seen,
        ].compactMap { $0?.visible }.joined(separator: ", ")
    }

    private var changes: [String] {
        let lists = page.changes.lists.filter { !$0.vehicles.isEmpty }
        guard !lists.isEmpty else { return [] }
        var lines = ["", "WHAT HAS CHANGED"]
        for list in lists {
            lines.append("  \(list.title): \(list.vehicles.count), \(list.vehicles.firstNames)")
        }
        return lines
    }

    private var stale: [String] {
        guard !page.stale.isEmpty else { return [] }
        var lines = [
            "", "NOT UPDATED OR NOT SEEN FOR \(page.staleDays) DAYS (\(page.stale.count))",
        ]
        for item in page.stale {
            let place = item.card.place.isEmpty ? "" : " (\(item.card.place.visible))"
            let seen = item.card.lastSeen.map { "seen \(time($0))" } ?? "never seen"
            let current = item.lastCurrent.map { "as it should be \(time($0))" } ?? "never updated"
            lines.append("  \(item.card.vehicle.text.visible)\(place): \(seen), \(current)")
        }
        return lines
    }
}
