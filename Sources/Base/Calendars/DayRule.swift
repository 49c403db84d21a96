/// A rule for days as people write it: `mon-thu`, `2026-12-24`, `12-20..01-06`, `last friday`.
package enum DayRule: Sendable, Hashable, CustomStringConvertible {
    /// All days of the week from one to another, which may come before it: `sat-mon`.
    case weekdays(Weekday, Weekday)
    /// The days from one to another of each year, as days of `anyYear`; a range may pass the new year.
    case yearly(CalendarDay, CalendarDay)
    case dates(CalendarDay, CalendarDay)
    /// A weekday of each month, such as the second; the fifth is the last one.
    case ordinal(Int, Weekday)

    /// A leap year: 29 February is a date in it.
    private static let anyYear: Int64 = 2_000

    private static let ordinals = ["first", "second", "third", "fourth", "last"]

    func contains(_ day: CalendarDay) -> Bool {
        func isBetween<Value: Comparable>(_ first: Value, _ value: Value, _ last: Value) -> Bool {
            first <= last ? first <= value && value <= last : first <= value || value <= last
        }
        switch self {
        case .weekdays(let first, let last):
            return isBetween(first.rawValue, day.weekday.rawValue, last.rawValue)
        case .yearly(let first, let last):
            let date = CalendarDay(year: Self.anyYear, month: day.month, day: day.day)
            return date.map { isBetween(first, $0, last) } ?? false
        case .dates(let first, let last): return isBetween(first, day, last)
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
        case .yearly(let first, let last):
            range("\(first)".dropFirst(5), "\(last)".dropFirst(5), "..")
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
            self = .yearly(try Self.yearDay(first), try Self.yearDay(last))
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

    private static func yearDay(_ text: some StringProtocol) throws(CalendarFault) -> CalendarDay {
        guard let day = CalendarDay("\(anyYear)-\(text)") else {
            throw CalendarFault("\(quoted(String(text))) is no date")
        }
        return day
    }
}
