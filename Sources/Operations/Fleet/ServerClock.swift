import Base

/// Finds that the clock of the fleet's server was put forward.
///
/// Rights end by that clock, and by this machine's clock that nothing sets their holders still use them.
struct ServerClock: Sendable {
    /// More than the answers of a healthy server differ by.
    private static let limit = Duration.seconds(1)
    private var last: (clock: WallTime, asked: Moment)?

    /// By how much the clock was put forward since the last answer; nil when it was not.
    ///
    /// It was asked after `asked`, and has answered before `now`. Two clocks that nobody sets go apart by less than one in a
    /// thousand.
    mutating func step(to clock: WallTime, asked: Moment, at now: Moment) -> Duration? {
        defer { last = (clock, asked) }
        guard let last else { return nil }
        let passed = last.asked.duration(to: now)
        let ahead = last.clock.duration(to: clock) - passed
        return ahead > Self.limit + passed / 1_000 ? ahead : nil
    }
}
