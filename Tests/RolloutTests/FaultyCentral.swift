import Base
import Families
import Radio
import Synchronization

/// A radio that fails at its n-th use, as when the host fails or our process ends.
final class FaultyCentral: Central {
    /// The event at the configured use.
    enum Fate: Sendable, CaseIterable {
        /// The adapter is pulled out: all its links are gone, and the next adapter is another one.
        case adapterLost
        /// The Bluetooth service restarts: links are gone, and the service is away for some
        /// seconds.
        case serviceRestarts
        /// Our process is killed, and its links end with it.
        case killed
        /// Our process is killed, and the kernel keeps its link until the peer ends it.
        case killedWithLinkUp

        var isDeath: Bool { self == .killed || self == .killedWithLinkUp }
    }

    private struct State {
        var uses = 0
        var fateAt: Int?
        var fate = Fate.killed
        var isOver = false
        var goneUntil: Moment?
        var adapter = 0
        var imageBytes = 0
        var links: [any Link] = []
        var forgotten = 0
        var isReleased = false
        var isEnded = false
        var graves: [CheckedContinuation<Void, Never>] = []
    }

    private let radios: [any Central]
    private let time: any Timekeeper
    private let state = Mutex(State())

    /// The second radio replaces the first one when that is lost.
    init(_ radios: [any Central], time: any Timekeeper) {
        self.radios = radios
        self.time = time
    }

    /// Sets the event, and the use at which it happens, counted from 1.
    func set(_ fate: Fate, at use: Int) {
        state.withLock { ($0.fate, $0.fateAt) = (fate, use) }
    }

    /// The number of uses so far.
    var uses: Int { state.withLock { $0.uses } }
    /// The number of image bytes that were sent, including repeated ones and init packets.
    var imageBytes: Int { state.withLock { $0.imageBytes } }
    /// How often the host was asked to forget the module.
    var forgotten: Int { state.withLock { $0.forgotten } }
    /// Whether the process is dead: its tasks hang until they are released.
    var isDead: Bool { state.withLock { $0.isOver && $0.fate.isDeath } }
    /// Whether nothing is left that could die, so that no task needs to wait for it.
    var isOver: Bool { state.withLock { $0.isEnded } }
    func end() { state.withLock { $0.isEnded = true } }
    /// Ends the links of a dead process, as the kernel does.
    func hangUp() async {
        for link in state.withLock({ $0.links }) { await link.disconnect() }
    }
    /// Lets the tasks of a dead process end, after its state was examined.
    func release() {
        let graves = state.withLock { state in
            state.isReleased = true
            defer { state.graves = [] }
            return state.graves
        }
        for grave in graves { grave.resume() }
    }

    var adapter: String { radios[0].adapter }

    private var radio: any Central { radios[state.withLock { min($0.adapter, radios.count - 1) }] }

    /// Counts a use, and causes the event when its number is reached.
    fileprivate func use(imageBytes: Int = 0) async throws(RadioError) {
        let struck: Fate? = state.withLock { state in
            state.uses += 1
            state.imageBytes += imageBytes
            guard !state.isOver, state.fateAt == state.uses else { return nil }
            state.isOver = true
            return state.fate
        }
        if let struck { await strike(struck) }
        let (isDead, gone, isReleased) = state.withLock { state in
            (
                state.isOver && state.fate.isDeath, state.goneUntil,
                state.isReleased
            )
        }
        if isDead, !isReleased {
            // Not even a cancellation reaches a dead process.
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    if !state.isReleased { state.graves.append(continuation) }
                    return state.isReleased
                }
                if isLate { continuation.resume() }
            }
        }
        if isDead { throw .adapterMissing }
        if let gone, gone > time.now { throw .serviceUnavailable }
        if struck == .adapterLost { throw .adapterMissing }
    }

    private func strike(_ fate: Fate) async {
        let links = state.withLock { state in
            switch fate {
            case .adapterLost: state.adapter += 1
            case .serviceRestarts: state.goneUntil = time.now.advanced(by: .seconds(7))
            case .killed, .killedWithLinkUp: break
            }
            return state.links
        }
        guard fate != .killedWithLinkUp else { return }
        for link in links { await link.disconnect() }
    }

    // MARK: Central

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await use()
        return try await radio.withScan(filter) { scan throws(RadioError) in
            try await body(FaultyScan(scan: scan, central: self))
        }
    }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        try await use()
        let link = try await radio.connect(to: peer, policy, before: deadline)
        state.withLock { $0.links = [link] }
        return FaultyLink(link: link, central: self)
    }

    func forget(_ peer: Peer) async {
        state.withLock { $0.forgotten += 1 }
        await radio.forget(peer)
    }
}

private struct FaultyScan: Scan {
    let scan: any Scan
    let central: FaultyCentral

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        try await central.use()
        return try await scan.next(before: deadline)
    }
}

private final class FaultyLink: Link {
    let link: any Link
    let central: FaultyCentral
    private let meter = Mutex(ImageMeter())

    init(link: any Link, central: FaultyCentral) {
        self.link = link
        self.central = central
    }

    var peer: Peer { link.peer }
    var maximumLength: Int { link.maximumLength }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        link.flags(of: characteristic)
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try await central.use()
        return try await link.read(characteristic, before: deadline)
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try await central.use()
        try await link.write(bytes, to: characteristic, before: deadline)
    }

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        let imageBytes = meter.withLock { $0.count(bytes, on: characteristic) }
        try await central.use(imageBytes: imageBytes)
        try await link.send(bytes, to: characteristic)
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        try await central.use()
        return FaultySubscription(
            subscription: try await link.subscribe(to: characteristic, before: deadline),
            central: central
        )
    }

    func disconnect() async {
        // A dead process does not end its link.
        if central.isDead { return }
        await link.disconnect()
    }
}

private struct FaultySubscription: Subscription {
    let subscription: any Subscription
    let central: FaultyCentral

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await central.use()
        return try await subscription.next(before: deadline)
    }
}

/// Counts the bytes of an image in the packets that are sent.
private struct ImageMeter {
    private var frames = SMPReassembly()
    /// The bytes that were counted for an incomplete message.
    private var counted = 0

    mutating func count(_ bytes: [UInt8], on characteristic: Characteristic) -> Int {
        switch characteristic {
        case DFUNumbers.packet: return bytes.count
        case SMPNumbers.characteristic: break
        default: return 0
        }
        guard let frame = frames.take(bytes) else {
            // All bytes are counted as image for now: a message that is never completed stays
            // counted like this.
            counted += bytes.count
            return bytes.count
        }
        defer { counted = 0 }
        guard frame.header.group == SMPNumbers.Group.image,
            frame.header.command == SMPNumbers.Image.upload,
            let body = try? CBORValue(cbor: frame.payload), let data = body["data"]?.bytes
        else { return -counted }
        return data.count - counted
    }
}
