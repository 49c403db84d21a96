import Base
import Images
import Manifest

extension FetchSettings {
    /// The settings of a manifest's `fetch`; all others have their defaults.
    init(_ policy: FetchPolicy) {
        self.init()
        connections = policy.connections
        attempts = policy.attempts
        leastSpeed = policy.leastRate.bytes
        slowness = policy.leastRateOver
        authorities = policy.authorities?.path
        certificate = policy.certificate?.path
        key = policy.key?.path
        proxy = policy.proxy.flatMap { WebAddress($0, allowsHTTP: true) }
        if !policy.withoutProxy.isEmpty {
            withoutProxy = policy.withoutProxy.joined(separator: ",")
        }
    }
}
