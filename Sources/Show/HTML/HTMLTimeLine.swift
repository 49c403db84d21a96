import Base
import Store

/// The work of each adapter over time, as one bar for each adapter.
enum HTMLTimeLine {
    private static let width = 1_000.0
    /// The lane of one link; an adapter with several simultaneous links has several lanes.
    private static let lane = 20
    /// The strip below the lanes: modules that restart while the adapter is free for others.
    private static let strip = 6
    /// Narrower pieces would be invisible; neighbours of one kind are merged.
    private static let narrowest = 0.25

    static func content(_ story: RunStory) -> HTML {
        let segments = story.segments
        guard let first = segments.map(\.from).min(), let last = segments.map(\.to).max(),
            first < last
        else { return "" }
        let total = first.duration(to: last)
        var adapters = story.start?.adapters ?? []
        for name in Set(segments.map(\.adapter)).sorted() where !adapters.contains(name) {
            adapters.append(name)
        }
        let rows = adapters.map { adapter in
            row(
                adapter,
                segments.filter { $0.adapter == adapter },
                first,
                total,
                story.end?.run.adapters.first { $0.name == adapter },
                sinceBegin: (story.began ?? first).duration(to: first),
                ofRun: story.length
            )
        }
        let ticks = (0...4).map { "<span>+\((total * $0 / 4).brief)</span>" as HTML }
        let phases = RunStory.Phase.allCases.map { ($0.rawValue, $0.name) }
        let legend = (phases + [("taken", "adapter taken")]).map { kind, name -> HTML in
            "<i class=\"\(kind)\"></i>\(name)"
        }
        return "\(.list(legend, "legend"))\(rows)<div class=\"axis\">\(ticks)</div>\n"
    }

    private static func row(
        _ adapter: String,
        _ segments: [RunStory.Segment],
        _ start: WallTime,
        _ total: Duration,
        _ use: AdapterUse?,
        sinceBegin: Duration,
        ofRun length: Duration
    ) -> HTML {
        let scale = width / Double(total.nanoseconds)
        /// The end of each lane so far.
        var ends: [WallTime] = []
        var work: [[Piece]] = []
        var restarts: [Piece] = []
        for segment in segments {
            let piece = Piece(
                phase: segment.phase,
                from: Double(start.duration(to: segment.from).nanoseconds) * scale,
                to: Double(start.duration(to: segment.to).nanoseconds) * scale,
                title: "\(segment.vehicle.text): \(segment.phase.name), "
                    + segment.from.duration(to: segment.to).brief
            )
            if segment.phase == .settle {
                append(piece, to: &restarts)
            } else if let free = ends.firstIndex(where: { $0 <= segment.from }) {
                ends[free] = segment.to
                append(piece, to: &work[free])
            } else {
                ends.append(segment.to)
                work.append([piece])
            }
        }
        let lanes = max(work.count, 1)
        let height = lanes * lane + strip
        // A vehicle may also occupy the adapter only to observe a module that comes to rest.
        let taken = (use?.spans ?? []).map { span -> HTML in
            let from = max(Double((span.from - sinceBegin).nanoseconds) * scale, 0)
            let to = min(Double((span.to - sinceBegin).nanoseconds) * scale, width)
            return "\(rect("taken", from, max(to - from, 0), top: 0, height: height))/>\n"
        }
        let pieces = work.enumerated().flatMap { index, pieces in
            pieces.map { rect($0, top: index * lane, height: lane) }
        }
        let busy = use?.busy ?? busy(segments.filter { $0.phase != .settle })
        let whole = max(length, busy, .nanoseconds(1))
        let share = Double(busy.nanoseconds) / Double(whole.nanoseconds) * 100
        let free = max(length - busy, .zero)
        return """
            <figure>
            <figcaption><b>\(adapter)</b> at work \(busy.brief) \
            (\(Markup.number(share, digits: 0)) % of the run), free \(free.brief)</figcaption>
            <svg viewBox="0 0 \(Int(width)) \(height)" height="\(height)" \
            preserveAspectRatio="none" role="img" aria-label="what \(adapter) did">
            \(taken)\(pieces)\(restarts.map { rect($0, top: lanes * lane, height: strip) })\
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

    /// Adds a piece; neighbours of one kind that would look like one are merged.
    private static func append(_ piece: Piece, to pieces: inout [Piece]) {
        if let last = pieces.last, last.phase == piece.phase, piece.from - last.to < narrowest,
            piece.to - piece.from < narrowest
        {
            pieces[pieces.count - 1].to = max(last.to, piece.to)
        } else {
            pieces.append(piece)
        }
    }

    private static func rect(_ piece: Piece, top: Int, height: Int) -> HTML {
        let wide = max(narrowest, piece.to - piece.from)
        return "\(rect(piece.phase.rawValue, piece.from, wide, top: top, height: height))>"
            + "<title>\(piece.title)</title></rect>\n"
    }

    /// A rectangle whose tag is still open.
    private static func rect(
        _ kind: String,
        _ x: Double,
        _ wide: Double,
        top: Int,
        height: Int
    ) -> HTML {
        "<rect class=\"\(kind)\" x=\"\(Markup.number(x, digits: 2))\" y=\"\(top)\" "
            + "width=\"\(Markup.number(wide, digits: 2))\" height=\"\(height)\""
    }

    /// The time in which the radio worked for at least one vehicle.
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
