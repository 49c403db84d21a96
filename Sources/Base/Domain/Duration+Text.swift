extension Duration {
    /// Whole nanoseconds, limited to the range of 64 bits (292 years).
    package var nanoseconds: Int64 {
        // Nearly every duration here is below nine seconds, whose attoseconds fit into 64 bits.
        if let attoseconds = Int64(exactly: attoseconds) { return attoseconds / 1_000_000_000 }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// Reads `20s`, `1500ms`, `15m`, `4h`, `7d`, and sums such as `1h30m`; nil for anything else.
    package init?(text: some StringProtocol) {
        var total = Duration.zero
        var rest = Substring(text)
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            guard (1...9).contains(digits.utf8.count), let number = Int64(digits) else {
                return nil
            }
            rest = rest[digits.endIndex...]
            let unit = rest.prefix { !("0"..."9").contains($0) }
            rest = rest[unit.endIndex...]
            switch unit {
            case "ms": total += .milliseconds(number)
            case "s": total += .seconds(number)
            case "m": total += .seconds(number * 60)
            case "h": total += .seconds(number * 3_600)
            case "d": total += .seconds(number * 86_400)
            default: return nil
            }
        }
        self = total
    }

    /// Short text for people: `850ms`, `2.4s`, `20s`, `3m05s`, `4h`, `1h30m`, `2d04h`.
    package var brief: String {
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let milliseconds = nanoseconds / 1_000_000
        if milliseconds < 0 { return "-" + (Duration.zero - self).brief }
        if milliseconds < 1_000 { return "\(milliseconds)ms" }
        if milliseconds < 10_000, !milliseconds.isMultiple(of: 1_000) {
            return "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100)s"
        }
        let seconds = milliseconds / 1_000
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400)
        if seconds < 60 { return "\(seconds)s" }
        if minutes < 60 {
            return seconds % 60 == 0 ? "\(minutes)m" : "\(minutes)m\(two(seconds % 60))s"
        }
        if hours < 48 { return minutes % 60 == 0 ? "\(hours)h" : "\(hours)h\(two(minutes % 60))m" }
        return hours % 24 == 0 ? "\(days)d" : "\(days)d\(two(hours % 24))h"
    }
}
