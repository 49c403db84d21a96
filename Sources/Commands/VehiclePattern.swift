package import Base

/// A vehicle's id, or a pattern in which `*` stands for any text and `?` for one character.
package struct VehiclePattern: Sendable, Equatable, CustomStringConvertible {
    package let text: String
    private let pattern: [Character]

    /// Nil when empty or longer than any id.
    package init?(_ text: some StringProtocol) {
        guard (1...256).contains(text.utf8.count) else { return nil }
        self.text = String(text)
        pattern = Array(self.text)
    }

    package var description: String { text }

    package func matches(_ vehicle: VehicleID) -> Bool { matches(vehicle.text) }

    /// Scans both texts once and returns only to the latest star, so the time is bounded.
    package func matches(_ text: String) -> Bool {
        let name = Array(text)
        var (place, at) = (0, 0)
        var star: (pattern: Int, name: Int)?
        while at < name.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[at] {
                place += 1
                at += 1
            } else if let latest = star {
                star = (latest.pattern, latest.name + 1)
                place = latest.pattern + 1
                at = latest.name + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
