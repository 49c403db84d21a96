import Base
import Radio

/// A link, as the `Radio` room defines it: packets go directly into sockets, everything else
/// through the actor.
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

    /// Sends directly into the socket: a change of threads would cost more than the packet.
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
                // The socket may have been released for a request to the same characteristic.
                if let now = try self.socket(for: characteristic), now === socket {
                    throw .linkLost
                }
            case .full: try await socket.waitForRoom()
            }
        }
    }

    /// The current socket, or a new one; nil where none is available.
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
            mailbox: try await host.subscribe(to: characteristic, of: self, before: deadline),
            characteristic: characteristic,
            link: self
        )
    }

    func disconnect() async { await host.disconnect(self) }

    /// The current socket; throws when the link is lost.
    fileprivate func socket(
        for characteristic: Characteristic
    ) throws(RadioError) -> PacketSocket? {
        if Task.isCancelled { throw .cancelled }
        let (isLost, socket) = state.withLock { ($0.isLost, $0.sockets[characteristic]) }
        if isLost { throw .linkLost }
        return socket
    }

    // MARK: Calls of the actor

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

/// A subscription, as the `Radio` room defines it.
struct BlueZSubscription: Subscription {
    let mailbox: Mailbox<[UInt8]>
    let characteristic: Characteristic
    let link: BlueZLink

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await mailbox.next(before: deadline)
    }

    func next(
        before deadline: Moment,
        _ listener: @escaping Listener
    ) async throws(RadioError) {
        let (socket, length) = (try link.socket(for: characteristic), link.maximumLength)
        try await mailbox.next(before: deadline) { value in
            listener(value) { packet in
                !packet.isEmpty && packet.count <= length && socket?.trySend(packet) == .done
            }
        }
    }
}
