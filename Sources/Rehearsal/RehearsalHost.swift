import BlueZ
import DBus
import Domain
import Simulation
import Threads

/// One real adapter that stands for a simulated module: what it shows, and who comes to it.
actor RehearsalHost {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let bus: Bus
    private let word: String
    /// Told what happens, in its order.
    private let events: AsyncStream<HostEvent>.Continuation
    private var connection: Connection?
    private var owner: String?
    private(set) var adapter: ObjectPath?
    private var isUsable = false
    /// Counts what was registered: no two applications share a path.
    private var registrations = 0
    private var application: (root: ObjectPath, paths: [ObjectPath])?
    private var advertisement: ObjectPath?
    private var centrals: Set<ObjectPath> = []

    init(
        _ word: String,
        _ address: BusAddress,
        on loop: EventLoop,
        events: AsyncStream<HostEvent>.Continuation
    ) {
        self.word = word
        self.loop = loop
        self.events = events
        bus = Bus(address, on: loop)
    }

    /// Attaches to the service; the adapter must be there and switched on.
    func begin() async throws(RehearsalError) {
        do throws(BusError) {
            try await attach()
        } catch { throw .bus(error.description) }
        guard owner != nil else { throw .noService }
        let all = await survey()
        guard let found = all.first(where: { $0.isCalled(word) }) else {
            throw .noAdapter(word, others: all.map(\.name))
        }
        guard found.isPowered else { throw .adapterOff(word) }
        guard found.isPeripheral else { throw .noPeripheralRole(word) }
        use(found)
    }

    /// Ends the connection: the service drops what we registered.
    func close() async {
        await bus.close()
        connection = nil
    }

    private func attach() async throws(BusError) {
        let new = try await bus.connection()
        connection = new
        await new.onLoss { [weak self] in self?.assumeIsolated { $0.voided() } }
        let take: @Sendable (Message) -> Void = { [weak self] message in
            self?.assumeIsolated { $0.take(message) }
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

    // MARK: The adapter

    /// Adapters as the service lists them; none when it does not answer.
    private func survey() async -> [HostAdapterRecord] {
        let values = try? await connection?.call(
            MethodCall(
                "GetManagedObjects",
                of: BlueZName.objectManager,
                at: .root,
                on: BlueZName.service,
                patience: .seconds(15)
            ),
            answering: BlueZName.tree
        )
        return values.map { HostAdapterRecord.all(in: $0[0]) } ?? []
    }

    private func use(_ record: HostAdapterRecord) {
        adapter = record.path
        guard !isUsable else { return }
        isUsable = true
        events.yield(.ready)
    }

    private func voided() {
        centrals = []
        withdrawObjects()
        guard isUsable else { return }
        isUsable = false
        events.yield(.void)
    }

    private func ownerChanged(to new: String?) {
        guard new != owner else { return }
        owner = new
        voided()
        if new != nil { lookAgain() }
    }

    private func take(_ message: Message) {
        let body = message.body
        switch (message.member, message.signature) {
        case ("PropertiesChanged", "sa{sv}as"):
            guard let path = message.path, let interface = body[0].asString,
                let changed = body[1].asProperties
            else { return }
            self.changed(path, interface, changed)
        case ("InterfacesAdded", "oa{sa{sv}}"):
            guard let path = body[0].asPath,
                case .dictionary(_, _, let interfaces) = body[1]
            else { return }
            for entry in interfaces {
                guard let name = entry.key.asString, let values = entry.value.asProperties
                else { continue }
                changed(path, name, values)
            }
        case ("InterfacesRemoved", "oas"):
            guard let path = body[0].asPath, let names = body[1].asStrings else { return }
            if path == adapter, names.contains(BlueZName.adapter) { voided() }
            if names.contains(BlueZName.device) { setConnected(path, false) }
        default: return
        }
    }

    private func changed(
        _ path: ObjectPath,
        _ interface: String,
        _ values: [String: DBusValue]
    ) {
        switch interface {
        case BlueZName.device:
            guard let isConnected = values["Connected"]?.asBool else { return }
            setConnected(path, isConnected)
        case BlueZName.adapter, BlueZName.gattManager, BlueZName.advertisingManager:
            if path == adapter, values["Powered"]?.asBool == false { return voided() }
            if !isUsable { lookAgain() }
        default: return
        }
    }

    /// The adapter may be back: an index may be another's by now, so the whole tree is read.
    private func lookAgain() {
        guard let connection else { return }
        let call = MethodCall(
            "GetManagedObjects",
            of: BlueZName.objectManager,
            at: .root,
            on: BlueZName.service,
            patience: .seconds(15)
        )
        connection.assumeIsolated { connection in
            connection.start(call) { [weak self] result in
                guard case .success(let values) = result, let tree = values.first else { return }
                self?.assumeIsolated { host in
                    let all = HostAdapterRecord.all(in: tree)
                    guard let found = all.first(where: { $0.isCalled(host.word) }),
                        found.isPowered, found.isPeripheral
                    else { return }
                    host.use(found)
                }
            }
        }
    }

    private func setConnected(_ device: ObjectPath, _ isConnected: Bool) {
        guard let adapter, device.parent == adapter else { return }
        if isConnected {
            if centrals.insert(device).inserted { events.yield(.arrived(device)) }
        } else if centrals.remove(device) != nil {
            events.yield(.left(device))
        }
    }

    /// Ends the link of a central, as a module does that goes away.
    func disconnect(_ device: ObjectPath) async {
        guard centrals.contains(device) else { return }
        _ = try? await connection?.call(
            MethodCall("Disconnect", of: BlueZName.device, at: device, on: BlueZName.service)
        )
    }

    // MARK: What is shown

    /// Puts these characteristics in the place of those that were there; the refusal's words.
    func serve(_ table: [Characteristic: CharacteristicFlags]?) async -> String? {
        if let old = application {
            await ask("UnregisterApplication", BlueZName.gattManager, [.objectPath(old.root)])
            withdrawApplication()
        }
        guard let table, adapter != nil, let root = export(table) else { return nil }
        return await ask(
            "RegisterApplication",
            BlueZName.gattManager,
            [.objectPath(root), .properties([:])]
        )
    }

    private func export(_ table: [Characteristic: CharacteristicFlags]) -> ObjectPath? {
        registrations += 1
        guard let root = ObjectPath("/ee/yardmaster/rehearsal\(registrations)") else { return nil }
        let objects = ServedObject.objects(of: table, under: root)
        connection?.assumeIsolated { connection in
            connection.exportManager(at: root)
            for object in objects {
                connection.export(
                    object.description,
                    at: object.path,
                    properties: object.properties
                ) { [weak self] call in
                    self?.assumeIsolated { $0.asked(call, object.characteristic) }
                }
            }
        }
        application = (root, objects.map(\.path))
        return root
    }

    /// Puts an advertisement in the place of the one there was; the refusal's words.
    func advertise(_ broadcast: Broadcast?) async -> String? {
        if let old = advertisement {
            await ask(
                "UnregisterAdvertisement",
                BlueZName.advertisingManager,
                [.objectPath(old)]
            )
            withdrawAdvertisement()
        }
        guard let broadcast, adapter != nil, let path = export(broadcast) else { return nil }
        return await ask(
            "RegisterAdvertisement",
            BlueZName.advertisingManager,
            [.objectPath(path), .properties([:])]
        )
    }

    private func export(_ broadcast: Broadcast) -> ObjectPath? {
        registrations += 1
        guard let path = ObjectPath("/ee/yardmaster/advertisement\(registrations)") else {
            return nil
        }
        connection?.assumeIsolated { connection in
            connection.export(
                .advertised,
                at: path,
                properties: ServedObject.advertisement(of: broadcast)
            ) { [weak self] call in
                call.reply()
                self?.assumeIsolated { $0.released(path) }
            }
        }
        advertisement = path
        return path
    }

    private func released(_ path: ObjectPath) {
        guard advertisement == path else { return }
        withdrawAdvertisement()
        events.yield(.released)
    }

    private func asked(_ call: IncomingCall, _ characteristic: Characteristic?) {
        // Only the service may speak for centrals.
        guard call.sender == owner, let characteristic else {
            return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "not yours to call"))
        }
        guard let request = HostRequest(call, on: characteristic) else {
            switch call.member {
            case "StopNotify", "Confirm": return call.reply()
            default:
                return call.fail(ErrorReply("org.bluez.Error.NotSupported", "not served"))
            }
        }
        if case .dropped = events.yield(.asked(request)) {
            call.fail(ErrorReply("org.bluez.Error.InProgress", "too much at once"))
        }
    }

    private func withdrawObjects() {
        withdrawApplication()
        withdrawAdvertisement()
    }

    private func withdrawApplication() {
        guard let old = application else { return }
        application = nil
        connection?.assumeIsolated { connection in
            for path in old.paths { try? connection.withdraw(path) }
            connection.withdrawManager(at: old.root)
        }
    }

    private func withdrawAdvertisement() {
        guard let old = advertisement else { return }
        advertisement = nil
        connection?.assumeIsolated { connection in try? connection.withdraw(old) }
    }

    /// Asks the adapter for something; why it was refused.
    @discardableResult
    private func ask(
        _ member: String,
        _ interface: String,
        _ arguments: [DBusValue]
    ) async -> String? {
        guard let connection, let adapter else { return "there is no adapter" }
        do throws(BusError) {
            _ = try await connection.call(
                MethodCall(
                    member,
                    of: interface,
                    at: adapter,
                    on: BlueZName.service,
                    arguments,
                    patience: .seconds(10)
                )
            )
            return nil
        } catch {
            return "\(member): \(error.description)"
        }
    }
}
