/// The rule for future years at the end of a zoneinfo file: a POSIX TZ string such as
/// `EET-2EEST,M3.5.0/3,M10.5.0/4`.
struct ZoneRule: Sendable, Equatable {
    /// A day of a year, and the second after its local midnight, at which the clocks change.
    struct Change: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// 1 to 365; 29 February is never counted.
            case julian(Int)
            /// 0 to 365.
            case ordinal(Int)
            /// The weekday (0 is Sunday) of the week 1 to 5 of a month; 5 is the last.
            case weekday(month: Int, week: Int, day: Int)
        }

        let day: Day
        let second: Int
    }

    /// The offset of standard time, in seconds to add to UTC.
    let standard: Int
    /// The offset of summer time and its two changes; nil where there is no summer time.
    let summer: (offset: Int, begins: Change, ends: Change)?

    static func == (left: ZoneRule, right: ZoneRule) -> Bool {
        left.standard == right.standard && left.summer?.offset == right.summer?.offset
            && left.summer?.begins == right.summer?.begins
            && left.summer?.ends == right.summer?.ends
    }

    func offset(at time: Int64) -> Int {
        guard let summer else { return standard }
        // Years outside the range of dates have no changes.
        guard (-1 << 40...1 << 40).contains(time) else { return standard }
        let year = CalendarDay(number: Calendar.floor(time + Int64(standard), 86_400)).year
        let begins = summer.begins.time(in: year) - Int64(standard)
        let ends = summer.ends.time(in: year) - Int64(summer.offset)
        let isSummer =
            begins < ends
            ? begins <= time && time < ends
            : !(ends <= time && time < begins)
        return isSummer ? summer.offset : standard
    }
}

extension ZoneRule.Change {
    /// Seconds since 1970 on the local clock.
    func time(in year: Int64) -> Int64 {
        let first = Calendar.day(year: year, month: 1, day: 1)
        let day: Int64
        switch self.day {
        case .julian(let number):
            let leap = Calendar.isLeap(year) && number >= 60 ? 1 : 0
            day = first + Int64(number - 1 + leap)
        case .ordinal(let number):
            day = first + Int64(number)
        case .weekday(let month, let week, let weekday):
            let start = Calendar.day(year: year, month: month, day: 1)
            // 1 January 1970 was a Thursday.
            let ahead = (Int64(weekday) - Calendar.modulo(start + 4, 7) + 7) % 7
            var found = start + ahead + Int64(7 * (week - 1))
            while found - start >= Int64(Calendar.length(ofMonth: month, in: year)) { found -= 7 }
            day = found
        }
        return day * 86_400 + Int64(second)
    }
}

// MARK: Reading

extension ZoneRule {
    /// Nil for anything but a valid TZ string.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= 256 else { return nil }
        var reader = RuleReader(Array(bytes))
        guard reader.name(), let standard = reader.time(hours: 24) else { return nil }
        self.standard = -standard
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        guard reader.name() else { return nil }
        var offset = self.standard + 3_600
        if !reader.isNext(0x2C) {
            guard let given = reader.time(hours: 24) else { return nil }
            offset = -given
        }
        guard reader.take(0x2C), let begins = reader.change(), reader.take(0x2C),
            let ends = reader.change(), reader.isAtEnd
        else { return nil }
        summer = (offset, begins, ends)
    }
}

/// Parses a TZ string from its beginning.
private struct RuleReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    func isNext(_ byte: UInt8) -> Bool { index < bytes.count && bytes[index] == byte }

    mutating func take(_ byte: UInt8) -> Bool {
        guard isNext(byte) else { return false }
        index += 1
        return true
    }

    /// A name of three letters or more, or anything between angle brackets.
    mutating func name() -> Bool {
        let start = index
        if take(0x3C) {
            while index < bytes.count, bytes[index] != 0x3E { index += 1 }
            return take(0x3E)
        }
        while index < bytes.count,
            (0x41...0x5A).contains(bytes[index]) || (0x61...0x7A).contains(bytes[index])
        {
            index += 1
        }
        return index - start >= 3
    }

    mutating func number(upTo limit: Int) -> Int? {
        let start = index
        var value = 0
        while index < bytes.count, (0x30...0x39).contains(bytes[index]), index - start < 4 {
            value = value * 10 + Int(bytes[index] - 0x30)
            index += 1
        }
        return index > start && value <= limit ? value : nil
    }

    /// Hours with an optional sign, and optional minutes and seconds after colons.
    mutating func time(hours: Int) -> Int? {
        let isNegative = take(0x2D)
        if !isNegative { _ = take(0x2B) }
        guard var seconds = number(upTo: hours).map({ $0 * 3_600 }) else { return nil }
        for unit in [60, 1] where take(0x3A) {
            guard let part = number(upTo: 59) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    mutating func change() -> ZoneRule.Change? {
        let day: ZoneRule.Change.Day
        if take(0x4D) {
            guard let month = number(upTo: 12), month > 0, take(0x2E),
                let week = number(upTo: 5), week > 0, take(0x2E), let weekday = number(upTo: 6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if take(0x4A) {
            guard let number = number(upTo: 365), number > 0 else { return nil }
            day = .julian(number)
        } else {
            guard let number = number(upTo: 365) else { return nil }
            day = .ordinal(number)
        }
        guard take(0x2F) else { return ZoneRule.Change(day: day, second: 7_200) }
        // Up to a week in either direction since version 3 of the format.
        return time(hours: 167).map { ZoneRule.Change(day: day, second: $0) }
    }
}
