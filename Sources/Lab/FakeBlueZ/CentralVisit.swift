import Base
import BlueZ
import Simulation

/// A central at a program's service: its requests are passed to the program, over the bus.
final class CentralVisit {
    private let visit: AirVisit
    private let service: ServedService
    private let device: FakeDevice
    private unowned let adapter: FakeAdapter
    private var notifySocket: FakePacketSocket?
    private var writeSocket: FakePacketSocket?
    private var observer: Connection.ObserverID?
    private var isListening = false
    /// Writes in the order in which the central made them; one at a time is passed on.
    private var writes: [[UInt8]] = []
    private var isWriting = false
    private var triedSocket = false
    private var onEnd: () -> Void = {}

    init(
        _ visit: AirVisit,
        at service: ServedService,
        by device: FakeDevice,
        on adapter: FakeAdapter
    ) {
        self.visit = visit
        self.service = service
        self.device = device
        self.adapter = adapter
    }

    private var daemon: Daemon { adapter.daemon }

    func begin(_ onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        device.onDisconnect = { [weak self] in self?.visit.end() }
        visit.onEnd = { [self] in ended() }
        device.arrived()
        visit.onWrite = { [weak self] in self?.wrote($0) }
        guard daemon.faults.happens(.centralPairs) != nil else { return subscribe() }
        // Without an agent the service refuses, and the central disconnects.
        guard let agent = daemon.agent() else { return visit.end() }
        daemon.ask(agent, "RequestAuthorization", [.objectPath(device.path)]) {
            [weak self] answer in
            guard let self else { return }
            guard answer != nil else { return visit.end() }
            device.paired()
            subscribe()
        }
    }

    func end() { visit.end() }

    private func ended() {
        device.onDisconnect = nil
        if let observer { daemon.unobserve(observer) }
        if isListening { call("StopNotify", service.notifying, []) { _ in } }
        if daemon.faults.holds(.remembersSubscription), let notifySocket, notifySocket.isOpen {
            adapter.applications.kept[visit.label] = notifySocket
        } else {
            notifySocket?.close()
        }
        writeSocket?.close()
        device.lost()
        onEnd()
        onEnd = {}
    }

    private func call(
        _ member: String,
        _ attribute: ServedService.Attribute?,
        _ arguments: [DBusValue],
        _ done: @escaping (Result<[DBusValue], BusError>) -> Void
    ) {
        guard let attribute else { return done(.failure(.disconnected)) }
        let call = MethodCall(
            member,
            of: "org.bluez.GattCharacteristic1",
            at: attribute.path,
            on: service.client,
            arguments,
            patience: .seconds(10)
        )
        daemon.ask(call, done)
    }

    private func options(_ more: [String: DBusValue] = [:]) -> DBusValue {
        let values: [String: DBusValue] = [
            "device": .objectPath(device.path), "link": .string("LE"),
            "mtu": .uint16(UInt16(clamping: visit.mtu)),
        ]
        return .properties(values.merging(more) { $1 })
    }

    // MARK: Notifications

    private func subscribe() {
        guard visit.isUp, let attribute = service.notifying else { return visit.end() }
        if let socket = adapter.applications.kept.removeValue(forKey: visit.label), socket.isOpen {
            notifySocket = socket
            socket.packet = { [weak self] in self?.notified($0) }
            return
        }
        guard attribute.hasNotifySocket else { return startNotify(attribute) }
        call("AcquireNotify", attribute, [options()]) { [weak self] result in
            guard let self, visit.isUp else { return }
            switch result {
            case .success(let values):
                guard let descriptor = values.first?.asDescriptor else { return visit.end() }
                notifySocket = daemon.open(descriptor) { [weak self] in self?.notified($0) }
            case .failure(.refused(let reply)) where reply.name != "org.bluez.Error.Failed":
                startNotify(attribute)
            case .failure: visit.end()
            }
        }
    }

    private func notified(_ bytes: [UInt8]?) {
        guard let bytes else { return visit.end() }
        visit.notify(bytes)
    }

    private func startNotify(_ attribute: ServedService.Attribute) {
        let rule = SignalRule(
            from: service.client,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            path: attribute.path
        )
        observer = daemon.observe(rule) { [weak self] message in
            guard let self, message.sender == service.client, message.path == attribute.path,
                message.body.count == 3,
                let bytes = message.body[1].asProperties?["Value"]?.asBytes
            else { return }
            visit.notify(bytes)
        }
        isListening = true
        call("StartNotify", attribute, []) { [weak self] result in
            if case .failure = result { self?.visit.end() }
        }
    }

    // MARK: Writes

    private func wrote(_ bytes: [UInt8]) {
        if let writeSocket, writeSocket.isOpen, writes.isEmpty { return writeSocket.send(bytes) }
        writes.append(bytes)
        writeNext()
    }

    private func writeNext() {
        guard visit.isUp, !isWriting, !writes.isEmpty, let attribute = service.writable else {
            return
        }
        isWriting = true
        if attribute.hasWriteSocket, !triedSocket { return acquireWrite(attribute) }
        let isCommand = attribute.flags.contains("write-without-response")
        let bytes = writes.removeFirst()
        let arguments = [
            .bytes(bytes), options(["type": .string(isCommand ? "command" : "request")]),
        ]
        call("WriteValue", attribute, arguments) { [weak self] _ in
            guard let self else { return }
            isWriting = false
            writeNext()
        }
    }

    private func acquireWrite(_ attribute: ServedService.Attribute) {
        triedSocket = true
        call("AcquireWrite", attribute, [options()]) { [weak self] result in
            guard let self, visit.isUp else { return }
            isWriting = false
            if case .success(let values) = result, let descriptor = values.first?.asDescriptor,
                let socket = daemon.open(descriptor, { _ in })
            {
                writeSocket = socket
                let waiting = writes
                writes = []
                for bytes in waiting { socket.send(bytes) }
            }
            writeNext()
        }
    }
}
