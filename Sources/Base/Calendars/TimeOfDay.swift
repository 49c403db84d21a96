/// Hours and minutes on a wall clock.
package struct TimeOfDay: Sendable, Hashable, CustomStringConvertible {
    /// Minutes since midnight.
    package let minutes: Int

    package static let midnight = TimeOfDay(minutes: 0)

    private init(minutes: Int) { self.minutes = minutes }

    /// Reads `01:00`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == 0x3A else { return nil }
        var digits: [Int] = []
        for index in [0, 1, 3, 4] {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            digits.append(Int(bytes[index] - 0x30))
        }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hour < 24, minute < 60 else { return nil }
        minutes = hour * 60 + minute
    }

    /// What `1am`, `9 pm` and `1:00am` mean; nil for anything else.
    package init?(twelveHours text: String) {
        let word = text.lowercased().filter { $0 != " " }
        guard word.utf8.count <= 7, word.hasSuffix("am") || word.hasSuffix("pm") else { return nil }
        let parts = word.dropLast(2).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), (1...12).contains(hour),
            let minute = parts.count == 2 ? Int(parts[1]) : 0, minute < 60
        else { return nil }
        minutes = (hour % 12 + (word.hasSuffix("pm") ? 12 : 0)) * 60 + minute
    }

    package var description: String { Self.two(minutes / 60) + ":" + Self.two(minutes % 60) }

    package static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
