import DBus
import Domain
import Radio
import Threads

/// A link as the seam has it: packets go straight into sockets, all else is asked of the actor.
final class BlueZLink: Link {
    let peer: Peer
    let maximumLength: Int
    let ticket: UInt64
    private let flags: [Characteristic: CharacteristicFlags]
    private let host: BlueZ
    private let state = Monitor(State())

    private struct State: Sendable {
        var sockets: [Characteristic: PacketSocket] = [:]
        var isLost = false
    }

    init(_ body: LinkBody, maximumLength: Int, host: BlueZ) {
        peer = Peer(handle: body.machine.address)
        ticket = body.ticket
        self.maximumLength = maximumLength
        flags = body.table.mapValues(\.flags)
        self.host = host
    }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        flags[characteristic]
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        _ = try socket(for: characteristic)
        return try await host.read(characteristic, of: self, before: deadline)
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        _ = try socket(for: characteristic)
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        try await host.write(bytes, to: characteristic, of: self, before: deadline)
    }

    /// Straight into the socket: a change of threads would cost more than the packet does.
    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        while true {
            let known = try socket(for: characteristic)
            guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
            // An empty packet would be taken for the end of the socket.
            guard !bytes.isEmpty, let socket = try await socket(known, for: characteristic) else {
                return try await host.command(bytes, to: characteristic, of: self)
            }
            switch socket.trySend(bytes) {
            case .done: return
            case .gone:
                // Perhaps it was only let go, for a request to the same characteristic.
                if let now = try self.socket(for: characteristic), now === socket {
                    throw .linkLost
                }
            case .full: try await socket.waitForRoom()
            }
        }
    }

    /// The socket that is there, or a new one; nil where there is none to have.
    private func socket(
        _ known: PacketSocket?,
        for characteristic: Characteristic
    ) async throws(RadioError) -> PacketSocket? {
        if let known { return known }
        guard let fresh = try await host.writer(for: characteristic, of: self) else { return nil }
        keep(fresh, for: characteristic)
        return fresh
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        _ = try socket(for: characteristic)
        return BlueZSubscription(
            mailbox: try await host.subscribe(to: characteristic, of: self, before: deadline)
        )
    }

    func disconnect() async { await host.disconnect(self) }

    /// The socket there is, on a link that stands.
    private func socket(for characteristic: Characteristic) throws(RadioError) -> PacketSocket? {
        if Task.isCancelled { throw .cancelled }
        let (isLost, socket) = state.withLock { ($0.isLost, $0.sockets[characteristic]) }
        if isLost { throw .linkLost }
        return socket
    }

    // MARK: For the actor

    func keep(_ socket: PacketSocket, for characteristic: Characteristic) {
        state.withLock { if !$0.isLost { $0.sockets[characteristic] = socket } }
    }

    func drop(_ characteristic: Characteristic) {
        state.withLock { _ = $0.sockets.removeValue(forKey: characteristic) }
    }

    func markLost() {
        state.withLock {
            $0.isLost = true
            $0.sockets = [:]
        }
    }
}

/// A subscription as the seam has it.
struct BlueZSubscription: Subscription {
    let mailbox: Mailbox<[UInt8]>

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await mailbox.next(before: deadline)
    }
}
