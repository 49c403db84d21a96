package import Base

/// How images are downloaded.
package struct FetchPolicy: Sendable, Hashable {
    package let connections: Int
    package let attempts: Int
    /// Bytes per second; a server that delivers fewer over `leastRateOver` is too slow.
    package let leastRate: ByteCount
    package let leastRateOver: Duration
    /// Certificates to trust instead of the system's.
    package let authorities: FileReference?
    package let certificate: FileReference?
    package let key: FileReference?
    /// The address of the proxy; nil for the one in the environment.
    package let proxy: String?
    /// Hosts that are reached without the proxy.
    package let withoutProxy: [String]
    /// The size limit of the store; nil for as much as the disk can take.
    package let storeLimit: ByteCount?

    init(
        connections: Int = 8,
        attempts: Int = 5,
        leastRate: ByteCount = ByteCount(count: 1_000),
        leastRateOver: Duration = .seconds(30),
        authorities: FileReference? = nil,
        certificate: FileReference? = nil,
        key: FileReference? = nil,
        proxy: String? = nil,
        withoutProxy: [String] = [],
        storeLimit: ByteCount? = nil
    ) {
        self.connections = connections
        self.attempts = attempts
        self.leastRate = leastRate
        self.leastRateOver = leastRateOver
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
        self.proxy = proxy
        self.withoutProxy = withoutProxy
        self.storeLimit = storeLimit
    }
}
