/// When something opens and closes: `22:00-05:00`, `mon-thu 22:00-05:00`, `last fri 22:00 for 4h`.
package struct Opening: Sendable, Hashable, CustomStringConvertible {
    package enum End: Sendable, Hashable {
        /// When local clocks show this time: on the next day unless it is later than the beginning.
        case at(TimeOfDay)
        /// After this much real time, also when the clocks are changed.
        case after(Duration)
    }

    /// Every day when there is none.
    package let days: [DayRule]
    package let from: TimeOfDay
    package let end: End

    package init(_ days: [DayRule] = [], from: TimeOfDay, _ end: End) {
        (self.days, self.from, self.end) = (days, from, end)
    }

    package init(_ text: String) throws(CalendarFault) {
        var words = text.lowercased().split(separator: " ")
        let end: End
        let clock: Substring
        if words.count > 2, words[words.count - 2] == "for" {
            guard let length = words.last.flatMap({ Duration(text: $0) }),
                (.seconds(60) ... .seconds(86_400)).contains(length)
            else { throw CalendarFault("a length is 1m to 24h") }
            (clock, end) = (words[words.count - 3], .after(length))
            words.removeLast(3)
        } else {
            let times = (words.popLast() ?? "").split(separator: "-")
            guard times.count == 2, let last = times.last, let first = times.first,
                let close = last == "24:00" ? .midnight : TimeOfDay(last)
            else { throw CalendarFault("it does not end with times such as 22:00-05:00") }
            guard first != last else {
                throw CalendarFault("it opens and closes at \(first); a whole day is 00:00-24:00")
            }
            (clock, end) = (first, .at(close))
        }
        guard let from = TimeOfDay(clock) else {
            throw CalendarFault("\(quoted(String(clock))) is no time of day")
        }
        let days = words.isEmpty ? [] : try DayRule.list(words.joined(separator: " "))
        self.init(days, from: from, end)
    }

    func takesPlace(on day: CalendarDay) -> Bool {
        days.isEmpty || days.contains { $0.contains(day) }
    }

    /// How long it is open by local clocks that are not changed meanwhile.
    package var length: Duration {
        switch end {
        case .after(let length): return length
        case .at(let time):
            let minutes = time.minutes - from.minutes
            return .seconds(60 * (minutes > 0 ? minutes : minutes + 1_440))
        }
    }

    package var description: String {
        let days = days.map { "\($0)" }.joined(separator: ",") + (days.isEmpty ? "" : " ")
        return switch end {
        case .at(let time): "\(days)\(from)-\(time == .midnight ? "24:00" : "\(time)")"
        case .after(let length): "\(days)\(from) for \(Self.exact(length))"
        }
    }

    /// Text from which the same length is read.
    private static func exact(_ length: Duration) -> String {
        let text = length.brief
        return Duration(text: text) == length ? text : "\(length.nanoseconds / 1_000_000)ms"
    }
}
