package import Domain

/// How long to wait before the same origin is asked again.
package struct Backoff: Sendable {
    private let settings: FetchSettings
    private var failures = 0

    package init(_ settings: FetchSettings) { self.settings = settings }

    /// To be called when a transfer brought something: patience begins again.
    package mutating func reset() { failures = 0 }

    /// The next pause, or nil when it is enough.
    ///
    /// The pause is drawn evenly from nothing up to a bound that doubles (full jitter), so that a
    /// depot's gateways do not come back all at once; a server that names a time is believed, up to
    /// a limit.
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
        guard case .status(_, let told?) = error else { return pause }
        return min(told, settings.longestRetryAfter) + pause
    }
}
