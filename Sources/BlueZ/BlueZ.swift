package import DBus
package import Domain
import Radio
package import Threads

/// The host's Bluetooth, by way of the BlueZ daemon: one for the whole process.
///
/// Everything is decided on the thread of the bus, in one step each; packets of links go over
/// sockets that another thread reads.
package actor BlueZ {
    package nonisolated let loop: EventLoop
    nonisolated let packets: EventLoop
    nonisolated let time: any Timekeeper
    nonisolated let settings: BlueZSettings
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    let bus: Bus
    /// The connection in use; nil before the first and after a loss.
    var connection: Connection?
    /// Who has the name `org.bluez`.
    var owner: String?
    /// Counts owners and connections: what belongs to an earlier one is lost.
    private(set) var generation = 0
    private var isLoaded = false
    private var attachTurn = Turn()
    /// How much of the host's tree is held here: it must not grow from link to link.
    package var objectCount: Int { mirror.objectCount }
    var mirror = ObjectMirror()

    var lanes: [String: AdapterLane] = [:]
    var links: [ObjectPath: LinkState] = [:]
    var stages: [ObjectIdentifier: Stage] = [:]

    private var watchers: [UInt64: () -> Bool] = [:]
    private var lastID: UInt64 = 0

    /// Opens nothing yet: the bus is connected to when the radio is first needed.
    package init(
        _ address: BusAddress,
        settings: BlueZSettings = BlueZSettings(),
        time: any Timekeeper
    ) throws(ThreadError) {
        loop = try EventLoop.start(name: "bus")
        do throws(ThreadError) {
            packets = try EventLoop.start(name: "packets")
        } catch {
            loop.stop()
            throw error
        }
        self.time = time
        self.settings = settings
        bus = Bus(address, on: loop)
    }

    /// Ends links, scans and services, and the threads.
    ///
    /// Nothing may be asked afterwards.
    package nonisolated func close() async {
        await shutDown()
        packets.stop()
        loop.stop()
    }

    private func shutDown() async {
        for link in links.values { release(link) }
        // bluetoothd 5.82 dies when a client's end and that of its sockets come as one: it is left
        // the time to see to the sockets.
        if isLoaded { try? await hearAll() }
        generationEnded()
        for lane in lanes.values { lane.watchdog?.cancel() }
        await bus.close()
        connection = nil
    }

    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func remaining(until deadline: Moment) -> Duration { time.now.duration(to: deadline) }

    // MARK: Attaching

    /// Returns when BlueZ is there and its objects are known.
    func ready() async throws(RadioError) {
        if isLoaded, owner != nil, connection != nil { return }
        if let place = attachTurn.take() { try await place.outcome(within: .seconds(30), on: loop) }
        defer { attachTurn.leave() }
        do throws(BusError) {
            if let connection, await connection.isOpen {} else { try await attach() }
            if owner == nil { try await awaitOwner() }
            if !isLoaded { try await load() }
        } catch { throw Self.radioError(error) }
        if owner == nil { throw .serviceUnavailable }
    }

    private func attach() async throws(BusError) {
        let new = try await bus.connection()
        generationEnded()
        connection = new
        let generation = generation
        await new.onLoss { [weak self] in
            self?.assumeIsolated { $0.connectionLost(generation) }
        }
        let take: @Sendable (Message) -> Void = { [weak self] message in
            self?.assumeIsolated { $0.take(message, generation) }
        }
        // The rules first, then the tree: nothing can fall in between.
        _ = try await new.observe(
            SignalRule(from: BlueZName.service, interface: BlueZName.objectManager),
            take
        )
        _ = try await new.observe(
            SignalRule(
                from: BlueZName.service,
                interface: BlueZName.properties,
                member: "PropertiesChanged",
                pathNamespace: ObjectPath("/org/bluez")
            ),
            take
        )
        let (_, owner) = try await new.observeOwner(of: BlueZName.service) { [weak self] owner in
            self?.assumeIsolated { $0.ownerChanged(to: owner) }
        }
        self.owner = owner
    }

    private func awaitOwner() async throws(BusError) {
        do throws(RadioError) {
            try await condition(within: settings.servicePatience) {
                self.owner == nil ? nil : .success(())
            }
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            default: throw .refused(ErrorReply("org.freedesktop.DBus.Error.NameHasNoOwner"))
            }
        }
    }

    private func load() async throws(BusError) {
        guard let connection else { throw .disconnected }
        let before = generation
        let values = try await connection.call(
            MethodCall(
                "GetManagedObjects",
                of: BlueZName.objectManager,
                at: .root,
                on: BlueZName.service,
                patience: .seconds(15)
            ),
            answering: BlueZName.tree
        )
        guard before == generation else { throw .disconnected }
        mirror.load(values[0])
        isLoaded = true
    }

    private func connectionLost(_ generation: Int) {
        guard connection != nil, generation == self.generation else { return }
        generationEnded()
        connection = nil
        owner = nil
    }

    private func ownerChanged(to new: String?) {
        guard new != owner else { return }
        generationEnded()
        owner = new
        runWatchers()
    }

    /// All that BlueZ gave us is void: links, sockets, scans, services.
    private func generationEnded() {
        generation += 1
        isLoaded = false
        mirror = ObjectMirror()
        for link in links.values { lose(link) }
        for lane in lanes.values { lane.ended(.serviceUnavailable) }
        for stage in stages.values { stage.ended() }

        runWatchers()
    }

    static func radioError(_ error: BusError) -> RadioError {
        switch error {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .refused(let reply): reply.isAccessDenied ? .unauthorized : .serviceUnavailable
        case .unreachable, .disconnected, .malformed, .unsendable: .serviceUnavailable
        }
    }

    // MARK: Following BlueZ

    private func take(_ message: Message, _ generation: Int) {
        let body = message.body
        switch (message.member, message.signature) {
        case ("PropertiesChanged", "sa{sv}as"):
            guard let path = message.path, let interface = body[0].asString,
                let changed = body[1].asProperties, let gone = body[2].asStrings
            else { return }
            handle(mirror.change(path, interface, changed, gone: gone))
        case ("InterfacesAdded", "oa{sa{sv}}"):
            guard let path = body[0].asPath else { return }
            for change in mirror.add(path, body[1]) { handle(change) }
        case ("InterfacesRemoved", "oas"):
            guard let path = body[0].asPath, let names = body[1].asStrings else { return }
            for change in mirror.remove(path, names) { handle(change) }
        default: return
        }
    }

    private func handle(_ change: ObjectMirror.Change) {
        switch change {
        case .device(let path, let isHeard):
            if isHeard { heard(path) }
            if let link = links[path] { examine(link) }
            if !isHeard { for stage in stages.values { examine(stage) } }

        case .adapter, .gone:
            for link in links.values { examine(link) }
            for lane in lanes.values { examine(lane) }
            for stage in stages.values { examine(stage) }

        case .value(let path, let bytes):
            notified(path, bytes)
        case .other: return
        }
        runWatchers()
    }

    // MARK: Calling BlueZ

    /// Calls without holding up the task: seen through also when that is cancelled.
    func startCall(
        _ call: MethodCall,
        completion: @escaping @Sendable (Result<[DBusValue], BusError>) -> Void
    ) {
        guard let connection else { return completion(.failure(.disconnected)) }
        // Both live on the loop's thread.
        connection.assumeIsolated { $0.start(call, completion: completion) }
    }

    // MARK: Waiting for facts

    /// Waits until `check` has something to say; asked again after every change.
    func condition<T: Sendable>(
        within time: Duration,
        _ check: @escaping () -> Result<T, RadioError>?
    ) async throws(RadioError) -> T {
        if let outcome = check() { return try outcome.get() }
        let once = Once<T>()
        let id = addWatcher {
            guard let outcome = check() else { return false }
            once.settle(outcome)
            return true
        }
        defer { removeWatcher(id) }
        return try await once.outcome(within: max(.zero, time), on: loop)
    }

    /// Asks `check` after every change, until it says true or is removed.
    func addWatcher(_ check: @escaping () -> Bool) -> UInt64 {
        let id = newID()
        watchers[id] = check
        return id
    }

    func removeWatcher(_ id: UInt64) { watchers[id] = nil }

    func runWatchers() {
        guard !watchers.isEmpty else { return }
        for id in watchers.keys.sorted() {
            if watchers[id]?() == true { watchers[id] = nil }
        }
    }

    /// Returns when all that BlueZ has told by now is heard.
    func hearAll() async throws(RadioError) {
        let fence = Once<Void>()
        // Not a ping, which the daemon's library answers by itself: before an answer of its own
        // the daemon sends what it has put off.
        let call = MethodCall(
            "Introspect",
            of: "org.freedesktop.DBus.Introspectable",
            at: .root,
            on: BlueZName.service
        )
        // Any answer will do: it comes after the signals that were sent before it.
        startCall(call) { _ in fence.settle(.success(())) }
        try await fence.outcome(within: .seconds(6), on: loop)
    }

    /// The adapter that an operator's word means, switched on.
    ///
    /// Before it is said to be off or gone, all that BlueZ has told by now is heard.
    func adapter(_ word: String) async throws(RadioError) -> AdapterRecord {
        if let adapter = mirror.adapter(called: word), adapter.isPowered { return adapter }
        try await hearAll()
        guard let adapter = mirror.adapter(called: word) else { throw .adapterMissing }
        guard adapter.isPowered else { throw .adapterOff }
        return adapter
    }
}

/// Lets one in at a time, in the order in which they came.
struct Turn {
    private var isTaken = false
    private var queue: [Once<Void>] = []

    mutating func take() -> Once<Void>? {
        guard isTaken else {
            isTaken = true
            return nil
        }
        let place = Once<Void>()
        queue.append(place)
        return place
    }

    mutating func leave() {
        while !queue.isEmpty {
            // Those who gave up meanwhile are passed over.
            if queue.removeFirst().settle(.success(())) { return }
        }
        isTaken = false
    }
}
