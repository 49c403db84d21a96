import Base
import Store

/// The parts of which reports, the pages of `serve` and the morning's page are made.
extension HTML {
    /// How something is shown: a colour, and a sign for people who cannot distinguish the colours.
    enum Mark: String, CaseIterable {
        case good, wait, bad

        init(_ outcome: Outcome?) {
            self =
                switch outcome?.tally {
                case .ok, .current: .good
                case .deferred, .unreachable, .skipped, nil: .wait
                case .failed, .aborted: .bad
                }
        }

        var sign: String {
            switch self {
            case .good: "✓"
            case .wait: "◌"
            case .bad: "✕"
            }
        }
    }

    // MARK: Pages

    /// A whole page; `top` stands before its content, and `attributes` are those of the content.
    static func page(
        _ title: String,
        head: HTML,
        top: HTML = "",
        attributes: HTML = "",
        _ content: HTML
    ) -> String {
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            \(head)
            </head>
            <body>
            \(top)<main\(attributes)>
            \(content)</main>
            </body>
            </html>

            """
        return page.text
    }

    /// A page that is a file: no script, no external reference.
    static func file(_ title: String, _ content: HTML) -> String {
        page(
            title,
            head: """
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
                <style>
                \(HTMLStyle.sheet)
                </style>
                """,
            content
        )
    }

    /// A part of a page with its title; nothing when it has no content.
    static func section(_ title: String, _ content: HTML) -> HTML {
        content.isEmpty ? "" : "<section><h2>\(title)</h2>\n\(content)</section>\n"
    }

    // MARK: Lines

    /// A faint line of facts.
    static func facts(_ text: String?) -> HTML {
        text.map { "<p class=\"facts\">\($0)</p>\n" } ?? ""
    }

    /// How something ended, or that it goes on.
    static func banner(_ mark: Mark, _ word: String, _ sentence: String) -> HTML {
        "<p class=\"exit \(mark.rawValue)\" role=\"status\"><b>\(word)</b> \(sentence)</p>\n"
    }

    static func list(_ items: [HTML], _ kind: String = "told") -> HTML {
        guard !items.isEmpty else { return "" }
        return "<ul class=\"\(kind)\">\n\(items.map { "<li>\($0)</li>\n" as HTML })</ul>\n"
    }

    static func list(_ lines: [String]) -> HTML {
        let items: [HTML] = lines.map { "\($0)" }
        return list(items)
    }

    static func link(_ vehicle: VehicleID) -> HTML {
        "<a href=\"/vehicles/\(LiveTarget.escaped(vehicle.text))\">\(vehicle.text)</a>"
    }

    /// A link to a page of a rollout, whose address is `place` and the rollout's name.
    static func link(rollout: String, at place: String = "/rollouts/") -> HTML {
        "<a href=\"\(place)\(LiveTarget.escaped(rollout))\">\(rollout)</a>"
    }

    static func link(_ run: RunName) -> HTML {
        let name = run.gateway.map { "\($0)/\(run.number)" } ?? "\(run.number)"
        return "<a href=\"/history/run?run=\(LiveTarget.escaped(name))\">\("\(run)")</a>"
    }

    static func badge(_ state: String, _ mark: Mark) -> HTML {
        "<span class=\"badge \(mark.rawValue)\">\(mark.sign) \(state)</span>"
    }

    // MARK: Counts

    /// The vehicles of each outcome, and the image bytes that were sent to them.
    static func tiles(_ counts: VehicleCounts, sent: ByteCount? = nil) -> HTML {
        var tiles = Outcome.allCases.compactMap { outcome in
            counts.outcomes[outcome].map { tile(outcome.rawValue, $0, Mark(outcome)) }
        }
        tiles.append(tile(Standing.unfinished, counts.unfinished, .wait))
        if let sent, sent > .zero {
            tiles.append("<li><b>\(sent)</b><span>sent over the air</span></li>\n")
        }
        return "<ul class=\"tiles\">\n\(tiles)</ul>\n"
    }

    private static func tile(_ name: String, _ count: Int, _ mark: Mark) -> HTML {
        guard count > 0 else { return "" }
        return "<li class=\"\(mark.rawValue)\"><b data-count=\"\(name)\">\(count)</b>"
            + "<span>\(mark.sign) \(name)</span></li>\n"
    }

    /// How far each wave has come, with a bar of its vehicles.
    static func waves(_ waves: [WaveStatus]) -> HTML {
        guard !waves.isEmpty else { return "" }
        let rows = waves.map { wave -> HTML in
            "<li><b>wave \(wave.number)</b> <small>\(wave.sentence)</small>\(bar(wave.counts))</li>\n"
        }
        return "<ol class=\"waves\">\n\(rows)</ol>\n"
    }

    private static func bar(_ counts: VehicleCounts) -> HTML {
        guard counts.total > 0 else { return "" }
        var (pieces, from): ([HTML], Int) = ([], 0)
        for mark in Mark.allCases {
            let count = counts.outcomes.reduce(0) { $0 + (Mark($1.key) == mark ? $1.value : 0) }
            guard count > 0 else { continue }
            pieces.append(
                "<rect class=\"\(mark.rawValue)\" x=\"\(from)\" width=\"\(count)\" height=\"1\"/>"
            )
            from += count
        }
        return "<svg class=\"bar\" viewBox=\"0 0 \(counts.total) 1\" preserveAspectRatio=\"none\" "
            + "aria-hidden=\"true\">\(pieces)</svg>"
    }

    // MARK: Tables

    /// A row of a table; a cell that is nil has nothing to say.
    struct Row {
        let cells: [HTML?]
        /// For programs that read the page.
        var data: KeyValuePairs<String, String> = [:]
    }

    /// A table; on a narrow screen each row becomes a list, in which each cell has the name of its
    /// column.
    static func table(_ columns: [String], _ rows: [Row]) -> HTML {
        guard !rows.isEmpty else { return "" }
        let head = columns.map { "<th scope=\"col\">\($0)</th>" as HTML }
        let body = rows.map { row -> HTML in
            let cells = zip(columns, row.cells).map { column, cell -> HTML in
                let none: HTML = cell == nil ? " class=\"none\"" : ""
                return "<td data-label=\"\(column)\"\(none)><span>\(cell ?? "–")</span></td>"
            }
            let data = row.data.map { " data-\($0.key)=\"\($0.value)\"" as HTML }
            return "<tr\(data)>\(cells)</tr>\n"
        }
        return "<table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n\(body)</tbody>\n</table>\n"
    }

    // MARK: What to do

    /// Commands for the shell, each with what it is for.
    static func commands(_ commands: [NextStep.Command]) -> HTML {
        HTML(commands.map { "<br><code>\($0.line)</code> <small>\($0.when)</small>\n" })
    }
}
