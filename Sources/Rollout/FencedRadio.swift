package import Base
package import Radio

/// An adapter that touches a module only while the right to that module lasts.
///
/// A process that was suspended until after the end of its right resumes in the middle of an
/// exchange. It must not send what it was about to send: each use checks the right first, by the
/// run's own clock, and throws `cancelled` when the right is over.
package struct FencedCentral: Central {
    private let central: any Central
    private let fence: LeaseFence

    package init(central: any Central, fence: LeaseFence) {
        self.central = central
        self.fence = fence
    }

    package var adapter: String { central.adapter }

    package func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        // Scanning touches no module.
        try await central.withScan(filter, body)
    }

    package func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        try fence.pass()
        let link = try await central.connect(to: peer, policy, before: deadline)
        return FencedLink(link, fence)
    }

    package func forget(_ peer: Peer) async { await central.forget(peer) }
}

private final class FencedLink: PassingLink {
    let link: any Link
    private let fence: LeaseFence

    init(_ link: any Link, _ fence: LeaseFence) { (self.link, self.fence) = (link, fence) }

    func pass() throws(RadioError) { try fence.pass() }
}

/// An adapter that answers a vehicle's device only while the right to that device lasts.
struct FencedPeripheral: Peripheral {
    let peripheral: any Peripheral
    let fence: LeaseFence

    var adapter: String { peripheral.adapter }

    func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try fence.pass()
        let fence = fence
        return try await peripheral.withService(service) { published throws(RadioError) in
            try await body(FencedService(service: published, fence: fence))
        }
    }
}

private struct FencedService: PublishedService {
    let service: any PublishedService
    let fence: LeaseFence

    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink {
        try fence.pass()
        return FencedCentralLink(try await service.nextCentral(before: deadline), fence)
    }
}

private final class FencedCentralLink: CentralLink {
    private let link: any CentralLink
    private let fence: LeaseFence

    init(_ link: any CentralLink, _ fence: LeaseFence) { (self.link, self.fence) = (link, fence) }

    var maximumLength: Int { link.maximumLength }

    func notify(_ bytes: [UInt8]) async throws(RadioError) {
        try fence.pass()
        try await link.notify(bytes)
    }

    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await link.nextWrite(before: deadline)
    }

    func disconnect() async { await link.disconnect() }
}

extension LeaseFence {
    /// Throws when the right to the module is over.
    fileprivate func pass() throws(RadioError) {
        guard !isOver else { throw .cancelled }
    }
}
