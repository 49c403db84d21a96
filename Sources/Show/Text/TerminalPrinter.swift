package import Base
package import Store

/// Lines that scroll up on standard error.
///
/// Below them are a line for each vehicle in work, the progress of the wave and of the run, and
/// what the run waits for.
package struct TerminalPrinter: Printer {
    /// Ten drawings per second are as fast as a person can follow.
    private static let drawPause = Duration.milliseconds(100)
    /// More live lines would push everything else off the screen.
    private static let rowLimit = 12
    /// The lines that are not vehicles, including one that stays free below them.
    private static let otherLines = 6

    private var style: TerminalStyle
    private let results: Output.Stream
    private let zone: Zone
    private let offers: RunOffers.Maker?
    private var recap = Recap()
    private var start: RunStart?
    private var rows: [VehicleID: LiveRow] = [:]
    private var wave: LiveWave?
    private var outlook: Outlook?
    private var pace = LivePace()
    /// The signal that has asked the run to end; nil when there was none.
    private var signal: String?
    /// The time of the run at the last event or tick.
    private var wall = WallTime(milliseconds: 0)
    /// Lines that wait for the next drawing.
    private var scrolling: [String] = []
    /// The live lines on the screen, as they were drawn last.
    private var drawn: [String] = []
    private var lastDrawing: Moment?
    /// Whether the screen may have changed since the last drawing.
    private var isTorn = false
    private var isOver = false

    /// `results` is the stream for the recap and the last line.
    package init(
        style: TerminalStyle,
        results: Output.Stream = .out,
        zone: Zone = .utc,
        offers: RunOffers.Maker? = nil
    ) {
        self.style = style
        self.results = results
        self.zone = zone
        self.offers = offers
    }

    /// The window has a new size.
    package mutating func resize(width: Int, height: Int = 0) {
        let other = style.with(width: width, height: height)
        guard other != style else { return }
        isTorn = isTorn || other.width != style.width
        style = other
    }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        wave = LiveWave(after: event.body, wave)
        pace.note(event, isWorking: !rows.isEmpty)
        wall = event.time
        switch event.body {
        case .runStarted(let start):
            self.start = start
            scroll(event.body)
        case .attemptStarted(let id, _, let attempt, _):
            rows[id] = LiveRow(vehicle: id, attempt: attempt)
        case .stateChanged(let id, _, _, _), .progress(let id, _), .interrupted(let id, _, _):
            rows[id]?.take(event.body)
        case .inspected: break
        case .vehicleEnded(let id, let verdict):
            rows[id] = nil
            scroll(event.body, verdict.outcome.colour)
        case .retrying(let id, _, _, let pause):
            rows[id]?.rest(until: event.time.advanced(by: pause))
            scroll(event.body, .yellow)
        case .problem, .warning: scroll(event.body, .yellow)
        case .stepEnded(_, let step):
            scroll(event.body, step.fate == .done ? nil : .yellow)
        case .imageReady, .notice: scroll(event.body)
        case .vehicleStands: break
        case .runEnded(let end): return close(end)
        }
        return draw(at: now)
    }

    package mutating func tick(at now: Moment, wall: WallTime) -> [Output] {
        self.wall = max(self.wall, wall)
        return draw(at: now)
    }

    package mutating func look(_ outlook: Outlook, at now: Moment, wall: WallTime) -> [Output] {
        self.outlook = outlook
        return tick(at: now, wall: wall)
    }

    package mutating func stopping(
        _ signal: String,
        at now: Moment,
        wall: WallTime
    ) -> [Output] {
        self.signal = signal
        scroll(StopSentence.text(signal), .yellow)
        // The terminal has echoed the pressed keys.
        isTorn = true
        lastDrawing = nil
        return tick(at: now, wall: wall)
    }

    package mutating func caughtUp() {
        (scrolling, drawn, lastDrawing, isTorn) = ([], [], nil, false)
    }

    /// Draws the changes, unless the last drawing was too recent.
    private mutating func draw(at now: Moment) -> [Output] {
        guard !isOver else { return [] }
        if let lastDrawing, lastDrawing <= now, now < lastDrawing.advanced(by: Self.drawPause) {
            return []
        }
        let live = liveLines()
        guard isTorn || !scrolling.isEmpty || live != drawn else { return [] }
        lastDrawing = now
        let text = drawing(of: live)
        scrolling = []
        drawn = live
        isTorn = false
        return text.isEmpty ? [] : [Output(.err, text)]
    }

    /// The bytes that change the screen to `live`, below the scrolling lines.
    ///
    /// An unchanged line is skipped. Each other line is overwritten before the rest of it is
    /// cleared, so no line is ever empty in between, even on a slow connection.
    private func drawing(of live: [String]) -> String {
        guard !drawn.isEmpty else {
            return (scrolling + live).map { $0 + "\n" }.joined()
        }
        if isTorn { return erasing() + (scrolling + live).map { $0 + "\n" }.joined() }
        var text = "\u{1B}[\(drawn.count)A\r"
        for (index, line) in (scrolling + live).enumerated() {
            let stays = scrolling.isEmpty && index < drawn.count && drawn[index] == line
            text += stays ? "\n" : line + "\u{1B}[K\n"
        }
        return scrolling.count + live.count < drawn.count ? text + "\u{1B}[J" : text
    }

    /// Moves to the first live line and clears from there on.
    ///
    /// Terminals wrap lines that have become too wide for them, so the wrapped lines are counted.
    private func erasing() -> String {
        guard !drawn.isEmpty else { return "" }
        let width = max(1, style.width)
        let lines = drawn.reduce(0) { sum, line in
            sum + max(1, (Columns.width(Colour.without(line)) + width - 1) / width)
        }
        return "\u{1B}[\(lines)A\r\u{1B}[J"
    }

    /// Removes the live lines and prints the results in their place.
    private mutating func close(_ end: RunEnd) -> [Output] {
        let left = erasing() + scrolling.map { $0 + "\n" }.joined()
        (rows, scrolling, drawn, isOver) = ([:], [], [], true)
        let text = recap.text(
            end,
            offers?(end.rollout),
            colour: results == .out ? style.colourOnOut : style.colourOnErr,
            width: style.width
        )
        let result = Output(results, style.isUnicode ? text : text.ascii)
        return left.isEmpty ? [result] : [Output(.err, left), result]
    }

    private mutating func scroll(_ body: Event.Body, _ colour: Colour? = nil) {
        guard let sentence = Sentence.text(body, vehicles: start?.vehicles) else { return }
        scroll(sentence, colour)
    }

    private mutating func scroll(_ sentence: String, _ colour: Colour?) {
        let text = style.isUnicode ? sentence : sentence.ascii
        let parts = Columns.wrapped(text, max(20, style.width - 3))
        for (index, part) in parts.enumerated() {
            let line = index == 0 ? part : "  " + part
            scrolling.append(style.colourOnErr ? colour?.paint(line) ?? line : line)
        }
    }

    // MARK: Live lines

    private func liveLines() -> [String] {
        var lines: [String] = []
        if !rows.isEmpty {
            lines = vehicleLines()
            if let wave { lines.append(wave.text(style)) }
        }
        if let start, !rows.isEmpty || outlook != nil {
            let (all, failed) = recap.ended
            var footer = "\(all) of \(start.vehicles) vehicles ended, \(failed) failed"
            if let left = pace.left(of: start.vehicles) {
                footer += ", about \(left.brief) of work left"
            }
            lines.append(cut(footer))
        }
        if let text = awaited() { lines.append(cut(text)) }
        return lines
    }

    private func cut(_ text: String) -> String {
        let text = style.isUnicode ? text : text.ascii
        let room = max(0, style.width - 1)
        guard Columns.width(text) > room else { return text }
        let dots = style.isUnicode ? "…" : "..."
        return Columns.prefix(text, max(0, room - Columns.width(dots))) + dots
    }

    private func awaited() -> String? {
        if let signal {
            let what = Outlook.vehicles(rows.count)
            return "\(signal): comes to a safe point on \(what); Ctrl-C ends at once"
        }
        // When all vehicles in work are pausing, the run waits for the first one to continue.
        if case .work? = outlook, !rows.isEmpty {
            let rests = rows.values.compactMap { row in row.restsUntil.map { ($0, row.vehicle) } }
            if rests.count == rows.count, let next = rests.min(by: { $0 < $1 }), next.0 > wall {
                return "waits for the next attempt on \(next.1.text.visible): "
                    + "\(zone.near(next.0, from: wall)), "
                    + Outlook.left(wall.duration(to: next.0))
            }
        }
        return outlook?.text(zone, at: wall)
    }

    private func vehicleLines() -> [String] {
        let adapters = start.map { $0.adapters.count > 1 ? $0.adapters : [] } ?? []
        func place(_ row: LiveRow) -> Int {
            row.adapter.flatMap { adapters.firstIndex(of: $0) } ?? adapters.count
        }
        let limit = max(1, min(Self.rowLimit, style.height - Self.otherLines))
        let shown = rows.values.sorted {
            (place($0), $0.vehicle) < (place($1), $1.vehicle)
        }.prefix(limit)
        let widest = shown.reduce(0) { max($0, Columns.width($1.vehicle.text.visible)) }
        let name = min(max(widest, 4), max(4, style.width / 3), 24)
        let column = adapters.reduce(0) { max($0, Columns.width($1.visible)) }
        func cell(_ adapter: String?) -> String {
            adapters.isEmpty ? "" : Columns.padded(adapter?.visible ?? "-", column) + "  "
        }
        var lines = shown.map { $0.text(style, place: cell($0.adapter), name: name, at: wall) }
        if rows.count > shown.count {
            lines.append("and \(rows.count - shown.count) more")
        } else {
            let idle = adapters.filter { name in !rows.values.contains { $0.adapter == name } }
            lines += idle.prefix(max(0, limit - shown.count)).map {
                Columns.prefix(cell($0) + "idle", max(0, style.width - 1))
            }
        }
        return lines
    }
}

/// How fast vehicles end, measured only while there was work.
struct LivePace: Sendable {
    /// The least number of vehicles for an estimate.
    private static let fewest = 3

    private var worked = Duration.zero
    private var last: WallTime?
    /// The work time at which each vehicle under way was begun.
    private var begun: [VehicleID: Duration] = [:]
    private var ended: Set<VehicleID> = []
    /// The vehicles that were worked on until they ended, and their times together.
    private var spent = (vehicles: 0, time: Duration.zero)

    mutating func note(_ event: Event, isWorking: Bool) {
        if let last, isWorking, last < event.time { worked += last.duration(to: event.time) }
        last = event.time
        if case .attemptStarted(let id, _, _, _) = event.body {
            ended.remove(id)
            if begun[id] == nil { begun[id] = worked }
        } else if case .vehicleEnded(let id, _) = event.body {
            ended.insert(id)
            guard let begun = begun.removeValue(forKey: id) else { return }
            spent = (spent.vehicles + 1, spent.time + (worked - begun))
        }
    }

    /// An estimate for the remaining vehicles; nil when there is too little data.
    ///
    /// A vehicle under way counts as far as it has come by the mean time of those that have ended:
    /// several links end their first vehicles at about the same time.
    func left(of all: Int) -> Duration? {
        guard worked > .seconds(1), ended.count >= Self.fewest, ended.count < all else {
            return nil
        }
        var done = Double(ended.count)
        if spent.vehicles > 0, spent.time > .zero {
            let mean = Double(spent.time.nanoseconds) / Double(spent.vehicles)
            for begun in begun.values {
                done += min(1, Double((worked - begun).nanoseconds) / mean)
            }
        }
        let left = Duration.seconds(
            Double(worked.nanoseconds) / 1e9 / done * max(0, Double(all) - done)
        )
        guard left >= .seconds(1) else { return nil }
        // More than three digits would suggest a false precision.
        return left > .seconds(600)
            ? .seconds(left.nanoseconds / 60_000_000_000 * 60)
            : .seconds(left.nanoseconds / 1_000_000_000)
    }
}
