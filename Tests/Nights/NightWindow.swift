import Base

/// When the window of a life is open, by the minute since 1970.
extension NightStory.Window {
    private static let day: Int64 = 1_440

    /// The minutes at which it opens for any vehicle of these kinds, around a minute, in their order.
    private func openings(near minute: Int64, for kinds: [NightStory.Kind]) -> [Int64] {
        let begins = Set(kinds.isEmpty ? [from] : kinds.map(beginning(for:)))
        let today = minute / Self.day
        var openings: [Int64] = []
        for day in today - 9...today + 9 {
            // 1 January 1970 was a Thursday.
            if let closed, closed.contains(Int((day + 3) % 7)) { continue }
            openings += begins.map { day * Self.day + Int64($0 / 60 * 60) % Self.day }
        }
        return openings.sorted()
    }

    private func beginning(for kind: NightStory.Kind) -> Int {
        guard let own, NightDepot.family(own.kind) == NightDepot.family(kind) else { return from }
        return own.from
    }

    /// How many minutes ago it opened last.
    func minutes(sinceOpeningAt minute: Int64, for kinds: [NightStory.Kind]) -> Int64 {
        minute - (openings(near: minute, for: kinds).last { $0 <= minute } ?? 0)
    }

    /// How many minutes later it opens next.
    func minutes(untilOpeningAt minute: Int64, for kinds: [NightStory.Kind]) -> Int64 {
        (openings(near: minute, for: kinds).first { $0 > minute } ?? minute) - minute
    }

    /// The day of the opening that is open, or else of the next one.
    func day(at minute: Int64, for kinds: [NightStory.Kind]) -> Int64 {
        let all = openings(near: minute, for: kinds)
        let open = all.first { $0 <= minute && minute < $0 + Int64(minutes) }
        return (open ?? all.first { $0 > minute } ?? minute) / Self.day
    }

    /// What the manifest says.
    var text: String {
        func hour(_ minute: Int) -> String {
            let hour = minute / 60 % 24
            return "\(hour < 10 ? "0" : "")\(hour):00"
        }
        guard closed != nil || own != nil else {
            return "{from: \"\(hour(from))\", for: \(minutes)m, at-close: \(close)}"
        }
        var text = "{open: \"\(hour(from)) for \(minutes)m\", at-close: \(close)"
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        let days = (closed ?? []).map { names[$0] }
        if !days.isEmpty { text += ", not: \"\(days.joined(separator: ","))\"" }
        if let own {
            text += ", by: family, own: {\(NightDepot.family(own.kind).rawValue): "
            text += "\"\(hour(own.from)) for \(minutes)m\"}"
        }
        return text + "}"
    }
}

extension NightStory {
    /// The kinds of the vehicles that a list has.
    func kinds(of listed: some Sequence<Int>) -> [Kind] { listed.map { vehicles[$0].kind } }
}
