import DBus
import Domain
import Radio
import Threads

/// One link to a module and all that belongs to it; touched by the actor `BlueZ` only.
///
/// Nothing of it outlives the link: the next one finds everything afresh.
final class LinkState {
    let device: ObjectPath
    let adapter: ObjectPath
    let address: String
    let word: String
    let generation: Int
    let table: [Characteristic: CharacteristicRecord]
    /// The face of it that callers hold.
    weak var link: BlueZLink?
    var isLost = false
    /// What waits for an answer of the module, told when the link is lost.
    var pending: [UInt64: Once<[DBusValue]>] = [:]
    /// One request at a time for each characteristic.
    var turns: [ObjectPath: Turn] = [:]
    var writers: [ObjectPath: PacketSocket] = [:]
    var readers: [ObjectPath: PacketSocket] = [:]
    var mailboxes: [ObjectPath: Mailbox<[UInt8]>] = [:]
    /// Those whose notifications come by signals.
    var signalled: Set<ObjectPath> = []

    init(
        device: DeviceRecord,
        adapter: AdapterRecord,
        word: String,
        generation: Int,
        table: [Characteristic: CharacteristicRecord]
    ) {
        self.device = device.path
        self.adapter = adapter.path
        address = device.address
        self.word = word
        self.generation = generation
        self.table = table
    }
}

/// A link as the seam has it.
final class BlueZLink: Link {
    let peer: Peer
    let maximumLength: Int
    private let device: ObjectPath
    private let generation: Int
    private let flags: [Characteristic: CharacteristicFlags]
    private let host: BlueZ
    private let sockets = Monitor<[Characteristic: PacketSocket]>([:])
    private let lost = Monitor(false)

    init(_ state: LinkState, maximumLength: Int, host: BlueZ) {
        peer = Peer(handle: state.address)
        device = state.device
        generation = state.generation
        self.maximumLength = maximumLength
        flags = state.table.mapValues(\.flags)
        self.host = host
    }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        flags[characteristic]
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try check()
        return try await host.read(characteristic, of: self, before: deadline)
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try check()
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        try await host.write(bytes, to: characteristic, of: self, before: deadline)
    }

    /// Straight into the socket: a change of threads would cost more than the packet does.
    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        try check()
        guard bytes.count <= maximumLength else { throw .tooLong(limit: maximumLength) }
        if let socket = sockets.withLock({ $0[characteristic] }) {
            // An empty packet would be taken for the end of the socket.
            guard !bytes.isEmpty else {
                return try await host.command(bytes, to: characteristic, of: self)
            }
            while true {
                switch socket.trySend(bytes) {
                case .done: return
                case .gone: throw .linkLost
                case .full: try await socket.waitForRoom()
                }
                if Task.isCancelled { throw .cancelled }
            }
        }
        if let socket = try await host.writer(for: characteristic, of: self) {
            sockets.withLock { $0[characteristic] = socket }
            return try await send(bytes, to: characteristic)
        }
        try await host.command(bytes, to: characteristic, of: self)
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        try check()
        let mailbox = try await host.subscribe(to: characteristic, of: self, before: deadline)
        return BlueZSubscription(mailbox: mailbox, time: host.time)
    }

    func disconnect() async { await host.disconnect(self) }

    // MARK: For the actor

    func isOf(_ state: LinkState) -> Bool { state.link === self }
    var place: ObjectPath { device }

    func keep(_ socket: PacketSocket, for characteristic: Characteristic) {
        sockets.withLock { $0[characteristic] = socket }
    }

    func drop(_ characteristic: Characteristic) {
        sockets.withLock { _ = $0.removeValue(forKey: characteristic) }
    }

    func markLost() {
        lost.withLock { $0 = true }
        sockets.withLock { $0 = [:] }
    }

    private func check() throws(RadioError) {
        if Task.isCancelled { throw .cancelled }
        if lost.withLock({ $0 }) { throw .linkLost }
    }
}

/// A subscription as the seam has it.
struct BlueZSubscription: Subscription {
    let mailbox: Mailbox<[UInt8]>
    let time: any Timekeeper

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await mailbox.next(within: time.now.duration(to: deadline))
    }
}
