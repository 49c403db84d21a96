import Base
package import Radio

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
            id: try await host.openService(service, on: adapter),
            host: host
        )
        do throws(RadioError) {
            let result = try await body(published)
            await host.closeService(published.id)
            return result
        } catch {
            await host.closeService(published.id)
            throw error
        }
    }
}

/// A published service, as the `Radio` room defines it.
private struct BlueZService: PublishedService {
    let id: UInt64
    let host: BlueZ

    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink {
        try await host.nextCentral(id, before: deadline)
    }
}

/// A central's link, as the `Radio` room defines it.
final class BlueZCentralLink: CentralLink {
    let visit: GuestBook.Visit
    let maximumLength: Int
    private let socket: PacketSocket
    private let mailbox: Mailbox<[UInt8]>
    private let host: BlueZ
    private let lost = Monitor(false)

    init(_ visit: GuestBook.Visit, _ body: VisitBody, host: BlueZ) {
        self.visit = visit
        maximumLength = body.socket.maximumLength
        socket = body.socket
        mailbox = body.mailbox
        self.host = host
    }

    func notify(_ bytes: [UInt8]) async throws(RadioError) {
        while true {
            if Task.isCancelled { throw .cancelled }
            if lost.withLock({ $0 }) { throw .linkLost }
            guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
            // An empty packet would be taken for the end of the socket, and carries no information
            // anyway.
            guard !bytes.isEmpty else { return }
            switch socket.trySend(bytes) {
            case .done: return
            case .gone: throw .linkLost
            case .full: try await socket.waitForRoom()
            }
        }
    }

    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await mailbox.next(before: deadline)
    }

    func disconnect() async { await host.disconnectCentral(self) }

    func markLost() { lost.withLock { $0 = true } }
}
