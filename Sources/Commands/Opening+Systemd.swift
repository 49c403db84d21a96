package import Base

extension Opening {
    /// The beginnings as calendar expressions of systemd, which has no days on which nothing opens.
    package func calendarExpressions(zone: String) -> [String] {
        let dates = days.isEmpty ? ["*-*-*"] : days.flatMap(\.calendarDates)
        return dates.map { "\($0) \(from):00 \(zone)" }
    }
}

extension DayRule {
    fileprivate var calendarDates: [String] {
        switch self {
        case .weekdays(let first, let last):
            let count = (last.rawValue - first.rawValue + 7) % 7
            let days = (0...count).map { Weekday.allCases[(first.rawValue + $0) % 7] }
            return [days.map { "\($0)".capitalized }.joined(separator: ",") + " *-*-*"]
        case .ordinal(let number, let weekday):
            let name = "\(weekday)".capitalized
            guard number < 5 else { return ["\(name) *-*~07/1"] }
            return ["\(name) *-*-\(TimeOfDay.two(number * 7 - 6))..\(TimeOfDay.two(number * 7))"]
        case .yearly(let first, let last):
            let months = first <= last ? last.month : last.month + 12
            return Self.months(first.month...months, first.day, last.day) { _ in "*" }
        case .dates(let first, let last):
            let months = Int(last.year - first.year) * 12 + last.month
            return Self.months(first.month...months, first.day, last.day) {
                "\(first.year + Int64($0))"
            }
        }
    }

    /// The days of each month; months after December are those of later years.
    private static func months(
        _ months: ClosedRange<Int>,
        _ first: Int,
        _ last: Int,
        year: (Int) -> String
    ) -> [String] {
        months.map { month in
            let from = month == months.lowerBound ? first : 1
            let through = month == months.upperBound ? last : 31
            let days =
                from == through
                ? TimeOfDay.two(from) : "\(TimeOfDay.two(from))..\(TimeOfDay.two(through))"
            return "\(year((month - 1) / 12))-\(TimeOfDay.two((month - 1) % 12 + 1))-\(days)"
        }
    }
}

extension String {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
