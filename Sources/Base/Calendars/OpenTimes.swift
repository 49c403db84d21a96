/// When something is open, by the clocks of a zone: openings, and days on which none begins.
///
/// An opening belongs to the day on which it begins, also after midnight.
package struct OpenTimes: Sendable, Equatable {
    package enum State: Equatable, Sendable {
        case open(until: WallTime)
        /// Nil when it does not open any more.
        case closed(opens: WallTime?)
    }

    package struct Span: Equatable, Sendable {
        package let opens: WallTime
        package fileprivate(set) var closes: WallTime
    }

    /// An opening lasts at most a day, and a zone that crosses the date line can skip a day.
    private static let reach: Int64 = 3
    /// Longer than the years between two 29 Februaries on the same weekday, over 2100.
    private static let horizon: Int64 = 15_000

    package let openings: [Opening]
    private let freezes: [DayRule]
    package let zone: Zone

    package init(_ openings: [Opening], not freezes: [DayRule] = [], zone: Zone) {
        (self.openings, self.freezes, self.zone) = (openings, freezes, zone)
    }

    package func state(at time: WallTime) -> State {
        guard let span = spans(endingAfter: time, 1).first else { return .closed(opens: nil) }
        return span.opens <= time ? .open(until: span.closes) : .closed(opens: span.opens)
    }

    /// The next times at which it opens, each with the time at which it closes then.
    package func next(_ count: Int, after time: WallTime) -> [Span] {
        // One may be open already, and where the last one ends is known with the one after it.
        Array(spans(endingAfter: time, count + 2).filter { $0.opens > time }.prefix(count))
    }

    /// The calendar day on which the opening begins that is open at a time, or that comes next.
    package func day(of time: WallTime) -> Int64 {
        let first = zone.day(of: time) - Self.reach
        let open = spans(onDays: first..<first + 2 * Self.reach)
            .first { $0.opens <= time && time < $0.closes }
        if let open { return zone.day(of: open.opens) }
        if case .closed(let opens?) = state(at: time) { return zone.day(of: opens) }
        return zone.day(of: time)
    }

    /// The spans that end after a time, joined where there is no gap between them: as many as are
    /// wanted and perhaps more, or all that there are.
    private func spans(endingAfter time: WallTime, _ wanted: Int) -> [Span] {
        let first = zone.day(of: time) - Self.reach
        var joined: [Span] = []
        // Most openings are near: the search goes further only where there are few.
        for days in [8, 64, 512, 4_096, Self.horizon] {
            joined = []
            for span in spans(onDays: first..<first + days) {
                if let last = joined.last, span.opens <= last.closes {
                    joined[joined.count - 1].closes = max(last.closes, span.closes)
                } else {
                    joined.append(span)
                }
            }
            joined.removeAll { $0.closes <= time }
            // Before this, no opening of a later day begins.
            let edge = zone.time(ofLocal: (first + days - Self.reach) * 86_400)
            if joined.count >= wanted, joined[wanted - 1].opens < edge { break }
        }
        return joined
    }

    /// The openings of these days in their order.
    private func spans(onDays days: Range<Int64>) -> [Span] {
        var spans: [Span] = []
        for number in days {
            let day = CalendarDay(number: number)
            guard !freezes.contains(where: { $0.contains(day) }) else { continue }
            for opening in openings where opening.takesPlace(on: day) {
                let local = number * 86_400 + Int64(opening.from.minutes) * 60
                let opens = zone.time(ofLocal: local)
                let closes =
                    switch opening.end {
                    case .after(let length): opens.advanced(by: length)
                    case .at: zone.time(ofLocal: local + opening.length.components.seconds)
                    }
                // Clocks that are put forward can leave out an opening.
                if opens < closes { spans.append(Span(opens: opens, closes: closes)) }
            }
        }
        return spans.sorted { ($0.opens, $0.closes) < ($1.opens, $1.closes) }
    }
}

extension Zone {
    /// The calendar day of a time in the zone, in days since 1970.
    package func day(of time: WallTime) -> Int64 {
        let seconds = Calendar.floor(time.milliseconds, 1_000)
        return Calendar.floor(seconds + Int64(offset(at: seconds)), 86_400)
    }

    /// The time at which local clocks show this many seconds since 1 January 1970.
    func time(ofLocal local: Int64) -> WallTime {
        WallTime(milliseconds: moment(ofLocal: local) * 1_000)
    }
}
