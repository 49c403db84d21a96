package import Domain

/// Lines that scroll up on standard error, and below them a line for each vehicle under way.
package struct TerminalPrinter: Printer {
    /// Ten times a second is as often as an eye follows.
    private static let drawPause = Duration.milliseconds(100)
    /// More live lines than this would push everything else off a small screen.
    private static let rowLimit = 12

    private var style: TerminalStyle
    private let results: Output.Stream
    private var recap = Recap()
    private var start: RunStart?
    private var rows: [VehicleID: LiveRow] = [:]
    private var wave: LiveWave?
    /// Lines that wait for the next drawing.
    private var scrolling = ""
    private var drawnLines = 0
    private var lastDrawing: Moment?
    private var isStale = false

    /// `results` is where the recap and the last line go.
    package init(style: TerminalStyle, results: Output.Stream = .out) {
        self.style = style
        self.results = results
    }

    /// The window has another width from now on.
    package mutating func resize(width: Int) {
        guard width != style.width else { return }
        style = style.with(width: width)
        isStale = true
    }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        wave = LiveWave(after: event.body, wave)
        isStale = true
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
        case .retrying(let id, _, _, _):
            rows[id] = nil
            scroll(event.body, .yellow)
        case .problem, .warning: scroll(event.body, .yellow)
        case .stepEnded(_, let step):
            scroll(event.body, step.fate == .done ? nil : .yellow)
        case .imageReady, .notice: scroll(event.body)
        case .vehicleStands: break
        case .runEnded(let end): return close(end)
        }
        return tick(at: now)
    }

    /// Draws what has changed, unless the last drawing is too fresh.
    package mutating func tick(at now: Moment) -> [Output] {
        guard isStale else { return [] }
        if let lastDrawing, lastDrawing <= now, now < lastDrawing.advanced(by: Self.drawPause) {
            return []
        }
        lastDrawing = now
        let live = liveLines()
        let text = erasing() + scrolling + live.map { $0 + "\n" }.joined()
        scrolling = ""
        drawnLines = live.count
        isStale = false
        return text.isEmpty ? [] : [Output(.err, text)]
    }

    /// Takes the live lines away and prints the results in their place.
    private mutating func close(_ end: RunEnd) -> [Output] {
        let left = erasing() + scrolling
        rows = [:]
        scrolling = ""
        drawnLines = 0
        isStale = false
        let text = recap.text(end, colour: results == .out ? style.colourOnOut : style.colourOnErr)
        let result = Output(results, style.isUnicode ? text : text.ascii)
        return left.isEmpty ? [result] : [Output(.err, left), result]
    }

    private mutating func scroll(_ body: Event.Body, _ colour: Colour? = nil) {
        guard let sentence = Sentence.text(body, vehicles: start?.vehicles) else { return }
        let line = style.isUnicode ? sentence : sentence.ascii
        scrolling += (style.colourOnErr ? colour?.paint(line) ?? line : line) + "\n"
    }

    /// Goes back to the first live line and clears from there on.
    private func erasing() -> String {
        drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r\u{1B}[J" : ""
    }

    private func liveLines() -> [String] {
        guard !rows.isEmpty else { return [] }
        let adapters = start.map { $0.adapters.count > 1 ? $0.adapters : [] } ?? []
        func place(_ row: LiveRow) -> Int {
            row.adapter.flatMap { adapters.firstIndex(of: $0) } ?? adapters.count
        }
        let shown = rows.values.sorted {
            (place($0), $0.vehicle) < (place($1), $1.vehicle)
        }.prefix(Self.rowLimit)
        let widest = shown.reduce(0) { max($0, Columns.width($1.vehicle.text.visible)) }
        let name = min(max(widest, 4), max(4, style.width / 3), 24)
        let column = adapters.reduce(0) { max($0, Columns.width($1.visible)) }
        func cell(_ adapter: String?) -> String {
            adapters.isEmpty ? "" : Columns.padded(adapter?.visible ?? "-", column) + "  "
        }
        var lines = shown.map { $0.text(style, place: cell($0.adapter), name: name) }
        if rows.count > shown.count {
            lines.append("and \(rows.count - shown.count) more")
        } else {
            let idle = adapters.filter { name in !rows.values.contains { $0.adapter == name } }
            lines += idle.map { Columns.prefix(cell($0) + "idle", max(0, style.width - 1)) }
        }
        if let wave { lines.append(wave.text(style)) }
        if let start {
            let (all, failed) = recap.ended
            let footer = "\(all) of \(start.vehicles) vehicles ended, \(failed) failed"
            lines.append(Columns.prefix(footer, max(0, style.width - 1)))
        }
        return lines
    }
}
