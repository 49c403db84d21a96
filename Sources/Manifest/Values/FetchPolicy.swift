package import Domain

/// How images come over the network.
package struct FetchPolicy: Sendable, Hashable {
    package let connections: Int
    package let attempts: Int
    /// Bytes a second; a server that gives fewer over `leastRateOver` is too slow.
    package let leastRate: ByteCount
    package let leastRateOver: Duration
    /// Certificates to trust in place of the system's.
    package let authorities: FileReference?
    package let certificate: FileReference?
    package let key: FileReference?
    /// The address of the proxy, nil for the environment's.
    package let proxy: String?
    /// Hosts that are reached without one.
    package let withoutProxy: [String]
    /// How much the store may hold; nil for as much as the disk takes.
    package let storeLimit: ByteCount?

    package init(
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
