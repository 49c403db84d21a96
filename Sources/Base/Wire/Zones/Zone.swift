/// A time zone's offsets from UTC for all times, read from a compiled zoneinfo file (RFC 8536).
package struct Zone: Sendable, Equatable {
    /// The offset before the first change.
    private let first: Int
    /// Seconds since 1970, in rising order.
    private let changes: [Int64]
    /// The offset after each change.
    private let offsets: [Int]
    /// The rule after the last change; nil when the last offset stays.
    private let rule: ZoneRule?

    package static let utc = Zone(first: 0, changes: [], offsets: [], rule: nil)

    init(first: Int, changes: [Int64], offsets: [Int], rule: ZoneRule?) {
        self.first = first
        self.changes = changes
        self.offsets = offsets
        self.rule = rule
    }

    /// Seconds to add to UTC at a moment given in seconds since 1970.
    package func offset(at time: Int64) -> Int {
        guard let last = changes.last, time < last else {
            return rule?.offset(at: time) ?? offsets.last ?? first
        }
        // Finds the first change after the time; the offset is that of the change before it.
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low == 0 ? first : offsets[low - 1]
    }

    /// The time in seconds since 1970 at which local clocks show this many seconds since midnight
    /// of 1 January 1970.
    ///
    /// A local time that occurs twice gives the first one. A local time that is skipped is
    /// calculated as if the clocks had not changed yet, so that it is always equally long after
    /// midnight.
    package func moment(ofLocal local: Int64) -> Int64 {
        let day: Int64 = 86_400
        let before = Int64(offset(at: Self.clamped(local, minus: day)))
        let after = Int64(offset(at: Self.clamped(local, minus: -day)))
        let candidates = [before, after]
            .map { (offset: $0, time: Self.clamped(local, minus: $0)) }
            .filter { Int64(offset(at: $0.time)) == $0.offset }
            .map(\.time)
        return candidates.min() ?? Self.clamped(local, minus: before)
    }

    private static func clamped(_ value: Int64, minus other: Int64) -> Int64 {
        let (result, overflow) = value.subtractingReportingOverflow(other)
        guard overflow else { return result }
        return other > 0 ? .min : .max
    }
}

/// Why a zoneinfo file cannot be used.
package enum ZoneError: Error, Equatable, Sendable, CustomStringConvertible {
    case notAZoneFile
    case cutOff
    /// A count, an index or an order is invalid; the text says which.
    case damaged(String)

    package var description: String {
        switch self {
        case .notAZoneFile: "it is no zoneinfo file"
        case .cutOff: "the zoneinfo file is cut off"
        case .damaged(let what): "the zoneinfo file is damaged: \(what)"
        }
    }
}
