extension Zone {
    /// The time that `2026-11-21` or `2026-11-21 18:00` names by the clocks of the zone.
    package func moment(_ text: String) -> WallTime? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let day = CalendarDay(parts[0]),
            let clock = parts.count == 2 ? TimeOfDay(parts[1]) : .midnight
        else { return nil }
        return time(ofLocal: day.number * 86_400 + Int64(clock.minutes) * 60)
    }

    /// The next time that the text names, in the words of an opening: `18:00`, `fri 18:00`, `12-24`,
    /// `2026-12-24 18:00`, `last friday 22:00`; nil when there is none.
    package func next(_ text: String, after now: WallTime) -> WallTime? {
        var words = text.lowercased().split(separator: " ")
        guard let last = words.last else { return nil }
        let clock = TimeOfDay(last)
        if clock != nil { words.removeLast() }
        guard let days = words.isEmpty ? [] : try? DayRule.list(words.joined(separator: " ")) else {
            return nil
        }
        let opening = Opening(days, from: clock ?? .midnight, .after(.seconds(60)))
        return OpenTimes([opening], zone: self).next(1, after: now).first?.opens
    }
}
