package import Base
import Store

/// The morning page as one HTML file without external references; printed, it is a job card for
/// each vehicle.
package struct MorningHTML {
    private let page: MorningPage
    private let time: (WallTime) -> String

    package init(_ page: MorningPage, time: @escaping (WallTime) -> String) {
        self.page = page
        self.time = time
    }

    package static let title = "What to do"

    package var text: String { HTML.file(Self.title, "<h1>\(Self.title)</h1>\n\(content)") }

    /// The page without its title, for use inside another page.
    package var content: HTML {
        let since = "Since \(time(page.since)), made \(time(page.made)): \(page.summary)"
        let groups = page.groups.map { group in
            HTML.section(
                "\(group.work.title) (\(group.tasks.count))",
                "<p>\(group.remedy.advice)</p>\n"
                    + (group.work.needsPerson
                        ? "<div class=\"cards\">\n\(group.tasks.map(card))\(next(group))</div>\n"
                        : HTML(group.items.map(counted)) + next(group))
            )
        }
        return """
            \(page.headline.sentence.map { "<p><b>\($0)</b></p>\n" as HTML } ?? "")\(HTML.facts(since))\(HTML.facts(page.source?.sentence))\
            \(HTML.list(page.nights.map(night)))\(groups)\
            \(HTML.section("What has changed", changes))\
            \(HTML.section("Not updated or not seen for \(page.staleDays) days", stale))
            """
    }

    private func night(_ night: MorningPage.Night) -> HTML {
        "<b>\(night.rollout)</b>, run \(night.name), begun \(time(night.began)), "
            + "\(night.ending(time)): \(night.counts.sentence)"
            + "\(night.reason.isEmpty ? "" : "; " + night.reason)"
    }

    /// The commands of a group; they are not printed, like those of a card.
    private func next(_ group: HelpGroup) -> HTML {
        group.commands.isEmpty ? "" : "<p>\(HTML.commands(group.commands))</p>\n"
    }

    /// What is said alike of vehicles to which nobody has to go.
    private func counted(_ item: (message: String, cards: [MorningPage.Card])) -> HTML {
        let names = item.cards.map(\.vehicle.text).joined(separator: ", ")
        return item.cards.count == 1
            ? "<p>\(names): \(item.message)</p>\n"
            : "<details><summary>\(item.cards.count) vehicles: \(item.message)</summary><p>\(names)</p></details>\n"
    }

    private func card(_ task: MorningPage.Task) -> HTML {
        let card = task.card
        let facts = [
            task.step.work.title, card.place.isEmpty ? nil : card.place,
            card.serial.map { "serial \($0)" },
            (card.lastSeen.map { "seen \(time($0))" } ?? "never seen")
                + (card.signal.map { " at \($0)" } ?? ""),
        ]
        return """
            <article>
            <h3>\(card.vehicle.text)\(card.plate.map { " · \($0)" } ?? "")</h3>
            \(HTML.facts(facts.compactMap(\.self).joined(separator: " · ")))\
            <p>\(task.step.brief)</p>
            <p class="box">☐ done by ______________________ at ____________</p>
            </article>

            """
    }

    private var changes: HTML {
        .list(
            page.changes.lists.filter { !$0.vehicles.isEmpty }.map { list in
                let names = list.vehicles.map(\.text).joined(separator: ", ")
                return "\(list.title): \(list.vehicles.count), \(names)"
            }
        )
    }

    private var stale: HTML {
        .table(
            ["vehicle", "place", "seen", "as it should be"],
            page.stale.map { item in
                HTML.Row(cells: [
                    "\(item.card.vehicle.text)",
                    item.card.place.isEmpty ? nil : "\(item.card.place)",
                    "\(item.card.lastSeen.map(time) ?? "never")",
                    "\(item.lastCurrent.map(time) ?? "never")",
                ])
            }
        )
    }
}

extension MorningPage {
    /// A message for `sendmail -t`: the text, and the page as an alternative (RFC 2046).
    package func mail(to address: String, text: String, html: String) -> String {
        // No line of the content can be equal to this mark, because the content is in Base64.
        let mark = "=_yardmaster-\(made.milliseconds)"
        func part(_ type: String, _ content: String) -> String {
            "--\(mark)\nContent-Type: \(type); charset=utf-8\n"
                + "Content-Transfer-Encoding: base64\n\n" + Self.base64(content) + "\n"
        }
        let subject = "yardmaster: \(summary)".visible.ascii
        return "To: \(address)\nSubject: \(subject)\nMIME-Version: 1.0\n"
            + "Auto-Submitted: auto-generated\n"
            + "Content-Type: multipart/alternative; boundary=\"\(mark)\"\n\n"
            + part("text/plain", text) + part("text/html", html) + "--\(mark)--\n"
    }

    /// In lines of 76 characters: Base64 content cannot look like a header or the mark.
    private static func base64(_ text: String) -> String {
        let characters = Array(Base64.text(Array(text.utf8)).utf8)
        return stride(from: 0, to: characters.count, by: 76).map { start in
            String(decoding: characters[start..<min(start + 76, characters.count)], as: UTF8.self)
        }.joined(separator: "\n")
    }
}
