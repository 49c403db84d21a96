import Domain

/// What each adapter did and when, as one bar an adapter.
enum HTMLTimeLine {
    private static let width = 1_000.0
    private static let height = 26.0
    private static let strip = 7.0
    /// Narrower pieces could not be seen; neighbours of one kind are drawn as one.
    private static let narrowest = 0.25

    static func section(_ story: RunStory) -> String {
        let segments = story.segments
        guard let first = segments.map(\.from).min(), let last = segments.map(\.to).max(),
            first < last
        else { return "" }
        let total = first.duration(to: last)
        let adapters = Set(segments.map(\.adapter)).sorted()
        let rows = adapters.map { adapter in
            row(adapter, segments.filter { $0.adapter == adapter }, first, total)
        }
        let ticks = (0...4).map { "<span>+\((total * $0 / 4).brief)</span>" }.joined()
        let legend = RunStory.Phase.allCases.map {
            "<li><i class=\"\($0.rawValue)\"></i>\($0.name)</li>"
        }.joined()
        return """
            <section><h2>Time line</h2>
            <ul class="legend">\(legend)</ul>
            \(rows.joined(separator: "\n"))
            <div class="axis">\(ticks)</div>
            </section>
            """
    }

    private static func row(
        _ adapter: String,
        _ segments: [RunStory.Segment],
        _ start: WallTime,
        _ total: Duration
    ) -> String {
        let scale = width / Double(total.nanoseconds)
        var pieces: [Piece] = []
        for segment in segments {
            let piece = Piece(
                phase: segment.phase,
                from: Double(start.duration(to: segment.from).nanoseconds) * scale,
                to: Double(start.duration(to: segment.to).nanoseconds) * scale,
                title: "\(segment.vehicle.text): \(segment.phase.name), "
                    + segment.from.duration(to: segment.to).brief
            )
            if let last = pieces.last, last.phase == piece.phase,
                piece.from - last.to < narrowest, piece.to - piece.from < narrowest
            {
                pieces[pieces.count - 1].to = max(last.to, piece.to)
            } else {
                pieces.append(piece)
            }
        }
        let rects = pieces.map { piece in
            let x = Markup.number(piece.from, digits: 2)
            let wide = Markup.number(max(narrowest, piece.to - piece.from), digits: 2)
            // While a module restarts, its adapter is free for others: that is no full bar.
            let top = piece.phase == .settle ? height - strip : 0
            return "<rect class=\"\(piece.phase.rawValue)\" x=\"\(x)\" y=\"\(Int(top))\" "
                + "width=\"\(wide)\" height=\"\(Int(height - top))\"><title>\(Markup.text(piece.title))</title></rect>"
        }.joined(separator: "\n")
        let busy = busy(segments.filter { $0.phase != .settle })
        let share = Double(busy.nanoseconds) / Double(total.nanoseconds) * 100
        return """
            <figure>
            <figcaption><b>\(Markup.text(adapter))</b> at work \(busy.brief) \
            (\(Markup.number(share, digits: 0)) %), free \((total - busy).brief)</figcaption>
            <svg viewBox="0 0 \(Int(width)) \(Int(height))" preserveAspectRatio="none" role="img" \
            aria-label="what \(Markup.text(adapter)) did">
            \(rects)
            </svg>
            </figure>
            """
    }

    private struct Piece {
        let phase: RunStory.Phase
        let from: Double
        var to: Double
        let title: String
    }

    /// Time in which the radio was at work for at least one vehicle.
    private static func busy(_ segments: [RunStory.Segment]) -> Duration {
        var total = Duration.zero
        var reached: WallTime?
        for segment in segments {
            let from = reached.map { max($0, segment.from) } ?? segment.from
            if from < segment.to { total += from.duration(to: segment.to) }
            reached = reached.map { max($0, segment.to) } ?? segment.to
        }
        return total
    }
}

extension RunStory.Phase {
    var name: String {
        switch self {
        case .search: "searching"
        case .connect: "connecting and reading"
        case .transfer: "sending"
        case .settle: "restarting and settling"
        case .interrupted: "interrupted"
        }
    }
}
