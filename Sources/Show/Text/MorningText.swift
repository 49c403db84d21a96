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
        var lines = page.source.map { wrapped($0.sentence, "") } ?? []
        lines += wrapped("Since \(time(page.since)): \(page.summary)", "")
        for night in page.nights { lines += self.night(night) }
        for group in page.groups {
            lines.append("")
            let place = group.place.isEmpty ? "" : " - \(group.place.visible)"
            lines += wrapped("\(group.work.title.uppercased())\(place) (\(group.tasks.count))", "")
            lines += items(of: group)
        }
        lines += changes + stale
        return lines.joined(separator: "\n") + "\n"
    }

    private func night(_ night: MorningPage.Night) -> [String] {
        wrapped(
            "\(night.rollout.visible), run \(night.name), begun \(time(night.began)), "
                + "\(night.ending(time)): \(night.counts.sentence)"
                + (night.reason.isEmpty ? "" : "; \(night.reason.visible)"),
            "  "
        )
    }

    private func items(of group: MorningPage.Group) -> [String] {
        let items = group.items
        var lines: [String] = []
        for (index, item) in items.enumerated() {
            if group.isCounted {
                let names = item.cards.map(\.vehicle.text.visible).joined(separator: ", ")
                let count = item.cards.count
                let who = group.work == .held ? names : count == 1 ? names : "\(count) vehicles"
                lines += wrapped("\(who): \(item.step.sentence.visible)", "  ")
            } else {
                lines += item.cards.flatMap(head)
                lines += wrapped(item.step.sentence.visible, "    ")
            }
            // What helps several vehicles is said once, below the last of them.
            let next = index + 1 < items.count ? items[index + 1].step.commands : []
            if next != item.step.commands { lines += commands(of: item.step) }
        }
        return lines
    }

    private func head(_ card: MorningPage.Card) -> [String] {
        var head = [card.vehicle.text.visible]
        if let stand = card.stand { head.append(stand.visible) }
        if let plate = card.plate { head.append("plate \(plate.visible)") }
        if let serial = card.serial { head.append("serial \(serial)") }
        var seen = card.lastSeen.map { "seen \(time($0))" } ?? "never seen"
        if let signal = card.signal { seen += " at \(signal.visible)" }
        head.append(seen)
        return wrapped(head.joined(separator: ", "), "  ")
    }

    /// A command is never wrapped, so that it can be copied.
    private func commands(of step: NextStep) -> [String] {
        step.commands.map { command in
            let isPlain = step.commands.count == 1 && !command.isForOperator
            return "    $ \(command.line.visible)" + (isPlain ? "" : "   # \(command.when)")
        }
    }

    private var changes: [String] {
        let lists = page.changes.lists.filter { !$0.vehicles.isEmpty }
        guard !lists.isEmpty else { return [] }
        var lines = ["", "WHAT HAS CHANGED"]
        for list in lists {
            let names = list.vehicles.map(\.text.visible).joined(separator: ", ")
            lines += wrapped("\(list.title): \(list.vehicles.count), \(names)", "  ")
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
            lines += wrapped("\(item.card.vehicle.text.visible)\(place): \(seen), \(current)", "  ")
        }
        return lines
    }

    /// Wrapped between words at the width, with every line indented.
    private func wrapped(_ text: String, _ indent: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            let wide = Columns.width(indent) + Columns.width(line) + 1 + Columns.width(word)
            if !line.isEmpty, wide > width {
                lines.append(indent + (lines.isEmpty ? "" : "  ") + line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        lines.append(indent + (lines.isEmpty ? "" : "  ") + line)
        return lines
    }
}
