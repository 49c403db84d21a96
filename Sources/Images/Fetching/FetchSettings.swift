package import Base

/// The limits and the trust of fetching.
package struct FetchSettings: Sendable {
    /// The number of images that are fetched at the same time.
    package var connections = 8
    /// The number of attempts at one origin without a single new byte, before it is given up.
    package var attempts = 5
    /// The first pause between attempts is random up to this; the bound of each further one
    /// doubles.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(30)
    /// The limit for the time that a server asks us to wait.
    var longestRetryAfter = Duration.seconds(120)
    package var connectTimeout = Duration.seconds(15)
    /// A transfer with fewer bytes a second than this during `slowness` is cut.
    package var leastSpeed = 1_000
    package var slowness = Duration.seconds(30)
    /// The time for an image, to which its size divided by `sustainedSpeed` (bytes a second) is
    /// added.
    var patience = Duration.seconds(120)
    var sustainedSpeed = 16 << 10
    package var redirects = 5
    /// The pause between attempts to get a lock that another process holds.
    var lockPause = Duration.milliseconds(100)
    /// Images up to this size are hashed and written by the thread that receives them; larger ones
    /// by another thread, at the same time.
    package var inPlaceSize = ByteCount(count: 256 << 10)
    /// The least expected size of a part for which the origin is noted for later runs.
    package var notedSize = ByteCount(count: 1 << 20)
    /// A file of PEM certificates to trust instead of the system's.
    package var authorities: String?
    /// Our own certificate and its key, in PEM, for servers that require one.
    package var certificate: String?
    package var key: String?
    /// Used instead of the proxy in the environment; it may contain a password.
    package var proxy: WebAddress?
    /// Hosts that are reached without the proxy, as in the environment's `no_proxy`.
    package var withoutProxy: String?

    package init() {}

    /// The time limit for an image of that size, all attempts together.
    func deadline(for size: ByteCount) -> Duration {
        patience + .seconds(size.bytes / max(1, sustainedSpeed))
    }
}
