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

    /// The content of the page, for use inside another page.
    package var body: String {
        var body =
            "<h1>What to do</h1>\n<p class=\"facts\">Since \(escaped(time(page.since))), made "
        body += "\(escaped(time(page.made))): \(escaped(page.summary))</p>\n"
        if let source = page.source {
            body += "<p class=\"facts\">\(escaped(source.sentence))</p>\n"
        }
        body += nights
        for group in page.groups { body += section(group) }
        return body + changes + stale
    }

    package var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>What to do</title>
        <style>
        \(HTMLStyle.sheet)
        \(Self.sheet)
        </style>
        </head>
        <body>
        <main>
        \(body)</main>
        </body>
        </html>

        """
    }

    package static let sheet = """
        .cards { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); }
        .cards article { padding: 10px 12px; border-radius: 8px; background: var(--card);
          border: 1px solid var(--line); break-inside: avoid; overflow-wrap: anywhere; }
        .cards h3 { margin: 0 0 4px; font-size: 1.1rem; }
        .cards p { margin: 4px 0; }
        .cards code { display: block; white-space: pre-wrap; }
        .box { display: none; }
        @media print {
          main { max-width: none; padding: 0; }
          .cards { grid-template-columns: 1fr 1fr; gap: 6mm; }
          .cards article { min-height: 118mm; border: 1px solid #000; font-size: 12pt; }
          .cards h3 { font-size: 20pt; }
          .cards code, .cards small { display: none; }
          .box { display: block; margin-top: 12pt; }
        }
        """

    private var nights: String {
        guard !page.nights.isEmpty else { return "" }
        let rows = page.nights.map { night in
            "<li><b>\(escaped(night.rollout))</b>, run \(escaped(night.name.description)), "
                + escaped("begun \(time(night.began)), \(night.ending(time)): ")
                + escaped(night.counts.sentence)
                + (night.reason.isEmpty ? "" : "; " + escaped(night.reason)) + "</li>\n"
        }
        return "<ul>\n\(rows.joined())</ul>\n"
    }

    private func section(_ group: MorningPage.Group) -> String {
        let place = group.place.isEmpty ? "" : " – \(escaped(group.place))"
        var text = "<h2>\(escaped(group.work.title))\(place) (\(group.tasks.count))</h2>\n"
        if group.isCounted { return text + group.items.map(counted).joined() }
        text += "<div class=\"cards\">\n"
        for task in group.tasks { text += card(task) }
        return text + "</div>\n"
    }

    /// What is said alike of vehicles to which nobody has to go.
    private func counted(_ item: (step: NextStep, cards: [MorningPage.Card])) -> String {
        let names = item.cards.map(\.vehicle.text).joined(separator: ", ")
        let who = item.cards.count == 1 ? "" : "<summary>\(item.cards.count) vehicles: "
        let what = escaped(item.step.sentence)
        let told =
            who.isEmpty
            ? "<p>\(escaped(names)): \(what)</p>\n"
            : "<details>\(who)\(what)</summary><p>\(escaped(names))</p></details>\n"
        return told + item.step.commands.map(line).joined()
    }

    private func line(_ command: NextStep.Command) -> String {
        "<code>\(escaped(command.line))</code><small>\(escaped(command.when))</small>\n"
    }

    private func card(_ task: MorningPage.Task) -> String {
        let card = task.card
        var text = "<article>\n<h3>\(escaped(card.vehicle.text))"
        text += card.plate.map { " · \(escaped($0))" } ?? ""
        text += "</h3>\n<p class=\"facts\">\(escaped(task.step.work.title))"
        text += card.stand.map { " · \(escaped($0))" } ?? ""
        text += card.serial.map { " · serial \(escaped($0.text))" } ?? ""
        text += card.lastSeen.map { " · seen \(escaped(time($0)))" } ?? " · never seen"
        text += card.signal.map { " at \(escaped($0))" } ?? ""
        text += "</p>\n<p>\(escaped(task.step.sentence))</p>\n"
        text += task.step.commands.map(line).joined()
        return text + "<p class=\"box\">☐ done by ______________________ at ____________</p>\n"
            + "</article>\n"
    }

    private var changes: String {
        let lists = page.changes.lists.filter { !$0.vehicles.isEmpty }
        guard !lists.isEmpty else { return "" }
        let rows = lists.map { list in
            let names = list.vehicles.map(\.text).joined(separator: ", ")
            return "<li>\(escaped(list.title)): \(list.vehicles.count), \(escaped(names))</li>\n"
        }
        return "<h2>What has changed</h2>\n<ul>\n\(rows.joined())</ul>\n"
    }

    private var stale: String {
        guard !page.stale.isEmpty else { return "" }
        let rows = page.stale.map { item in
            let seen = item.card.lastSeen.map { time($0) } ?? "never"
            let current = item.lastCurrent.map { time($0) } ?? "never"
            return
                "<tr><td>\(escaped(item.card.vehicle.text))</td><td>\(escaped(item.card.place))</td>"
                + "<td>\(escaped(seen))</td><td>\(escaped(current))</td></tr>\n"
        }
        return "<h2>Not updated or not seen for \(page.staleDays) days</h2>\n<table>\n"
            + "<tr><th>vehicle</th><th>place</th><th>seen</th><th>as it should be</th></tr>\n"
            + rows.joined() + "</table>\n"
    }

    private func escaped(_ text: String) -> String { Markup.text(text) }
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
