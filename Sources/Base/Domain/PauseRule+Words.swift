extension PauseRule {
    /// The rule in plain words, with the figures for `total` vehicles.
    package func words(among total: Int) -> String {
        let verb = action == .abort ? "aborts" : "pauses"
        var words: String
        switch failed {
        case .count(let limit):
            words = "\(verb) on the \(Self.ordinal(limit + 1)) failure of \(total)"
            if limit >= total {
                words = "never \(verb): more than \(limit) of \(total) cannot fail"
            }
        case .percent(let share):
            let first = max(atLeast, 1)
            let trip = (1...max(total, 1)).first { count in
                self.trips(failed: count, attempted: max(first, count))
            }
            words = "\(verb) when more than \(share) of those attempted have failed, "
            words += "looked at from \(first) attempted on"
            if let trip, trip <= total, first <= total {
                words += ": on the \(Self.ordinal(trip)) failure of \(max(first, trip))"
            } else {
                words += ": never among \(total)"
            }
        }
        if !classes.isEmpty {
            words += "; counts only " + classes.map(\.rawValue).joined(separator: ", ")
        }
        return words
    }

    private static func ordinal(_ number: Int) -> String {
        let suffix =
            switch (number % 10, number % 100) {
            case (_, 11...13): "th"
            case (1, _): "st"
            case (2, _): "nd"
            case (3, _): "rd"
            default: "th"
            }
        return "\(number)\(suffix)"
    }
}
