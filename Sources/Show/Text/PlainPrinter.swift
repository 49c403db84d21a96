package import Base
package import Store

/// Lines for logs, pipes and mail: no colour, no cursor movement, few lines.
package struct PlainPrinter: Printer {
    /// The longest time without a line when a person watches, so that the run is seen to be alive.
    static let longestSilence = Duration.seconds(30)

    private let results: Output.Stream
    /// Whether a person watches: on a terminal that cannot redraw, or one that is read aloud.
    private let isWatched: Bool
    private let zone: Zone
    private let offers: RunOffers.Maker?
    private var recap = Recap()
    private var lines = LineFilter()
    private var outlook: Outlook?
    private var lastLine: Moment?

    /// `results` is the stream for the recap and the last line.
    package init(
        results: Output.Stream = .out,
        isWatched: Bool = false,
        zone: Zone = .utc,
        offers: RunOffers.Maker? = nil
    ) {
        self.results = results
        self.isWatched = isWatched
        self.zone = zone
        self.offers = offers
    }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        if case .runEnded(let end) = event.body {
            outlook = nil
            return [Output(results, recap.text(end, offers?(end.rollout)))]
        }
        guard let sentence = lines.sentence(event) else { return [] }
        return [line(sentence, at: now, event.time)]
    }

    package mutating func look(_ outlook: Outlook, at now: Moment, wall: WallTime) -> [Output] {
        let isNews = self.outlook?.kind != outlook.kind
        self.outlook = outlook
        guard isWatched, isNews else { return [] }
        return [line(outlook.text(zone, at: wall), at: now, wall)]
    }

    package mutating func tick(at now: Moment, wall: WallTime) -> [Output] {
        guard isWatched, let outlook, let lastLine,
            lastLine.duration(to: now) >= Self.longestSilence
        else { return [] }
        return [line(outlook.text(zone, at: wall), at: now, wall)]
    }

    package mutating func stopping(
        _ signal: String,
        at now: Moment,
        wall: WallTime
    ) -> [Output] {
        [line(StopSentence.text(signal), at: now, wall)]
    }

    private mutating func line(_ text: String, at now: Moment, _ time: WallTime) -> Output {
        lastLine = now
        return Output(.err, "\(time.toTheSecond) \(text)\n")
    }
}

/// Prints nothing when all is well; otherwise the vehicles that need attention, and the last line.
package struct QuietPrinter: Printer {
    private let results: Output.Stream
    private let offers: RunOffers.Maker
    private var recap = Recap()

    package init(results: Output.Stream = .out, offers: @escaping RunOffers.Maker) {
        self.results = results
        self.offers = offers
    }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        guard case .runEnded(let end) = event.body, end.exitCode != 0 else { return [] }
        return [Output(results, recap.faults(end, offers(end.rollout)))]
    }
}

extension WallTime {
    /// The time in the form `2026-11-21T03:36:05Z`.
    fileprivate var toTheSecond: String { String(description.dropLast(5)) + "Z" }
}
