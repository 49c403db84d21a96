package import Base

extension WallTime {
    /// Reads the only date form that HTTP still generates, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC
    /// 9110, section 5.6.7); nil for anything else.
    package init?(httpDate text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == 0x2C, bytes[19] == 0x3A, bytes[22] == 0x3A,
            [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == 0x20 }),
            bytes[26...].elementsEqual("GMT".utf8)
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov"]
        let name = String(decoding: bytes[8..<11], as: UTF8.self)
        guard let index = (months + ["Dec"]).firstIndex(of: name), let day = number(5..<7),
            let year = number(12..<16), let hour = number(17..<19), let minute = number(20..<22),
            let second = number(23..<25), (1...31).contains(day), year >= 1970, hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let days = Calendar.day(year: year, month: index + 1, day: Int(day))
        self.init(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }
}
