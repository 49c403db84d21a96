package import Base

/// What a run is waiting for, and until when: the line that is always on the screen.
package enum Outlook: Sendable, Equatable {
    case window(opens: WallTime)
    /// The number of vehicles in work, and of those that wait; the window closes at `until`.
    case work(underWay: Int, waiting: Int, until: WallTime?)
    /// Only these vehicles are left: they are still listened for, until they count as unreachable.
    case search(vehicles: Int, until: WallTime)
    /// Waves count from 1.
    case soak(wave: Int, until: WallTime)
    case check(wave: Int)
    /// No adapter works; the next attempt is at `again`.
    case host(why: String, again: WallTime, until: WallTime)
    /// Work on no further vehicle begins.
    case draining(underWay: Int, why: String)
    /// The results are being written.
    case end

    /// The text for people, in the local time of a zone, as of `now`.
    package func text(_ zone: Zone, at now: WallTime) -> String {
        func time(_ time: WallTime) -> String {
            "\(zone.near(time, from: now)), \(Self.left(now.duration(to: time)))"
        }
        switch self {
        case .window(let opens): return "waits for the window: opens \(time(opens))"
        case .work(let underWay, let waiting, let until):
            let end = until.map { "; the window closes \(time($0))" } ?? ""
            return "at work on \(counted(underWay, "vehicle")), \(waiting) to come" + end
        case .search(let vehicles, let until):
            return "listens for \(counted(vehicles, "vehicle")) not heard yet: until \(time(until))"
        case .soak(let wave, let until): return "wave \(wave) soaks: until \(time(until))"
        case .check(let wave): return "waits for the check after wave \(wave)"
        case .host(let why, let again, let until):
            return "waits for an adapter: next try \(time(again)); gives up "
                + "\(zone.near(until, from: now)); \(why.visible)"
        case .draining(let underWay, let why):
            return "begins nothing more, \(counted(underWay, "vehicle")) under way: \(why.visible)"
        case .end: return "writes the results"
        }
    }

    /// Whether this requires a working adapter.
    package var needsRadio: Bool { kind == .work || kind == .search }

    /// The kind, without numbers and times.
    package enum Kind { case window, work, search, soak, check, host, draining, end }

    package var kind: Kind {
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

    /// A remaining time to the second, so that a person can see that the program is alive.
    package static func left(_ duration: Duration) -> String {
        guard duration > .zero else { return "due" }
        let seconds = (duration.nanoseconds + 999_999_999) / 1_000_000_000
        let whole = Duration.seconds(seconds)
        guard seconds >= 3_600, seconds < 48 * 3_600 else { return "in \(whole.brief)" }
        let (minutes, rest) = (seconds / 60 % 60, seconds % 60)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "in \(seconds / 3_600)h\(two(minutes))m\(two(rest))s"
    }
}
