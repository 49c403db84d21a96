package import Base

extension WallTime {
    /// Reads exactly the form `2026-11-21T03:36:05Z`: no fraction, no zone other than UTC, no leap
    /// second.
    package init?(metadata text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
            bytes[13] == 0x3A, bytes[16] == 0x3A, bytes[19] == 0x5A
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), hour < 24, minute < 60, second < 60,
            day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        let days = Calendar.day(year: year, month: Int(month), day: Int(day))
        self.init(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2:
            year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
                ? 29 : 28
        default: 31
        }
    }
}
