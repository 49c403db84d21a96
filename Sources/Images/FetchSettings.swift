package import Domain

/// How patient, how wide and how careful fetching is.
package struct FetchSettings: Sendable {
    /// Images that are fetched at once.
    package var connections = 8
    /// Attempts at one origin that bring not a byte more, before it is given up.
    package var attempts = 5
    /// The first pause between attempts is chosen up to this; each further one up to twice that.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(30)
    /// A server that wants more patience than this gets this much.
    package var longestRetryAfter = Duration.seconds(120)
    package var connectTimeout = Duration.seconds(15)
    /// Fewer bytes a second than this, for `slowness` on end, and the transfer is cut.
    package var leastSpeed = 1_000
    package var slowness = Duration.seconds(30)
    /// An image has this long, and longer by its size at `sustainedSpeed` bytes a second.
    package var patience = Duration.seconds(120)
    package var sustainedSpeed = 16 << 10
    package var redirects = 5
    /// How often a lock that another process holds is tried.
    package var lockPause = Duration.milliseconds(100)
    /// What is no larger is hashed and written by the thread that receives it, the rest by another one
    /// at the same time.
    package var inPlaceSize = ByteCount(count: 256 << 10)
    /// What a part must promise to grow to before its origin is noted for later runs.
    package var notedSize = ByteCount(count: 1 << 20)
    /// A file of certificates, in PEM, to trust in place of the system's.
    package var authorities: String?
    /// Our own certificate and its key, in PEM, for servers that ask for one.
    package var certificate: String?
    package var key: String?
    /// In place of the one that the environment names; its password, if any, is in there.
    package var proxy: WebAddress?
    /// Hosts that are reached without the proxy, as in the environment's `no_proxy`.
    package var withoutProxy: String?

    package init() {}

    /// How long an image of that size may take, all attempts together.
    package func deadline(for size: ByteCount) -> Duration {
        patience + .seconds(size.bytes / max(1, sustainedSpeed))
    }
}
