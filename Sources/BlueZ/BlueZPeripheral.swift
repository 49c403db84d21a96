import Domain
package import Radio
import Threads

/// One adapter of the host as a peripheral.
package struct BlueZPeripheral: Peripheral {
    package let adapter: String
    private let host: BlueZ

    package init(_ adapter: String, of host: BlueZ) {
        self.adapter = adapter
        self.host = host
    }

    package func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        let published = BlueZService(
            id: try await host.openStage(service, on: adapter),
            host: host
        )
        do throws(RadioError) {
            let result = try await body(published)
            await host.closeStage(published.id)
            return result
        } catch {
            await host.closeStage(published.id)
            throw error
        }
    }
}

/// A service on the air, as the seam has it.
struct BlueZService: PublishedService {
    let id: ObjectIdentifier
    let host: BlueZ

    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink {
        try await host.nextCentral(id, before: deadline)
    }
}

/// A central's link, as the seam has it.
final class BlueZCentralLink: CentralLink {
    let maximumLength: Int
    private let notifySocket: PacketSocket
    private let mailbox: Mailbox<[UInt8]>
    private let host: BlueZ
    let id: ObjectIdentifier
    private let lost = Monitor(false)

    init(_ central: CentralState, host: BlueZ) {
        maximumLength = central.notify.maximumLength
        notifySocket = central.notify
        mailbox = central.mailbox
        id = ObjectIdentifier(central)
        self.host = host
    }

    func notify(_ bytes: [UInt8]) async throws(RadioError) {
        if Task.isCancelled { throw .cancelled }
        if lost.withLock({ $0 }) { throw .linkLost }
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        // An empty packet would be taken for the end of the socket, and tells nothing anyway.
        guard !bytes.isEmpty else { return }
        while true {
            switch notifySocket.trySend(bytes) {
            case .done: return
            case .gone: throw .linkLost
            case .full: try await notifySocket.waitForRoom()
            }
            if Task.isCancelled { throw .cancelled }
        }
    }

    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await mailbox.next(within: host.time.now.duration(to: deadline))
    }

    func disconnect() async { await host.disconnectCentral(id) }

    func markLost() { lost.withLock { $0 = true } }
}
