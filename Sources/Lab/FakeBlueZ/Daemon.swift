import Base
import BlueZ
import Radio
import Simulation

/// An object with a path that answers calls.
protocol ServedObject: AnyObject {
    var path: ObjectPath { get }
    func called(_ call: IncomingCall)
}

/// The service itself: its objects, its clients, and the faults to simulate.
///
/// It runs on the thread of its loop, like everything that it owns.
final class Daemon {
    let world: World
    let settings: FakeBlueZ.Settings
    let loop: EventLoop
    private weak var host: FakeBlueZ?
    private var connection: Connection?
    private var objects: [ObjectPath: any ServedObject] = [:]
    private var tickets: [Int: (Result<[DBusValue], BusError>) -> Void] = [:]
    private var sockets: [Int: FakePacketSocket] = [:]
    private var observers: [Connection.ObserverID: (Message) -> Void] = [:]
    private var nextNumber = 0
    /// Changes with every start: work that was begun before has no effect.
    private(set) var generation = 0

    private(set) var adapters: [FakeAdapter] = []
    private var agents: Agents?
    var faults: HostFaults
    var calls: [String: Int] = [:]

    init(
        _ world: World,
        _ settings: FakeBlueZ.Settings,
        on loop: EventLoop,
        host: FakeBlueZ
    ) {
        self.world = world
        self.settings = settings
        self.loop = loop
        self.host = host
        faults = HostFaults(settings.host.faults)
        for (index, name) in settings.adapters.enumerated() {
            let air = HostAdapter(
                name,
                linkLimit: settings.linksPerAdapter,
                steadyLinks: settings.steadyLinks,
                in: world
            )
            adapters.append(FakeAdapter(air, index: index, of: self))
        }
    }

    // MARK: Starting and ending

    func begin(on connection: Connection) {
        generation += 1
        self.connection = connection
        connection.assumeIsolated { $0.exportManager(at: .root) }
        let agents = Agents(self)
        self.agents = agents
        serve(agents, [(Interfaces.agentManager, [:]), (Interfaces.profileManager, [:])])
        for adapter in adapters where adapter.isPlugged { adapter.appear() }
    }

    /// All its state is lost, except what it keeps on disk.
    func end() {
        generation += 1
        for adapter in adapters { adapter.end() }
        for socket in sockets.values { socket.close() }
        sockets = [:]
        objects = [:]
        observers = [:]
        agents = nil
        connection = nil
        let waiting = tickets.sorted { $0.key < $1.key }
        tickets = [:]
        for (_, done) in waiting { done(.failure(.disconnected)) }
    }

    /// The service uses memory that it has freed: it ends a moment later.
    func crash() { host?.assumeIsolated { $0.crash() } }

    func number() -> Int {
        nextNumber += 1
        return nextNumber
    }

    /// Runs `body` later, unless the service was restarted meanwhile.
    func after(_ time: Duration, _ body: @escaping () -> Void) {
        let before = generation
        world.after(time) { [weak self] in
            guard let self, generation == before else { return }
            body()
        }
    }

    // MARK: Objects

    func serve(
        _ object: any ServedObject,
        _ interfaces: [(InterfaceDescription, [String: DBusValue])]
    ) {
        guard let connection, objects[object.path] == nil else { return }
        let path = object.path
        objects[path] = object
        let host = host
        let handler: @Sendable (IncomingCall) -> Void = { [weak host] call in
            host?.assumeIsolated { $0.take(call) }
        }
        connection.assumeIsolated { connection in
            for (description, properties) in interfaces {
                connection.export(description, at: path, properties: properties, handler)
            }
            // These values are our own, so they can be sent.
            try? connection.announce(path)
        }
    }

    func withdraw(_ path: ObjectPath) {
        guard objects.removeValue(forKey: path) != nil else { return }
        connection?.assumeIsolated { try? $0.withdraw(path) }
    }

    func update(
        _ values: [String: DBusValue],
        removed: [String] = [],
        of interface: InterfaceDescription,
        at path: ObjectPath
    ) {
        let name = interface.name
        connection?.assumeIsolated {
            _ = try? $0.update(values, removed: removed, of: name, at: path)
        }
    }

    func property(
        _ name: String,
        of interface: InterfaceDescription,
        at path: ObjectPath
    ) -> DBusValue? {
        let interface = interface.name
        return connection?.assumeIsolated { $0.exported(interface, at: path)?[name] }
    }

    func take(_ call: IncomingCall) {
        calls[call.member, default: 0] += 1
        guard faults.happens(.accessDenied) == nil else { return call.fail(.accessDenied) }
        guard let object = objects[call.path] else { return call.fail(.unknownObject(call.path)) }
        object.called(call)
    }

    // MARK: Calls to clients

    func ask(
        _ call: MethodCall,
        _ done: @escaping (Result<[DBusValue], BusError>) -> Void
    ) {
        guard let connection else { return done(.failure(.disconnected)) }
        let ticket = number()
        tickets[ticket] = done
        let host = host
        connection.assumeIsolated {
            $0.start(call) { [weak host] result in
                host?.assumeIsolated { $0.finish(ticket, result) }
            }
        }
    }

    func finish(_ ticket: Int, _ result: Result<[DBusValue], BusError>) {
        tickets.removeValue(forKey: ticket)?(result)
    }

    /// Observes the signals of a client.
    func observe(
        _ rule: SignalRule,
        _ heard: @escaping (Message) -> Void
    ) -> Connection.ObserverID? {
        let host = host
        let id = connection?.assumeIsolated {
            $0.observeSoon(rule) { [weak host] message in
                host?.assumeIsolated { $0.heard(message) }
            }
        }
        guard let id = id ?? nil else { return nil }
        observers[id] = heard
        return id
    }

    func unobserve(_ id: Connection.ObserverID) {
        observers[id] = nil
        connection?.assumeIsolated { $0.unobserve(id) }
    }

    func heard(_ message: Message) {
        for heard in observers.values { heard(message) }
    }

    func clientLeft(_ name: String) {
        agents?.clientLeft(name)
        for adapter in adapters { adapter.clientLeft(name) }
    }

    /// The agent of a client, or, without a client, the default agent; nil without any agent.
    func agent(of client: String? = nil) -> Agents.Agent? { agents?.agent(of: client) }

    /// Sends a request to an agent.
    func ask(
        _ agent: Agents.Agent,
        _ member: String,
        _ arguments: [DBusValue],
        _ done: @escaping ([DBusValue]?) -> Void
    ) {
        let call = MethodCall(
            member,
            of: "org.bluez.Agent1",
            at: agent.path,
            on: agent.client,
            arguments,
            patience: .seconds(60)
        )
        ask(call) { done(try? $0.get()) }
    }

    // MARK: Sockets

    /// Owns our end of a socket pair; `packet` is called with nil when the other end is closed.
    func open(
        _ descriptor: UnixDescriptor,
        _ packet: @escaping ([UInt8]?) -> Void
    ) -> FakePacketSocket? {
        guard let descriptor = descriptor.take() else { return nil }
        let id = number()
        let (loop, host) = (loop, host)
        let watch = loop.watch(descriptor, for: .reading) { [weak host] _ in
            host?.assumeIsolated { $0.ready(id) }
        }
        let socket = FakePacketSocket(descriptor, watch, loop) { [weak self] in
            self?.sockets[id] = nil
        } packet: {
            packet($0)
        }
        sockets[id] = socket
        return socket
    }

    func ready(_ socket: Int) {
        guard faults.holds(.drainsSockets) else { sockets[socket]?.read(); return }
        while sockets[socket]?.read() == true {}
    }

    // MARK: Incidents at the host

    var figures: HostFigures {
        var figures = HostFigures()
        for adapter in adapters { adapter.count(into: &figures) }
        figures.sockets = sockets.count
        return figures
    }

    func cause(_ incident: HostIncident) -> Bool {
        switch incident {
        case .power(let name, let on): withAdapter(name) { $0.power(on) }
        case .block(let name, let on): withAdapter(name) { $0.block(on) }
        case .unplug(let name): withAdapter(name) { $0.unplug() }
        case .plugIn(let name, let new): withAdapter(name) { $0.plugIn(as: new) }
        case .linkLimit(let name, let links): withAdapter(name) { $0.air.linkLimit = links }
        case .releaseAdvertisements(let name): withAdapter(name) { $0.advertising.releaseAll() }
        case .centralLeaves(let name): withAdapter(name) { $0.applications.endVisits() }
        case .connectElsewhere(let module): withDevice(module) { $0.connectForSomebody() }
        case .linkLost(let module): withDevice(module) { $0.link?.end() }
        case .dropDevice(let module): withDevice(module) { $0.adapter.remove($0) }
        case .newAddress(let module): rename(module)
        case .bondsLost(let module): loseBonds(module)
        case .restart: false
        }
    }

    private func withAdapter(_ name: String, _ body: (FakeAdapter) -> Void) -> Bool {
        guard let adapter = adapters.first(where: { $0.air.name == name }) else { return false }
        body(adapter)
        return true
    }

    private func withDevice(_ module: String, _ body: (FakeDevice) -> Void) -> Bool {
        let found = adapters.flatMap { adapter in
            adapter.devices.values.filter { $0.names.contains(module) }
        }.sorted { $0.path < $1.path }
        for device in found { body(device) }
        return !found.isEmpty
    }

    private func loseBonds(_ module: String) -> Bool {
        let address = world.address(of: module) ?? module
        guard let security = world.device(named: address)?.security else { return false }
        security.forget()
        return true
    }

    private func rename(_ module: String) -> Bool {
        var done = false
        for adapter in adapters { done = adapter.addresses.renew(module) || done }
        return done
    }
}
