package import Base

/// The pauses between attempts at the same origin.
package struct Backoff: Sendable {
    private let settings: FetchSettings
    private var failures = 0

    package init(_ settings: FetchSettings) { self.settings = settings }

    /// Begins again with the first pause; call it when a transfer made progress.
    mutating func reset() { failures = 0 }

    /// The next pause; nil when no further attempt is allowed.
    ///
    /// The pause is random between zero and a bound that doubles (full jitter), so that a depot's
    /// gateways do not all return at the same time. When a server names a time, it is waited for,
    /// up to a limit.
    package mutating func pause(
        after error: DownloadError,
        drawing chance: inout SplitMix64
    ) -> Duration? {
        failures += 1
        guard error.mayPass, failures < settings.attempts else { return nil }
        let doublings = min(failures - 1, 20)
        let bound = min(settings.firstPause * (1 << doublings), settings.longestPause)
        let pause = Duration.nanoseconds(
            Int64(chance.below(Int(max(1, bound.nanoseconds))))
        )
        guard case .status(_, let asked?) = error else { return pause }
        return min(asked, settings.longestRetryAfter) + pause
    }
}
