package import Base

/// The time between requests to one server: never more of them in a second than allowed, and no
/// bursts.
///
/// They are a tenth further apart than that takes, because not all need the same time on their way.
package struct Pace: Sendable {
    private let gap: Duration
    private var free: Moment?
    private var chance: SplitMix64

    package init(requestsPerSecond: Int, seed: UInt64) {
        gap = .nanoseconds(1_100_000_000 / Int64(max(1, requestsPerSecond)))
        chance = SplitMix64(seed: seed)
    }

    /// When the next request may be sent, which counts as sent then.
    ///
    /// The first one waits for a random part of a second, so that gateways that begin at the same
    /// time do not ask at the same time.
    package mutating func next(at now: Moment) -> Moment {
        let start = free ?? now.advanced(by: .milliseconds(chance.below(1_000)))
        let time = max(start, now)
        free = time.advanced(by: gap)
        return time
    }

    /// A request was sent at this time, which may be later than it was to be.
    package mutating func sent(at now: Moment) { rest(gap, from: now) }

    /// Keeps away from the server for this time.
    package mutating func rest(_ pause: Duration, from now: Moment) {
        let end = now.advanced(by: pause)
        free = max(free ?? end, end)
    }
}
