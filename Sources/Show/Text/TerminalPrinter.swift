package import Base
package import Store

/// A run on a terminal: lines that scroll up on standard error, and below them the vehicles in work,
/// the progress of the wave and of the run, and what the run waits for.
package struct TerminalPrinter: Printer {
    private var screen: LiveScreen
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
    private var isOver = false

    /// `results` is the stream for the recap and the last line.
    package init(
        style: TerminalStyle,
        results: Output.Stream = .out,
        zone: Zone = .utc,
        offers: RunOffers.Maker? = nil
    ) {
        screen = LiveScreen(style)
        self.results = results
        self.zone = zone
        self.offers = offers
    }

    package mutating func resize(width: Int, height: Int = 0) {
        screen.resize(width: width, height: height)
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
        screen.scroll(StopSentence.text(signal), .yellow)
        // The terminal has echoed the pressed keys.
        screen.tear()
        return tick(at: now, wall: wall)
    }

    package mutating func caughtUp() { screen.forget() }

    private mutating func draw(at now: Moment) -> [Output] {
        isOver ? [] : screen.draw(view, at: now, wall: wall)
    }

    /// Removes the live lines and prints the results in their place.
    private mutating func close(_ end: RunEnd) -> [Output] {
        isOver = true
        let style = screen.style
        let text = recap.text(
            end,
            offers?(end.rollout),
            colour: results == .out ? style.colourOnOut : style.colourOnErr,
            width: style.isWide ? nil : style.width
        )
        return screen.close() + [Output(results, style.isUnicode ? text : text.ascii)]
    }

    private mutating func scroll(_ body: Event.Body, _ colour: Colour? = nil) {
        guard let sentence = Sentence.text(body, vehicles: start?.vehicles) else { return }
        screen.scroll(sentence, colour)
    }

    private var view: LiveView {
        var view = LiveView(places: start?.adapters ?? [], rows: Array(rows.values), wave: wave)
        if let start, !rows.isEmpty || outlook != nil {
            view.counts = recap.counts(of: start.vehicles)
            view.left = pace.left(of: start.vehicles)
        }
        view.awaited = awaited
        return view
    }

    private var awaited: String? {
        if let signal {
            let what = counted(rows.count, "vehicle")
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
