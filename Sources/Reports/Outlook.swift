package import Domain
package import Wire

/// What a run awaits at the moment and until when: the line that is on the screen all the time.
package enum Outlook: Sendable, Equatable {
    case window(opens: WallTime)
    /// Vehicles under way, and those that wait to be begun; the window closes at `until`.
    case work(underWay: Int, waiting: Int, until: WallTime?)
    /// All that is left is to hear these, or to give them up.
    case search(vehicles: Int, until: WallTime)
    /// Waves count from 1.
    case soak(wave: Int, until: WallTime)
    case check(wave: Int)
    /// No adapter works; another try comes at `again`.
    case host(why: String, again: WallTime, until: WallTime)
    /// Nothing is begun any more.
    case draining(underWay: Int, why: String)
    /// The results are written.
    case end

    /// In words for people, on the clocks of a zone, as it is at `now`.
    package func text(_ zone: Zone, at now: WallTime) -> String {
        func time(_ time: WallTime) -> String {
            "\(zone.near(time, from: now)), \(Self.left(now.duration(to: time)))"
        }
        switch self {
        case .window(let opens): return "waits for the window: opens \(time(opens))"
        case .work(let underWay, let waiting, let until):
            let end = until.map { "; the window closes \(time($0))" } ?? ""
            return "at work on \(Self.vehicles(underWay)), \(waiting) to come" + end
        case .search(let vehicles, let until):
            return "listens for \(Self.vehicles(vehicles)) not heard yet: until \(time(until))"
        case .soak(let wave, let until): return "wave \(wave) soaks: until \(time(until))"
        case .check(let wave): return "waits for the check after wave \(wave)"
        case .host(let why, let again, let until):
            return "waits for an adapter: next try \(time(again)); gives up "
                + "\(zone.near(until, from: now)); \(why.visible)"
        case .draining(let underWay, let why):
            return "begins nothing more, \(Self.vehicles(underWay)) under way: \(why.visible)"
        case .end: return "writes the results"
        }
    }

    /// Whether nothing comes of it without an adapter that works.
    package var needsRadio: Bool { kind == .work || kind == .search }

    /// What is awaited, whatever the numbers and times.
    enum Kind { case window, work, search, soak, check, host, draining, end }

    var kind: Kind {
        switch self {
        case .window: .window
        case .work: .work
        case .search: .search
        case .soak: .soak
        case .check: .check
        case .host: .host
        case .draining: .draining
        case .end: .end
        }
    }

    private static func vehicles(_ count: Int) -> String {
        count == 1 ? "1 vehicle" : "\(count) vehicles"
    }

    /// A time that passes, to the second: who looks at it sees that the program lives.
    static func left(_ duration: Duration) -> String {
        guard duration > .zero else { return "due" }
        let seconds = (duration.nanoseconds + 999_999_999) / 1_000_000_000
        let whole = Duration.seconds(seconds)
        guard seconds >= 3_600, seconds < 48 * 3_600 else { return "in \(whole.brief)" }
        let (minutes, rest) = (seconds / 60 % 60, seconds % 60)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "in \(seconds / 3_600)h\(two(minutes))m\(two(rest))s"
    }
}
