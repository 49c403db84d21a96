import Base
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

extension LivePage {
    /// Failures, rates and signal from run to run, as drawings without a script and as numbers.
    ///
    /// `trends` has the newest first. `isPartOfFleet`: other gateways have runs, too.
    package func trends(
        _ trends: [RunTrend],
        of rollout: String?,
        isPartOfFleet: Bool = false
    ) -> LiveFrame {
        let own: HTML = """
            <p class="facts">this machine's journal only: what other gateways measured is in their journals</p>

            """
        let before = (isPartOfFleet ? own : "") + filter(rollout, at: "/trends")
        guard !trends.isEmpty else { return .nothing(.trends, before) }
        return LiveFrame(
            .trends,
            "Trends",
            "\(before)\(TrendDrawing(trends: trends.reversed(), time: time).all)"
                + .section("Numbers", table(trends))
        )
    }

    private func table(_ trends: [RunTrend]) -> HTML {
        .table(
            [
                "run", "rollout", "begun", "failed", "links", "interruptions", "KiB/s",
                "median dBm", "weakest tenth",
            ],
            trends.map { trend in
                let (run, radio) = (trend.run, trend.radio)
                return HTML.Row(
                    cells: [
                        "\(run.number)", .link(rollout: run.rollout, at: "/trends?rollout="),
                        "\(time(run.started))", trend.counts.map { "\($0.count(.failed))" },
                        "\(radio.links)", "\(radio.interruptions)",
                        radio.rate.map { "\(Markup.number($0 / 1_024, digits: 1))" },
                        radio.median.map { "\($0)" }, radio.weakest.map { "\($0)" },
                    ],
                    data: ["run": "\(run.number)"]
                )
            }
        )
    }
}

/// The drawings of several runs.
private struct TrendDrawing {
    private static let (width, height, edge) = (720.0, 160.0, 10.0)

    /// The oldest first.
    let trends: [RunTrend]
    let time: (WallTime) -> String

    var all: HTML { "\(outcomes)\(rates)\(signals)" }

    private func place(_ index: Int) -> Double {
        let step = (Self.width - 2 * Self.edge) / Double(trends.count)
        return Self.edge + step * (Double(index) + 0.5)
    }

    private static func number(_ value: Double) -> String { Markup.number(value, digits: 1) }

    private func figure(_ title: String, _ caption: String, _ drawing: [HTML]) -> HTML {
        let times = [trends.first, trends.count > 1 ? trends.last : nil].map { trend in
            "<span>\(trend.map { time($0.run.started) } ?? "")</span>" as HTML
        }
        return .section(
            title,
            """
            <figure>
            <svg class="plot" viewBox="0 0 720 160" role="img" aria-label="\(title): \(caption)">
            \(drawing)</svg>
            <div class="axis">\(times)</div>
            <figcaption>\(caption)</figcaption>
            </figure>

            """
        )
    }

    private var outcomes: HTML {
        let most = trends.compactMap { $0.counts?.total }.max() ?? 0
        guard most > 0 else { return "" }
        let room = Self.height - 2 * Self.edge
        let wide = max(2, (Self.width - 2 * Self.edge) / Double(trends.count) * 0.7)
        var drawing: [HTML] = []
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
                let left = Self.number(place(index) - wide / 2)
                drawing.append(
                    "<rect class=\"\(mark)\" x=\"\(left)\" y=\"\(Self.number(top))\" "
                        + "width=\"\(Self.number(wide))\" height=\"\(Self.number(max(0.5, high)))\"/>\n"
                )
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
    ) -> [HTML] {
        let room = Self.height - 2 * Self.edge
        let span = max(range.upperBound - range.lowerBound, 1e-9)
        let points = values.enumerated().compactMap { index, value in
            value.map { value in
                (place(index), Self.height - Self.edge - room * (value - range.lowerBound) / span)
            }
        }
        let places = points.map { (Self.number($0.0), Self.number($0.1)) }
        let list = places.map { "\($0),\($1)" }.joined(separator: " ")
        return ["<polyline class=\"\(kind)\" points=\"\(list)\"/>\n"]
            + places.map { "<circle class=\"dot\" cx=\"\($0)\" cy=\"\($1)\" r=\"3\"/>\n" }
    }

    private var rates: HTML {
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

    private var signals: HTML {
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
}
