package import Base
package import Radio

/// One adapter of the host as a central.
package struct BlueZCentral: Central {
    package let adapter: String
    private let host: BlueZ

    /// An adapter by its address, which stays the same when it is plugged in again, or by its name.
    package init(_ adapter: String, of host: BlueZ) {
        self.adapter = adapter
        self.host = host
    }

    package func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        let (id, mailbox) = try await host.beginScan(filter, on: adapter)
        do throws(RadioError) {
            let result = try await body(BlueZScan(mailbox: mailbox))
            await host.endScan(id, on: adapter)
            return result
        } catch {
            await host.endScan(id, on: adapter)
            throw error
        }
    }

    package func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        try await host.connect(peer, on: adapter, policy, before: deadline)
    }

    package func forget(_ peer: Peer) async { await host.forget(peer, on: adapter) }
}

/// A scan, as the `Radio` room defines it.
private struct BlueZScan: Scan {
    let mailbox: Mailbox<Advertisement>

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        try await mailbox.next(before: deadline)
    }
}
