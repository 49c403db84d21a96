package import Base
package import BlueZ
package import Simulation

/// A simulated world served as `org.bluez` on a bus, in real time.
///
/// Everything runs on one thread: that of the bus connection, which also drives the world.
package actor FakeBlueZ {
    package nonisolated let loop: EventLoop
    package nonisolated let address: BusAddress
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// The properties of the host.
    package struct Settings: Sendable {
        package var adapters = ["hci0"]
        package var linksPerAdapter = 7
        /// How many links an adapter keeps up; nil for all.
        package var steadyLinks: Int?
        package var host = HostPlan()
        package var seed: UInt64 = 1
        /// The world's time at the beginning.
        package var beginning = Moment(nanoseconds: 0)
        package var wallTime = WallTime(milliseconds: 0)
        /// The number of seconds in the world for each real second.
        package var pace = 1.0

        package init() {}
    }

    private let settings: Settings
    private let started = EventLoop.now
    private lazy var live = makeWorld()
    private lazy var daemon = Daemon(live.world, settings, on: loop, host: self)
    private var connection: Connection?
    /// True while the service should run: the name is requested again whenever the bus was lost.
    private var isWanted = false
    private var generation = 0
    /// For programs that cause faults; it stays open over restarts of the service.
    private var control: Connection?
    /// Running tasks: none may return to the thread after its end.
    private var errands: [Int: Task<Void, Never>] = [:]
    private var lastErrand = 0
    private var isClosed = false

    package init(_ address: BusAddress, _ settings: Settings = Settings()) throws(ThreadError) {
        self.address = address
        self.settings = settings
        loop = try EventLoop.start(name: "fake-bluez")
    }

    // MARK: The world

    private func makeWorld() -> LiveWorld {
        LiveWorld(
            seed: settings.seed,
            from: settings.beginning,
            wallTime: settings.wallTime
        ) { [weak self, loop] moment in
            guard let self else { return }
            let wait = self.assumeIsolated { max(.zero, $0.now.duration(to: moment)) }
            _ = loop.schedule(after: wait / settings.pace) { [weak self] in
                self?.assumeIsolated { $0.live.advance(to: $0.now) }
            }
        }
    }

    /// The world's current time.
    private var now: Moment {
        settings.beginning.advanced(by: started.duration(to: EventLoop.now) * settings.pace)
    }

    /// Lets `body` add things to the world, or change them.
    package func arrange<R: Sendable>(_ body: @Sendable (World) -> R) -> R {
        live.advance(to: now)
        defer { live.advance(to: now) }
        return body(live.world)
    }

    // MARK: Starting and stopping

    /// Returns when clients can use it.
    package func start() async throws(BusError) {
        isWanted = true
        try await open()
    }

    /// Disappears like a service that is stopped: links end, the name is free.
    package func stop() async {
        isWanted = false
        await leave()
    }

    private func closeControl() async {
        await control?.close()
        control = nil
    }

    /// Ends permanently.
    package nonisolated func close() async {
        await stop()
        await endErrands()
        // One of the tasks may have connected to the bus again.
        await stop()
        await closeControl()
        loop.stop()
    }

    /// Runs slow work in a task, which the end waits for; does nothing after the end.
    func run(_ errand: @escaping @Sendable (FakeBlueZ) async -> Void) {
        guard !isClosed else { return }
        lastErrand += 1
        let number = lastErrand
        errands[number] = Task {
            await errand(self)
            errands[number] = nil
        }
    }

    private func endErrands() async {
        isClosed = true
        while let errand = errands.values.first {
            // Its waits on the bus then fail immediately.
            errand.cancel()
            await errand.value
        }
    }

    private func open() async throws(BusError) {
        generation += 1
        let before = generation
        if await control?.isOpen != true { control = try await openControl() }
        let new = try await Connection.open(address, on: loop)
        guard before == generation else { return await new.close() }
        let rule = SignalRule(
            from: Bus.name,
            interface: Bus.name,
            member: "NameOwnerChanged",
            path: Bus.path
        )
        _ = try await new.observe(rule) { [weak self] message in
            guard message.body.count == 3, let name = message.body[0].asString,
                name.hasPrefix(":"), message.body[2].asString == ""
            else { return }
            self?.assumeIsolated { $0.act { $0.clientLeft(name) } }
        }
        connection = new
        act { $0.begin(on: new) }
        guard try await new.requestName("org.bluez") else {
            await leave()
            throw .refused(.failed("somebody else has the name org.bluez"))
        }
        await new.onLoss { [weak self] in
            self?.assumeIsolated { $0.lost(before) }
        }
    }

    private func leave() async {
        generation += 1
        act { $0.end() }
        await connection?.close()
        connection = nil
    }

    /// The bus was lost: connecting is tried until it is back.
    private func lost(_ before: Int) {
        guard before == generation, isWanted else { return }
        act { $0.end() }
        connection = nil
        comeBack(after: .milliseconds(250))
    }

    private func comeBack(after pause: Duration) {
        generation += 1
        let before = generation
        _ = loop.schedule(after: pause) { [weak self] in
            self?.assumeIsolated { $0.run { await $0.reopen(before) } }
        }
    }

    private func reopen(_ before: Int) async {
        guard before == generation, isWanted else { return }
        do throws(BusError) { try await open() } catch {
            guard isWanted else { return }
            comeBack(after: .milliseconds(250))
        }
    }

    /// The name is released and requested again, with a new state.
    private func restart(after pause: Duration) async {
        await leave()
        comeBack(after: pause)
    }

    /// How often the service has ended because of an error of its own.
    package private(set) var crashes = 0

    /// The service leaves the bus without a word, and is started again a moment later.
    func crash() {
        crashes += 1
        run { await $0.restart(after: .milliseconds(500)) }
    }

    // MARK: Calls from outside

    /// Uses the service at its current time, including all consequences.
    private func act<R>(_ body: (Daemon) -> R) -> R {
        live.advance(to: now)
        defer { live.advance(to: now) }
        return body(daemon)
    }

    func take(_ call: IncomingCall) { act { $0.take(call) } }

    func finish(_ ticket: Int, _ result: Result<[DBusValue], BusError>) {
        act { $0.finish(ticket, result) }
    }

    func heard(_ message: Message) { act { $0.heard(message) } }
    func ready(_ socket: Int) { act { $0.ready(socket) } }

    // MARK: Faults

    package func set(_ fault: HostFault) { act { $0.faults.add(fault) } }
    package func lift(_ kind: HostFault.Kind) { act { $0.faults.lift(kind) } }

    /// Causes an incident at the host now; false when its subject does not exist.
    @discardableResult
    package func cause(_ incident: HostIncident) async -> Bool {
        if case .restart(let pause) = incident {
            await restart(after: pause)
            return true
        }
        return act { $0.cause(incident) }
    }

    /// The faults that are set and not used up.
    package var faults: HostFaults { act { $0.faults } }

    /// How often each method was called, by its name.
    package var calls: [String: Int] { act { $0.calls } }

    package func count(_ member: String) -> Int { calls[member, default: 0] }

    package var figures: HostFigures { act { $0.figures } }
}

/// The numbers of objects at a host.
package struct HostFigures: Sendable, Equatable {
    package var devices = 0
    package var links = 0
    package var centrals = 0
    package var scans = 0
    package var advertisements = 0
    package var applications = 0
    package var sockets = 0
}
