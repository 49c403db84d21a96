package import Base
package import Manifest

/// The hours of each day in which vehicles may be begun, in the local time of a zone.
///
/// It opens at a local time and stays open for a fixed length of real time, so a night in which the
/// clocks change is as long as any other.
package struct DailyWindow: Sendable, Equatable {
    package enum State: Equatable, Sendable {
        case open(until: WallTime)
        case closed(opens: WallTime)
    }

    private static let day: Int64 = 86_400

    private let opens: Int64
    private let length: Int64
    private let zone: Zone
    package let close: Window.Close

    package init(_ window: Window, zone: Zone) {
        opens = Int64(window.opens.minutes) * 60
        length = window.length.nanoseconds / 1_000_000
        self.zone = zone
        close = window.close
    }

    package func state(at time: WallTime) -> State {
        let openings = openings(around: time)
        if let last = openings.last(where: { $0 <= time && time < end($0) }) {
            var until = end(last)
            // Windows of a whole day follow one another without a gap.
            for next in openings where next > last && next <= until { until = end(next) }
            return .open(until: until)
        }
        return .closed(opens: openings.first { $0 > time } ?? end(time))
    }

    /// The calendar day on which the window opens that is open at a time, or that opens next: a
    /// night belongs to its evening, also after midnight.
    package func day(of time: WallTime) -> Int64 {
        let openings = openings(around: time)
        let opening =
            openings.last { $0 <= time && time < end($0) } ?? openings.first { $0 > time }
        return zone.day(of: opening ?? time)
    }

    private func openings(around time: WallTime) -> [WallTime] {
        // A window lasts at most a day, and a zone that crosses the date line can skip a day.
        (-3...3).map { opening(onDay: zone.day(of: time) + $0) }
    }

    private func opening(onDay day: Int64) -> WallTime {
        let moment = zone.moment(ofLocal: day * Self.day + opens)
        return WallTime(milliseconds: moment * 1_000)
    }

    private func end(_ opening: WallTime) -> WallTime {
        WallTime(milliseconds: opening.milliseconds + length)
    }

    fileprivate static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}

extension Zone {
    /// The calendar day of a time in the zone, in days since 1970.
    package func day(of time: WallTime) -> Int64 {
        let seconds = DailyWindow.floor(time.milliseconds, 1_000)
        return DailyWindow.floor(seconds + Int64(offset(at: seconds)), 86_400)
    }
}
