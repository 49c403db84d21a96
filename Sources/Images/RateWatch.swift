import Domain

/// Whether bytes come at a least rate, measured over one stretch of time after the other.
///
/// A server that gives a byte now and then is never silent for long, and would hold a transfer for
/// hours.
struct RateWatch: Sendable {
    private let least: Int
    private let stretch: Duration
    private var began: Moment?
    private var count = 0

    init(_ settings: FetchSettings) {
        least = settings.leastSpeed
        stretch = settings.slowness
    }

    /// Takes note of bytes; false when the stretch that ends with them brought too few.
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

    /// To be called when the delay is ours: what follows is measured from its first byte on.
    mutating func pause() {
        began = nil
        count = 0
    }
}

extension FetchSettings {
    /// The rule by which a server is too slow, in words.
    package var rateRule: String {
        "fewer than \(leastSpeed) bytes a second over \(slowness.brief)"
    }

    /// Whether an attempt brought so much in its time that the next one has full patience again.
    func isProgress(_ bytes: Int, in time: Duration) -> Bool {
        Double(bytes) >= Double(leastSpeed) * max(1, time.inSeconds)
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
