package import Base
import Radio

/// The host's Bluetooth through the BlueZ daemon: one for the whole process.
///
/// A shell: it passes messages from the bus to values (`ObjectMirror`, `AdapterMachine`,
/// `LinkMachine`, `RequestMachine`, `StationMachine`, `GuestBook`) and performs their actions, all
/// on the thread of the bus. Packets of links go through sockets that another thread reads.
/// Deadlines are moments of `EventLoop.now`.
package actor BlueZ {
    package nonisolated let loop: EventLoop
    nonisolated let packets: EventLoop
    nonisolated let settings: BlueZSettings
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    /// The preferred executor of tasks that exchange packets: the thread that reads them.
    package nonisolated var packetExecutor: any TaskExecutor { packets }

    let bus: Bus
    /// The current connection; nil before the first one and after a loss.
    var connection: Connection?
    /// The bus name of the process that owns `org.bluez`.
    var owner: String?
    /// The number of owners and connections so far: everything of an earlier one is lost.
    var generation = 0
    /// Whether the mirror contains the host's objects.
    var isLoaded = false
    /// The error of the last attempt to load them.
    var loadError: RadioError?
    var attachTurn = AttachQueue()
    var mirror = ObjectMirror()

    var lanes: [String: AdapterLane] = [:]
    var links: [UInt64: LinkBody] = [:]
    var stations: [UInt64: Station] = [:]
    var services: [UInt64: Service] = [:]
    /// Subscriptions that modules have accepted in this generation.
    var accepted: Set<SubscriptionClaim> = []
    /// Devices with calls to `AcquireNotify` that BlueZ has not answered, and how many.
    var unanswered: [ObjectPath: Int] = [:]
    /// Modules of which was noted that another program holds them, until they are free.
    var noted: Set<ObjectPath> = []
    var agent = AgentMachine()
    /// Whether our agent is exported on the current connection.
    var isAgentExported = false

    private var watchers: [UInt64: () -> Bool] = [:]
    private var lastID: UInt64 = 0

    /// The number of the host's objects in the mirror: it must not grow from link to link.
    package var objectCount: Int { mirror.objectCount }

    /// Opens no connection: the bus is connected to when the radio is first needed.
    package init(
        _ address: BusAddress,
        settings: BlueZSettings = BlueZSettings()
    ) throws(ThreadError) {
        loop = try EventLoop.start(name: "bus")
        do throws(ThreadError) {
            packets = try EventLoop.start(name: "packets")
        } catch {
            loop.stop()
            throw error
        }
        self.settings = settings
        bus = Bus(address, on: loop)
    }

    /// Ends links, scans and services, and stops the threads.
    ///
    /// The object must not be used afterwards.
    package nonisolated func close() async {
        await shutDown()
        packets.stop()
        loop.stop()
    }

    private func shutDown() async {
        for body in links.values { void(body) }
        // bluetoothd 5.82 crashes when the end of a client and the end of its sockets arrive
        // together, so it gets the time to handle the sockets first.
        if isLoaded { try? await hearAll() }
        generationEnded()
        await bus.close()
        connection = nil
    }

    nonisolated var now: Moment { EventLoop.now }

    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Calls to BlueZ

    /// Starts a call without waiting: it continues even if the task is cancelled.
    func startCall(
        _ call: MethodCall,
        completion: @escaping @Sendable (Result<[DBusValue], BusError>) -> Void = { _ in }
    ) {
        guard let connection else { return completion(.failure(.disconnected)) }
        // Both run on the loop's thread.
        connection.assumeIsolated { $0.start(call, completion: completion) }
    }

    static func refusal(of result: Result<[DBusValue], BusError>) -> BlueZRefusal? {
        switch result {
        case .success: nil
        case .failure(.refused(let reply)): BlueZRefusal(reply)
        case .failure(.disconnected), .failure(.unreachable): .serviceGone
        case .failure(.timedOut), .failure(.cancelled), .failure(.malformed),
            .failure(.unsendable):
            .failed
        }
    }

    static func radioError(_ error: BusError) -> RadioError {
        switch error {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .refused(let reply): reply.isAccessDenied ? .unauthorized : .serviceUnavailable
        case .unreachable, .disconnected, .malformed, .unsendable: .serviceUnavailable
        }
    }

    // MARK: Waiting for conditions

    /// Waits until `check` returns a result; it is called again after every change.
    func condition<T: Sendable>(
        within time: Duration,
        _ check: @escaping () -> Result<T, RadioError>?
    ) async throws(RadioError) -> T {
        if let outcome = check() { return try outcome.get() }
        let once = Once<T>()
        let id = newID()
        watchers[id] = {
            guard let outcome = check() else { return false }
            once.settle(outcome)
            return true
        }
        defer { watchers[id] = nil }
        return try await once.outcome(before: now.advanced(by: time), on: loop)
    }

    func runWatchers() {
        guard !watchers.isEmpty else { return }
        for id in watchers.keys.sorted() {
            if watchers[id]?() == true { watchers[id] = nil }
        }
    }
}

/// Admits one task at a time, in the order of arrival.
struct AttachQueue {
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
            // Tasks that gave up meanwhile are skipped.
            if queue.removeFirst().settle(.success(())) { return }
        }
        isTaken = false
    }
}
