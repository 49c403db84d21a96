import Base
import BlueZ
import Radio
import Simulation

/// The services that programs have registered at an adapter, and the centrals that connect to them.
final class Applications {
    private unowned let adapter: FakeAdapter
    private var registered: [Application] = []
    private var visits: [ObjectIdentifier: CentralVisit] = [:]
    /// Sockets of centrals that have disconnected and count as subscribed when they reconnect.
    var kept: [String: FakePacketSocket] = [:]
    private var isBeating = false

    /// A program's objects under one path, as they were read.
    private final class Application {
        let client: String
        let root: ObjectPath
        var publications: [HostPublication] = []
        var services: [ServedService] = []

        init(client: String, root: ObjectPath) {
            self.client = client
            self.root = root
        }
    }

    init(_ adapter: FakeAdapter) { self.adapter = adapter }

    private var daemon: Daemon { adapter.daemon }
    var count: Int { registered.count }
    var visitCount: Int { visits.count }

    // MARK: Calls

    func register(_ call: IncomingCall) {
        guard let root = call.arguments[0].asPath else { return call.fail(.invalidArguments) }
        guard !registered.contains(where: { $0.client == call.sender && $0.root == root }) else {
            return call.fail(.alreadyExists)
        }
        let application = Application(client: call.sender, root: root)
        registered.append(application)
        let ask = MethodCall(
            "GetManagedObjects",
            of: "org.freedesktop.DBus.ObjectManager",
            at: root,
            on: call.sender,
            patience: .seconds(10)
        )
        daemon.ask(ask) { [weak self] result in
            guard let self else { return call.fail(.bluezFailed("Failed")) }
            guard case .success(let values) = result, let tree = values.first,
                let services = ServedService.read(tree, of: call.sender), !services.isEmpty
            else {
                registered.removeAll { $0 === application }
                return call.fail(.bluezFailed("No object received"))
            }
            application.services = services
            publish(application)
            call.reply()
            refresh()
        }
    }

    func unregister(_ call: IncomingCall) {
        guard let root = call.arguments[0].asPath,
            let application = registered.first(where: {
                $0.client == call.sender && $0.root == root
            })
        else { return call.fail(.doesNotExist) }
        withdraw(application)
        call.reply()
    }

    func clientLeft(_ name: String) {
        for application in registered where application.client == name { withdraw(application) }
        for (central, socket) in kept where !socket.isOpen { kept[central] = nil }
    }

    /// The service ends, or the adapter is unplugged.
    func end() {
        for application in registered { withdraw(application) }
        for socket in kept.values { socket.close() }
        kept = [:]
    }

    func endVisits() { for visit in visits.values { visit.end() } }

    private func withdraw(_ application: Application) {
        registered.removeAll { $0 === application }
        for publication in application.publications { publication.withdraw() }
    }

    // MARK: The air

    private func publish(_ application: Application) {
        for service in application.services {
            guard let notify = service.notifying, let write = service.writable else { continue }
            let description = ServiceDescription(
                uuid: service.uuid,
                notify: notify.uuid,
                write: write.uuid
            )
            let publication = adapter.air.publish(description) { [weak self] visit in
                self?.arrived(visit, at: service)
            }
            application.publications.append(publication)
        }
    }

    /// Makes the air match the current advertisements.
    func refresh() {
        let advertised = adapter.advertising.services
        let isBlocked = adapter.hasLinks && daemon.faults.holds(.oneRole)
        var isWaiting = false
        for application in registered {
            for publication in application.publications {
                if advertised.contains(publication.service), !isBlocked {
                    publication.advertise()
                } else {
                    publication.stopAdvertising()
                }
                isWaiting = isWaiting || advertised.contains(publication.service)
            }
        }
        if isWaiting, !isBeating { beat() }
    }

    /// An advertisement is sent repeatedly, so that a central that looks for it later hears it too.
    private func beat() {
        isBeating = true
        daemon.after(.milliseconds(500)) { [weak self] in
            guard let self else { return }
            isBeating = false
            if visits.isEmpty { refresh() } else { beat() }
        }
    }

    private func arrived(_ visit: AirVisit, at service: ServedService) {
        guard let device = adapter.known(Self.address(of: visit.label)), !device.isConnected else {
            return visit.end()
        }
        let central = CentralVisit(visit, at: service, by: device, on: adapter)
        let id = ObjectIdentifier(central)
        visits[id] = central
        central.begin { [weak self] in
            self?.visits[id] = nil
        }
    }

    /// A random static address, derived from the central's name.
    private static func address(of label: String) -> String {
        var random = SplitMix64(
            seed: label.utf8.reduce(0xCBF2_9CE4_8422_2325) {
                ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
            }
        )
        var bytes = (0..<6).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes[0] = 0xC0 | bytes[0] & 0x3F
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }
}
