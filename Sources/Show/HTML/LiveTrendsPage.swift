package import Base
package import Store

/// One run among others: the outcomes of its vehicles and its link figures.
package struct RunTrend: Sendable {
    let run: RunRecord
    let counts: VehicleCounts?
    let radio: RunRadio

    package init(_ row: RunList.Row, _ radio: RunRadio) {
        run = row.run
        counts = row.end?.vehicles
        self.radio = radio
    }
}

/// Failures, rates and signal from run to run, as drawings without a script and as numbers.
package struct LiveTrendsPage {
    private static let (width, height, edge) = (720.0, 160.0, 10.0)

    /// The oldest first.
    private let trends: [RunTrend]
    private let rollout: String?
    private let isPartOfFleet: Bool
    private let time: (WallTime) -> String

    /// `trends` has the newest first.
    ///
    /// `isPartOfFleet`: other gateways have runs, too.
    package init(
        _ trends: [RunTrend],
        of rollout: String?,
        isPartOfFleet: Bool = false,
        time: @escaping (WallTime) -> String
    ) {
        self.trends = trends.reversed()
        self.rollout = rollout
        self.isPartOfFleet = isPartOfFleet
        self.time = time
    }

    package var frame: LiveFrame {
        var body = "<h1>Trends</h1>\n"
        if isPartOfFleet {
            body += "<p class=\"facts\">this machine's journal only: what other gateways measured"
            body += " is in their journals</p>\n"
        }
        if let rollout {
            body += "<p class=\"facts\">of the rollout \(Markup.text(rollout)); "
            body += "<a href=\"/trends\">of all</a></p>\n"
        }
        guard !trends.isEmpty else {
            return LiveFrame(.trends, "Trends", body + "<p>Nothing has run here yet.</p>\n")
        }
        body += outcomes + rates + signals + table
        return LiveFrame(.trends, "Trends", body)
    }

    // MARK: Drawings

    private func place(_ index: Int) -> Double {
        let step = (Self.width - 2 * Self.edge) / Double(trends.count)
        return Self.edge + step * (Double(index) + 0.5)
    }

    private static func number(_ value: Double) -> String { Markup.number(value, digits: 1) }

    private func figure(_ title: String, _ caption: String, _ drawing: String) -> String {
        let first = trends.first.map { Markup.text(time($0.run.started)) } ?? ""
        let last = trends.last.map { Markup.text(time($0.run.started)) } ?? ""
        return """
            <h2>\(title)</h2>
            <figure>
            <svg class="plot" viewBox="0 0 720 160" role="img" aria-label="\(Markup.text(title + ": " + caption))">
            \(drawing)</svg>
            <div class="axis"><span>\(first)</span><span>\(trends.count > 1 ? last : "")</span></div>
            <figcaption>\(Markup.text(caption))</figcaption>
            </figure>

            """
    }

    private var outcomes: String {
        let most = trends.compactMap { $0.counts?.total }.max() ?? 0
        guard most > 0 else { return "" }
        let room = Self.height - 2 * Self.edge
        let wide = max(2, (Self.width - 2 * Self.edge) / Double(trends.count) * 0.7)
        var drawing = ""
        for (index, trend) in trends.enumerated() {
            guard let counts = trend.counts else { continue }
            let good = counts.count(.ok) + counts.count(.current)
            let bad = counts.count(.failed)
            var top = Self.height - Self.edge
            for (mark, count) in [
                ("good", good), ("wait", counts.total - good - bad), ("bad", bad),
            ] where count > 0 {
                let high = room * Double(count) / Double(most)
                top -= high
                drawing += "<rect class=\"\(mark)\" x=\"\(Self.number(place(index) - wide / 2))\" "
                drawing += "y=\"\(Self.number(top))\" width=\"\(Self.number(wide))\" "
                drawing += "height=\"\(Self.number(max(0.5, high)))\"></rect>\n"
            }
        }
        let failed = trends.compactMap { $0.counts?.count(.failed) }
        return figure(
            "Outcomes",
            "from the bottom: as they should be, not reached or left for later, failed. Failed: "
                + "\(failed.last ?? 0) in the last run, at most \(failed.max() ?? 0)",
            drawing
        )
    }

    /// A line through the known values, with a point for each run.
    private func line(
        _ values: [Double?],
        _ range: ClosedRange<Double>,
        _ kind: String
    ) -> String {
        let room = Self.height - 2 * Self.edge
        let span = max(range.upperBound - range.lowerBound, 1e-9)
        let points = values.enumerated().compactMap { index, value in
            value.map { value in
                (place(index), Self.height - Self.edge - room * (value - range.lowerBound) / span)
            }
        }
        let list = points.map { "\(Self.number($0.0)),\(Self.number($0.1))" }
        return "<polyline class=\"\(kind)\" points=\"\(list.joined(separator: " "))\"></polyline>\n"
            + points.map {
                "<circle class=\"dot\" cx=\"\(Self.number($0.0))\" cy=\"\(Self.number($0.1))\" r=\"3\"></circle>\n"
            }.joined()
    }

    private var rates: String {
        let values = trends.map { $0.radio.rate.map { $0 / 1_024 } }
        guard let most = values.compactMap(\.self).max(), let last = values.compactMap(\.self).last
        else { return "" }
        return figure(
            "Rate",
            "KiB a second and vehicle while images are sent, from 0 to \(Self.number(most)); "
                + "\(Self.number(last)) in the last run that sent any",
            line(values, 0...most, "line")
        )
    }

    private var signals: String {
        let middle = trends.map { $0.radio.median.map(Double.init) }
        let weakest = trends.map { $0.radio.weakest.map(Double.init) }
        let known = (middle + weakest).compactMap(\.self)
        guard let least = known.min(), let most = known.max() else { return "" }
        return figure(
            "Signal",
            "dBm where links were made, from \(Int(least)) to \(Int(most)): half of them were better than "
                + "the upper line, a tenth worse than the broken one",
            line(middle, least...most, "line") + line(weakest, least...most, "second")
        )
    }

    // MARK: Numbers

    private var table: String {
        let rows = trends.reversed().map { trend in
            let radio = trend.radio
            let name = LiveTarget.escaped(trend.run.rollout)
            return LiveMarks.row(
                [
                    ("run", "\(trend.run.number)"),
                    (
                        "rollout",
                        "<a href=\"/trends?rollout=\(name)\">\(Markup.text(trend.run.rollout))</a>"
                    ),
                    ("begun", Markup.text(time(trend.run.started))),
                    ("failed", trend.counts.map { "\($0.count(.failed))" } ?? "-"),
                    ("links", "\(radio.links)"), ("interruptions", "\(radio.interruptions)"),
                    ("KiB/s", radio.rate.map { Self.number($0 / 1_024) } ?? "-"),
                    ("median dBm", radio.median.map { "\($0)" } ?? "-"),
                    ("weakest tenth", radio.weakest.map { "\($0)" } ?? "-"),
                ],
                " data-run=\"\(trend.run.number)\""
            )
        }
        return "<h2>Numbers</h2>\n"
            + LiveMarks.table(
                [
                    "run", "rollout", "begun", "failed", "links", "interruptions", "KiB/s",
                    "median dBm", "weakest tenth",
                ],
                rows
            )
    }
}
