/// A day of the Gregorian calendar.
package struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let year: Int64
    package let month: Int
    package let day: Int

    /// The day this many days after 1 January 1970.
    package init(number: Int64) {
        // Howard Hinnant's civil-from-days, shifted to eras of 400 years that start in March.
        let era = Calendar.floor(number + 719_468, 146_097)
        let dayOfEra = number + 719_468 - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shifted + 2) / 5 + 1)
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The day of a time in UTC.
    package init(of time: WallTime) {
        self.init(number: Calendar.floor(time.milliseconds, 86_400_000))
    }

    /// Nil when there is no such day.
    package init?(year: Int64, month: Int, day: Int) {
        guard (1...12).contains(month),
            (1...Calendar.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Reads `2026-12-24`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = Self.number(parts[0]),
            let month = Self.number(parts[1]), let day = Self.number(parts[2])
        else { return nil }
        self.init(year: Int64(year), month: month, day: day)
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }

    /// Days since 1 January 1970.
    package var number: Int64 { Calendar.day(year: year, month: month, day: day) }

    package var weekday: Weekday { Weekday(ofDay: number) }

    package static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    package var description: String {
        String(WallTime(milliseconds: number * 86_400_000).description.prefix(10))
    }
}

/// A day of the week.
package enum Weekday: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    private static let names = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    /// Reads `mon` or `monday`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let index = Self.names.firstIndex { $0 == text || $0.prefix(3) == text }
        guard let index, let weekday = Weekday(rawValue: index) else { return nil }
        self = weekday
    }

    init(ofDay number: Int64) {
        // 1 January 1970 was a Thursday.
        self = Self.allCases[Int(Calendar.modulo(number + 3, 7))]
    }

    package var description: String { String(Self.names[rawValue].prefix(3)) }
}
