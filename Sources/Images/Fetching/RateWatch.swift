import Base

/// Checks that bytes arrive at a minimum rate, measured over consecutive periods.
///
/// A server that sends single bytes is never silent for long, and could block a transfer for hours.
struct RateWatch: Sendable {
    private let least: Int
    private let stretch: Duration
    private var began: Moment?
    private var count = 0

    init(_ settings: FetchSettings) {
        least = settings.leastSpeed
        stretch = settings.slowness
    }

    /// Counts bytes; returns false when the period that they end had too few.
    mutating func take(_ bytes: Int, at now: Moment) -> Bool {
        count += bytes
        guard let began else {
            self.began = now
            return true
        }
        let length = began.duration(to: now)
        guard length >= stretch else { return true }
        let isEnough = Double(count) >= Double(least) * length.inSeconds
        self.began = now
        count = 0
        return isEnough
    }

    /// To be called when the delay is ours: the next period begins with the next byte.
    mutating func pause() {
        began = nil
        count = 0
    }
}

extension FetchSettings {
    /// The rule for servers that are too slow, for messages.
    package var rateRule: String {
        "fewer than \(leastSpeed) bytes a second over \(slowness.brief)"
    }

    /// Whether an attempt delivered enough bytes for its time that the next one gets full patience
    /// again.
    func isProgress(_ bytes: Int, in time: Duration) -> Bool {
        Double(bytes) >= Double(leastSpeed) * max(1, time.inSeconds)
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
