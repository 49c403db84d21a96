/// A rule for days as people write it: `mon-thu`, `2026-12-24`, `12-20..01-06`, `last friday`.
package enum DayRule: Sendable, Hashable, CustomStringConvertible {
    /// A day of a month, in any year.
    package struct MonthDay: Sendable, Hashable, Comparable, CustomStringConvertible {
        package let month: Int
        package let day: Int

        package static func < (left: MonthDay, right: MonthDay) -> Bool {
            (left.month, left.day) < (right.month, right.day)
        }

        package var description: String { TimeOfDay.two(month) + "-" + TimeOfDay.two(day) }
    }

    /// All days of the week from one to another, which may come before it: `sat-mon`.
    case weekdays(Weekday, Weekday)
    /// The days from one to another of each year; a range may pass the new year.
    case yearly(MonthDay, MonthDay)
    case dates(CalendarDay, CalendarDay)
    /// A weekday of each month, such as the second; the fifth is the last one.
    case ordinal(Int, Weekday)

    private static let ordinals = ["first", "second", "third", "fourth", "last"]

    func contains(_ day: CalendarDay) -> Bool {
        switch self {
        case .weekdays(let first, let last):
            let (weekday, first, last) = (day.weekday.rawValue, first.rawValue, last.rawValue)
            return first <= last
                ? first <= weekday && weekday <= last : first <= weekday || weekday <= last
        case .yearly(let first, let last):
            let date = MonthDay(month: day.month, day: day.day)
            return first <= last ? first <= date && date <= last : first <= date || date <= last
        case .dates(let first, let last): return first <= day && day <= last
        case .ordinal(let number, let weekday):
            guard day.weekday == weekday else { return false }
            guard number == Self.ordinals.count else { return (day.day - 1) / 7 + 1 == number }
            return day.day + 7 > Calendar.length(ofMonth: day.month, in: day.year)
        }
    }

    package var description: String {
        func range<Value: Equatable>(_ first: Value, _ last: Value, _ mark: String) -> String {
            first == last ? "\(first)" : "\(first)\(mark)\(last)"
        }
        return switch self {
        case .weekdays(let first, let last): range(first, last, "-")
        case .yearly(let first, let last): range(first, last, "..")
        case .dates(let first, let last): range(first, last, "..")
        case .ordinal(let number, let weekday): "\(Self.ordinals[number - 1]) \(weekday)"
        }
    }
}

/// Why a text is not a rule for days, or not an opening: a part of a sentence.
package struct CalendarFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

// MARK: Reading

extension DayRule {
    /// Reads rules with commas between them, each in lower case.
    package static func list(_ text: some StringProtocol) throws(CalendarFault) -> [DayRule] {
        var rules: [DayRule] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            rules.append(try DayRule(words: part.split(separator: " ").map { String($0) }))
        }
        return rules
    }

    private init(words: [String]) throws(CalendarFault) {
        guard let word = words.first else { throw CalendarFault("a day is missing") }
        if words.count == 2, let index = Self.ordinals.firstIndex(of: word) {
            self = .ordinal(index + 1, try Self.weekday(words[1]))
            return
        }
        guard words.count == 1 else {
            throw CalendarFault("\(quoted(words.joined(separator: " "))) is no day")
        }
        guard word.utf8.first.map({ (0x30...0x39).contains($0) }) == true else {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = ends.first, let last = ends.last else {
                throw CalendarFault("\(quoted(word)) is no day")
            }
            self = .weekdays(try Self.weekday(first), try Self.weekday(last))
            return
        }
        // Two points have nothing between them.
        let ends = word.split(separator: ".", omittingEmptySubsequences: false)
        guard ends.count == 1 || ends.count == 3 && ends[1].isEmpty, let first = ends.first,
            let last = ends.last
        else {
            throw CalendarFault("\(quoted(word)) is no range of days")
        }
        if first.utf8.count == 5 {
            self = .yearly(try Self.monthDay(first), try Self.monthDay(last))
            return
        }
        guard let from = CalendarDay(first), let through = CalendarDay(last) else {
            throw CalendarFault("\(quoted(word)) is no date")
        }
        guard from <= through else { throw CalendarFault("\(word) ends before it begins") }
        self = .dates(from, through)
    }

    private static func weekday(_ text: some StringProtocol) throws(CalendarFault) -> Weekday {
        guard let weekday = Weekday(text) else {
            throw CalendarFault("\(quoted(String(text))) is no day")
        }
        return weekday
    }

    private static func monthDay(_ text: some StringProtocol) throws(CalendarFault) -> MonthDay {
        // 29 February is a date in a leap year.
        guard let (month, day) = CalendarDay.monthAndDay(text),
            CalendarDay(year: 2_000, month: month, day: day) != nil
        else { throw CalendarFault("\(quoted(String(text))) is no date") }
        return MonthDay(month: month, day: day)
    }
}
