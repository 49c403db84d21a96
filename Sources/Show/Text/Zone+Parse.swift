package import Base

extension Zone {
    /// Parses `2026-11-21` or `2026-11-21 18:00` as local time of the zone.
    package func moment(_ text: String) -> WallTime? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let date = parts.first.map({ Self.numbers($0, "-", [4, 2, 2]) }) ?? nil,
            parts.count <= 2, (1...12).contains(date[1]), (1...31).contains(date[2])
        else { return nil }
        var minutes = 0
        if parts.count == 2 {
            guard let clock = Self.numbers(parts[1], ":", [2, 2]), clock[0] < 24, clock[1] < 60
            else {
                return nil
            }
            minutes = clock[0] * 60 + clock[1]
        }
        let day = Calendar.day(year: Int64(date[0]), month: date[1], day: date[2])
        let local = day * 86_400 + Int64(minutes) * 60
        return WallTime(milliseconds: moment(ofLocal: local) * 1_000)
    }

    /// Parses numbers with exactly these counts of digits.
    private static func numbers(
        _ text: Substring,
        _ mark: Character,
        _ digits: [Int]
    ) -> [Int]? {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == digits,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        return parts.compactMap { Int($0) }
    }
}
