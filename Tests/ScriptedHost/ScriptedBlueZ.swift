import Base
package import BlueZ
import Glibc
import RadioContract

/// A small bluetoothd with one peer and one visitor, which makes the mistakes of a script.
///
/// In everything else it behaves like version 5.66: in the order of signals and the names of
/// errors.
package actor ScriptedBlueZ {
    /// The result of one call of `Connect`.
    package enum Connecting: Sendable {
        case works, refused(String), silent, successWithoutLink, inProgress, unknownObject
        /// Connected for a short time, and then reported as aborted.
        case brief
    }

    /// What the peer does about a bond; there is none, and it needs a confirmation.
    package enum Bond: Sendable {
        case unwanted
        /// The peer asks for it when a link is up, and also works without it.
        case wished
        /// The peer refuses each request before it.
        case needed
        /// The same, and the peer ends the link when its bond is refused.
        case insisted
        /// The daemon reads a value that needs it while it resolves the services.
        case neededForServices
    }

    /// The mistakes to make; each call uses up one entry of its list.
    package struct Script: Sendable {
        package var connecting: [Connecting] = []
        package var startErrors: [ErrorReply?] = []
        package var stopErrors: [ErrorReply?] = []
        package var acquireWriteErrors: [ErrorReply?] = []
        package var acquireNotifyErrors: [ErrorReply?] = []
        package var requestErrors: [ErrorReply?] = []
        package var advertisementErrors: [ErrorReply?] = []
        /// The number of connections whose services are never found.
        package var unresolved = 0
        /// The number of connections on which the peer refuses the search for services: they are then
        /// reported as found.
        package var unreadable = 0
        /// Whether advertisements are not heard.
        package var isDeaf = false
        /// Whether a characteristic is missing, as in an outdated cache.
        package var hidesStore = false
        package var mtu = 247
        package var hasSockets = true
        package var visitorMTU: UInt16 = 185
        package var isBonded = false
        package var bond = Bond.unwanted
        /// The number of other advertisers, each five times per second.
        package var crowd = 0
    }

    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    package nonisolated let address: BusAddress

    package var script = Script()
    package private(set) var calls: [String: Int] = [:]
    package private(set) var filters: [[String: DBusValue]] = []
    package private(set) var written: [[UInt8]] = []
    private var connection: Connection?
    private var isPowered = true
    private var discoverers: Set<String> = []
    private var generation = 0

    // State of the peer.
    private var peerAddress = "C0:00:00:00:00:01"
    private var isInReach = true
    private var isConnected = false
    private var stored: [UInt8] = []
    private var known: Set<ObjectPath> = []
    private var peerSockets: [String: PeerSocket] = [:]
    private var silent = false
    /// Whether a bond was refused on this link: the daemon sends no request over it again.
    private var isStuck = false
    /// The agents in the order of their registration: the daemon asks the first one.
    private var agents: [(owner: String, path: ObjectPath)] = []

    // State of the visitor and of what it visits.
    private var isLooking = true
    private var application: (owner: String, root: ObjectPath)?
    private var advertisements: [ObjectPath: String] = [:]
    private var visit: Visit?

    private struct Visit {
        let notify: PeerSocket
        let write: PeerSocket?
    }

    private static let manager = ObjectPath("/org/bluez") ?? .root
    package static let hci = ObjectPath("/org/bluez/hci0") ?? .root
    package static let adapterAddress = "00:11:22:33:44:55"
    package static let failed = "org.bluez.Error.Failed"

    package init(_ address: BusAddress) throws {
        self.address = address
        loop = try EventLoop.start(name: "fake-bluez")
    }

    package func change(_ body: @Sendable (inout Script) -> Void) { body(&script) }
    package func count(_ member: String) -> Int { calls[member, default: 0] }

    // MARK: Life

    package func start() async throws {
        let new = try await Connection.open(address, on: loop)
        connection = new
        generation += 1
        known = []
        await new.exportManager(at: .root)
        await new.export(Description.agentManager, at: Self.manager, properties: [:]) {
            [weak self] call in self?.assumeIsolated { $0.agentCall(call) }
        }
        await exportAdapter(new)
        guard try await new.requestName("org.bluez") else { throw BusError.disconnected }
        tick(generation)
    }

    package func stop() async {
        generation += 1
        dropPeer(tell: false)
        endVisit()
        discoverers = []
        agents = []
        application = nil
        advertisements = [:]
        await connection?.close()
        connection = nil
    }

    package nonisolated func close() async {
        await stop()
        loop.stop()
    }

    private func exportAdapter(_ connection: Connection) async {
        let handler: @Sendable (IncomingCall) -> Void = { [weak self] call in
            self?.assumeIsolated { $0.adapterCall(call) }
        }
        await connection.export(
            Description.adapter,
            at: Self.hci,
            properties: [
                "Address": .string(Self.adapterAddress), "Powered": .boolean(isPowered),
                "Discovering": .boolean(false), "Roles": .strings(["central", "peripheral"]),
            ],
            handler
        )
        await connection.export(Description.gattManager, at: Self.hci, handler)
        await connection.export(
            Description.advertisingManager,
            at: Self.hci,
            properties: ["ActiveInstances": .byte(0), "SupportedInstances": .byte(4)],
            handler
        )
    }

    // MARK: Actions of tests

    package func power(_ on: Bool) {
        isPowered = on
        if !on {
            discoverers = []
            dropPeer(tell: true)
            endVisit()
            let released = advertisements
            advertisements = [:]
            for (path, owner) in released {
                send(MethodCall("Release", of: "org.bluez.LEAdvertisement1", at: path, on: owner))
            }
        }
        update(["Powered": .boolean(on)], of: "org.bluez.Adapter1", at: Self.hci)
    }

    package func unplug() {
        dropPeer(tell: true)
        for path in known.sorted(by: >) { withdraw(path) }
        known = []
        discoverers = []
        withdraw(Self.hci)
    }

    package func plugIn() async throws {
        guard let connection else { return }
        await exportAdapter(connection)
        try await connection.announce(Self.hci)
    }

    package func setReach(_ inReach: Bool) {
        isInReach = inReach
        silent = false
        if !inReach, isConnected { after(.milliseconds(200)) { $0.dropPeer(tell: true) } }
    }

    package func changeAddress() {
        peerAddress = "C0:00:00:00:00:02"
    }

    package func setLooking(_ looking: Bool) { isLooking = looking }

    package func dropPeer() { dropPeer(tell: true) }

    package func removePeer() { removeDevice(devicePath) }

    /// Connects the peer for another program, or for a run that was killed.
    package func connectPeerForSomebody() {
        exposePeer()
        isConnected = true
        update(["Connected": .boolean(true)], of: "org.bluez.Device1", at: devicePath)
        resolve()
    }

    package func endVisit() {
        guard let visit else { return }
        self.visit = nil
        visit.notify.close()
        visit.write?.close()
        update(
            ["Connected": .boolean(false)],
            of: "org.bluez.Device1",
            at: Self.visitorPath
        )
        withdraw(Self.visitorPath)
    }

    package var peerIsConnected: Bool { isConnected }
    package var isDiscovering: Bool { !discoverers.isEmpty }
    var knownDevices: Int { known.count }

    // MARK: Small parts

    private func after(
        _ time: Duration,
        _ body: @escaping @Sendable (isolated ScriptedBlueZ) -> Void
    ) {
        let before = generation
        _ = loop.schedule(after: time) { [weak self] in
            self?.assumeIsolated { if $0.generation == before { body($0) } }
        }
    }

    private func update(
        _ values: [String: DBusValue],
        removed: [String] = [],
        of interface: String,
        at path: ObjectPath
    ) {
        connection?.assumeIsolated {
            _ = try? $0.update(values, removed: removed, of: interface, at: path)
        }
    }

    private func export(
        _ description: InterfaceDescription,
        at path: ObjectPath,
        _ properties: [String: DBusValue],
        _ handler: @escaping @Sendable (isolated ScriptedBlueZ, IncomingCall) -> Void
    ) {
        connection?.assumeIsolated {
            $0.export(description, at: path, properties: properties) { [weak self] call in
                self?.assumeIsolated { handler($0, call) }
            }
            try? $0.announce(path)
        }
    }

    private func withdraw(_ path: ObjectPath) {
        connection?.assumeIsolated { try? $0.withdraw(path) }
    }

    private func send(_ call: MethodCall) {
        connection?.assumeIsolated { $0.start(call) { _ in } }
    }

    private func next(_ list: inout [ErrorReply?]) -> ErrorReply? {
        list.isEmpty ? nil : list.removeFirst()
    }

    // MARK: The air

    private var devicePath: ObjectPath {
        let part = peerAddress.split(separator: ":").joined(separator: "_")
        return ObjectPath("/org/bluez/hci0/dev_" + part) ?? .root
    }

    private var beat = 0

    private func tick(_ before: Int) {
        guard before == generation else { return }
        beat += 1
        if !discoverers.isEmpty, isPowered, !script.isDeaf {
            if isInReach, !isConnected, !silent { advertise() }
            if beat.isMultiple(of: 2) { advertiseCrowd() }
        }
        _ = loop.schedule(after: .milliseconds(100)) { [weak self] in
            self?.assumeIsolated { $0.tick(before) }
        }
    }

    private func advertise() {
        if known.contains(devicePath) {
            update(
                ["RSSI": .int16(Int16(-60 - beat % 2))],
                of: "org.bluez.Device1",
                at: devicePath
            )
        } else {
            exposePeer()
        }
    }

    private func exposePeer() {
        guard known.insert(devicePath).inserted else { return }
        exportDevice(devicePath, peerAddress, company: ContractPeer.company, ContractPeer.identity)
    }

    private func exportDevice(
        _ path: ObjectPath,
        _ address: String,
        company: UInt16,
        _ data: [UInt8]
    ) {
        export(
            Description.device,
            at: path,
            [
                "Address": .string(address), "Adapter": .objectPath(Self.hci),
                "Name": .string("contract"), "RSSI": .int16(-60),
                "Connected": .boolean(false), "ServicesResolved": .boolean(false),
                "Bonded": .boolean(script.isBonded),
                "UUIDs": .strings([]),
                "ManufacturerData": .dictionary(
                    key: .uint16,
                    value: .variant,
                    [DBusEntry(key: .uint16(company), value: .variant(.bytes(data)))]
                ),
            ]
        ) { $0.deviceCall($1) }
    }

    private func advertiseCrowd() {
        for number in 0..<script.crowd {
            let digits = [number >> 8, number & 255].map { UInt8($0) }
            let part = "D0_00_00_00_" + Hex.text([digits[0]]) + "_" + Hex.text([digits[1]])
            guard let path = ObjectPath("/org/bluez/hci0/dev_" + part.uppercased()) else { return }
            if known.insert(path).inserted {
                let address = part.uppercased().split(separator: "_").joined(separator: ":")
                exportDevice(path, address, company: 2, digits)
            } else {
                update(["RSSI": .int16(Int16(-50 - beat % 20))], of: "org.bluez.Device1", at: path)
            }
        }
    }

    // MARK: The adapter

    private func adapterCall(_ call: IncomingCall) {
        calls[call.member, default: 0] += 1
        switch call.member {
        case "Set": setPower(call)
        case "SetDiscoveryFilter":
            filters.append(call.arguments[0].asProperties ?? [:])
            call.reply()
        case "StartDiscovery":
            if let error = next(&script.startErrors) { return call.fail(error) }
            guard isPowered else {
                return call.fail(ErrorReply("org.bluez.Error.NotReady", "Resource Not Ready"))
            }
            discoverers.insert(call.sender)
            update(["Discovering": .boolean(true)], of: "org.bluez.Adapter1", at: Self.hci)
            call.reply()
        case "StopDiscovery":
            if let error = next(&script.stopErrors) { return call.fail(error) }
            guard discoverers.remove(call.sender) != nil else {
                return call.fail(ErrorReply(Self.failed, "No discovery started"))
            }
            update(["Discovering": .boolean(false)], of: "org.bluez.Adapter1", at: Self.hci)
            call.reply()
        case "RemoveDevice":
            guard let path = call.arguments[0].asPath, known.contains(path) else {
                return call.fail(ErrorReply("org.bluez.Error.DoesNotExist", "Does Not Exist"))
            }
            removeDevice(path)
            call.reply()
        case "RegisterApplication": register(call)
        case "UnregisterApplication":
            application = nil
            call.reply()
        case "RegisterAdvertisement": advertise(call)
        case "UnregisterAdvertisement":
            advertisements[call.arguments[0].asPath ?? .root] = nil
            call.reply()
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func setPower(_ call: IncomingCall) {
        power(call.arguments[2].unwrapped == .boolean(true))
        call.reply()
    }

    private func removeDevice(_ path: ObjectPath) {
        if path == devicePath {
            dropPeer(tell: true)
            for part in Table.paths(of: path).reversed() { withdraw(part) }
        }
        known.remove(path)
        withdraw(path)
    }

    // MARK: The peer

    private func deviceCall(_ call: IncomingCall) {
        calls[call.member, default: 0] += 1
        switch call.member {
        case "Connect":
            let how = script.connecting.isEmpty ? .works : script.connecting.removeFirst()
            connect(call, how)
        case "Disconnect":
            if call.path == devicePath { dropPeer(tell: true) }
            if call.path == Self.visitorPath { endVisit() }
            call.reply()
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func connect(_ call: IncomingCall, _ how: Connecting) {
        let abort = "le-connection-abort-by-local"
        switch how {
        case .refused(let words): call.fail(ErrorReply(Self.failed, words))
        case .silent: after(.seconds(60)) { _ in call.reply() }
        case .successWithoutLink: call.reply()
        case .unknownObject:
            removeDevice(devicePath)
            call.fail(.unknownObject(call.path))
        case .brief:
            link()
            after(.milliseconds(50)) {
                $0.dropPeer(tell: true)
                call.fail(ErrorReply(Self.failed, abort))
            }
        case .inProgress:
            call.fail(ErrorReply(Self.failed, "Operation already in progress"))
            after(.milliseconds(100)) {
                $0.link()
                $0.resolveSoon()
            }
        case .works:
            guard isInReach, call.path == devicePath else {
                return after(.seconds(60)) { _ in call.reply() }
            }
            link()
            call.reply()
            resolveSoon()
        }
    }

    private func link() {
        isConnected = true
        update(["Connected": .boolean(true)], of: "org.bluez.Device1", at: devicePath)
    }

    private func resolveSoon() {
        guard script.unresolved == 0 else {
            script.unresolved -= 1
            return
        }
        switch script.bond {
        case .unwanted, .needed, .insisted: break
        case .wished: askForBond()
        case .neededForServices: return askForBond()
        }
        after(.milliseconds(30)) { $0.resolve() }
    }

    // MARK: Bonds

    private func agentCall(_ call: IncomingCall) {
        calls[call.member, default: 0] += 1
        let path = call.arguments.first?.asPath ?? .root
        switch call.member {
        case "RegisterAgent":
            guard !agents.contains(where: { $0.owner == call.sender }) else {
                return call.fail(ErrorReply("org.bluez.Error.AlreadyExists", "Already Exists"))
            }
            agents.append((call.sender, path))
            call.reply()
        case "UnregisterAgent":
            agents.removeAll { $0.owner == call.sender }
            call.reply()
        case "RequestDefaultAgent": call.reply()
        default: call.fail(.unknownMethod(call.member))
        }
    }

    /// The kernel pairs, and the daemon asks its default agent; without one it refuses by itself.
    private func askForBond() {
        guard let agent = agents.first else { return bondRefused() }
        let call = MethodCall(
            "RequestAuthorization",
            of: "org.bluez.Agent1",
            at: agent.path,
            on: agent.owner,
            [.objectPath(devicePath)]
        )
        connection?.assumeIsolated {
            $0.start(call) { [weak self] result in
                self?.assumeIsolated { host in
                    if case .failure = result { host.bondRefused() }
                }
            }
        }
    }

    private func bondRefused() {
        guard script.bond == .insisted else { return }
        after(.milliseconds(50)) { $0.dropPeer(tell: true) }
    }

    /// Whether a request has to wait until the link ends, as in bluetoothd after a pairing failed that
    /// a request had started.
    private func isHeldBack() -> Bool {
        switch script.bond {
        case .unwanted, .wished: return false
        case .needed, .insisted, .neededForServices:
            if !isStuck { askForBond() }
            isStuck = true
            return true
        }
    }

    private var held: [IncomingCall] = []

    private func resolve() {
        guard isConnected else { return }
        let path = devicePath
        guard script.unreadable == 0 else {
            script.unreadable -= 1
            return update(["ServicesResolved": .boolean(true)], of: "org.bluez.Device1", at: path)
        }
        export(
            Description.service,
            at: Table.service(of: path),
            ["UUID": .string(ContractPeer.service.description), "Device": .objectPath(path)]
        ) { _, _ in }
        for entry in Table.entries
        where !(script.hidesStore && entry.uuid == ContractPeer.store.uuid) {
            let characteristic = Table.characteristic(entry, of: path)
            var properties: [String: DBusValue] = [
                "UUID": .string(entry.uuid.description),
                "Service": .objectPath(Table.service(of: path)),
                "Flags": .strings(entry.flags), "MTU": .uint16(23),
            ]
            if script.hasSockets {
                if entry.flags.contains("write-without-response") {
                    properties["WriteAcquired"] = .boolean(false)
                }
                if entry.flags.contains("notify") { properties["NotifyAcquired"] = .boolean(false) }
            }
            connection?.assumeIsolated { connection in
                _ = try? connection.withdraw(characteristic)
            }
            export(Description.characteristic, at: characteristic, properties) {
                $0.characteristicCall($1, entry)
            }
        }
        after(.milliseconds(20)) {
            let mtu = DBusValue.uint16(UInt16($0.script.mtu))
            for entry in Table.entries {
                let path = Table.characteristic(entry, of: $0.devicePath)
                $0.update(["MTU": mtu], of: "org.bluez.GattCharacteristic1", at: path)
            }
        }
        update(["ServicesResolved": .boolean(true)], of: "org.bluez.Device1", at: path)
    }

    private func dropPeer(tell: Bool) {
        for socket in peerSockets.values { socket.close() }
        peerSockets = [:]
        guard isConnected else { return }
        isConnected = false
        isStuck = false
        notifying = []
        let unanswered = held
        held = []
        guard tell else { return }
        update(["ServicesResolved": .boolean(false)], of: "org.bluez.Device1", at: devicePath)
        update(["Connected": .boolean(false)], of: "org.bluez.Device1", at: devicePath)
        for call in unanswered { call.fail(ErrorReply(Self.failed, "Not connected")) }
        withdraw(Table.service(of: devicePath))
    }

    private var notifying: Set<String> = []

    private func characteristicCall(_ call: IncomingCall, _ entry: Table.Entry) {
        calls[call.member, default: 0] += 1
        guard isConnected else { return call.fail(ErrorReply(Self.failed, "Not connected")) }
        if ["ReadValue", "WriteValue", "StartNotify"].contains(call.member), isHeldBack() {
            return held.append(call)
        }
        switch call.member {
        case "ReadValue":
            if let error = next(&script.requestErrors) { return call.fail(error) }
            guard !silent else { return after(.seconds(60)) { _ in call.reply(.bytes([])) } }
            guard entry.uuid == ContractPeer.store.uuid else {
                return call.fail(ErrorReply("org.bluez.Error.NotAuthorized", "Not authorized"))
            }
            call.reply(.bytes(stored))
        case "WriteValue":
            if let error = next(&script.requestErrors) { return call.fail(error) }
            if peerSockets["w" + entry.uuid.description] != nil {
                return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "Write acquired"))
            }
            take(call.arguments[0].asBytes ?? [], entry, call)
        case "AcquireWrite":
            if let error = next(&script.acquireWriteErrors) { return call.fail(error) }
            acquire(call, "w" + entry.uuid.description) { host, bytes in
                // Packets that are too long for the link are dropped silently.
                guard bytes.count <= host.script.mtu - 3 else { return }
                host.written.append(bytes)
                if entry.uuid == ContractPeer.echo.uuid {
                    host.notify(bytes, ContractPeer.echo.uuid)
                }
            }
        case "AcquireNotify":
            if let error = next(&script.acquireNotifyErrors) { return call.fail(error) }
            acquire(call, "n" + entry.uuid.description) { _, _ in }
        case "StartNotify":
            notifying.insert(entry.uuid.description)
            call.reply()
        case "StopNotify":
            notifying.remove(entry.uuid.description)
            call.reply()
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func take(_ bytes: [UInt8], _ entry: Table.Entry, _ call: IncomingCall) {
        switch entry.uuid {
        case ContractPeer.echo.uuid: notify(bytes, entry.uuid)
        case ContractPeer.store.uuid: stored = bytes
        case ContractPeer.order.uuid:
            switch bytes {
            case [1]:
                call.reply()
                return dropPeer(tell: true)
            case [2]: notify([0x20], ContractPeer.indicating.uuid)
            case [3]: silent = true
            default: break
            }
        default:
            return call.fail(ErrorReply("org.bluez.Error.NotAuthorized", "Not authorized"))
        }
        call.reply()
    }

    private func notify(_ bytes: [UInt8], _ uuid: GATTUUID) {
        if let socket = peerSockets["n" + uuid.description] {
            socket.send(bytes)
        } else if notifying.contains(uuid.description),
            let entry = Table.entries.first(where: { $0.uuid == uuid })
        {
            update(
                ["Value": .bytes(bytes)],
                of: "org.bluez.GattCharacteristic1",
                at: Table.characteristic(entry, of: devicePath)
            )
        }
    }

    private func acquire(
        _ call: IncomingCall,
        _ key: String,
        _ packet: @escaping @Sendable (isolated ScriptedBlueZ, [UInt8]) -> Void
    ) {
        guard peerSockets[key] == nil else {
            return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "acquired"))
        }
        guard let pair = UnixDescriptor.packetPair(), let ours = pair.ours.take() else {
            return call.fail(.failed("no sockets"))
        }
        peerSockets[key] = PeerSocket(ours, on: loop) { [weak self] bytes in
            self?.assumeIsolated { host in
                if let bytes { packet(host, bytes) } else { host.peerSockets[key] = nil }
            }
        }
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(script.mtu)))
    }

    // MARK: The visitor

    static let visitorPath = ObjectPath("/org/bluez/hci0/dev_E0_00_00_00_00_01") ?? .root

    /// Reads the application's objects before it answers, like BlueZ.
    private func register(_ call: IncomingCall) {
        guard let root = call.arguments[0].asPath else { return call.fail(.failed("no path")) }
        let owner = call.sender
        connection?.assumeIsolated {
            $0.start(
                MethodCall(
                    "GetManagedObjects",
                    of: "org.freedesktop.DBus.ObjectManager",
                    at: root,
                    on: owner
                )
            ) { [weak self] result in
                self?.assumeIsolated { host in
                    guard case .success(let values) = result,
                        case .dictionary(_, _, let entries)? = values.first, entries.count == 3
                    else { return call.fail(ErrorReply(Self.failed, "No object received")) }
                    host.application = (owner, root)
                    call.reply()
                }
            }
        }
    }

    private func advertise(_ call: IncomingCall) {
        if let error = next(&script.advertisementErrors) { return call.fail(error) }
        guard isPowered else { return call.fail(ErrorReply(Self.failed, "Not powered")) }
        let path = call.arguments[0].asPath ?? .root
        advertisements[path] = call.sender
        call.reply()
        after(.milliseconds(100)) { $0.visitIfLooking() }
    }

    private func visitIfLooking() {
        guard isLooking, visit == nil, !advertisements.isEmpty, let application else { return }
        withdraw(Self.visitorPath)
        export(
            Description.device,
            at: Self.visitorPath,
            [
                "Address": .string("E0:00:00:00:00:01"), "Adapter": .objectPath(Self.hci),
                "Connected": .boolean(true), "ServicesResolved": .boolean(false),
            ]
        ) { $0.deviceCall($1) }
        guard let service = application.root.appending("service0"),
            let notifyPath = service.appending("char0"), let writePath = service.appending("char1")
        else { return }
        acquire("AcquireWrite", at: writePath, of: application.owner) { host, number in
            let write = PeerSocket(number, on: host.loop) { _ in }
            host.acquire("AcquireNotify", at: notifyPath, of: application.owner) {
                $0.subscribed($1, write)
            }
        }
    }

    private func acquire(
        _ member: String,
        at path: ObjectPath,
        of owner: String,
        _ done: @escaping @Sendable (isolated ScriptedBlueZ, CInt) -> Void
    ) {
        let options = DBusValue.properties([
            "device": .objectPath(Self.visitorPath), "mtu": .uint16(script.visitorMTU),
            "link": .string("LE"),
        ])
        let call = MethodCall(
            member,
            of: "org.bluez.GattCharacteristic1",
            at: path,
            on: owner,
            [options]
        )
        connection?.assumeIsolated {
            $0.start(call) { [weak self] result in
                self?.assumeIsolated { host in
                    guard case .success(let values) = result,
                        let number = values[0].asDescriptor?.take()
                    else { return }
                    done(host, number)
                }
            }
        }
    }

    private func subscribed(_ number: CInt, _ write: PeerSocket) {
        let notify = PeerSocket(number, on: loop) { [weak self] bytes in
            self?.assumeIsolated { host in
                guard let bytes else {
                    // The real bluetoothd crashes here.
                    if host.visit != nil { host.calls["hang-up under a link", default: 0] += 1 }
                    return host.endVisit()
                }
                let half = bytes.count / 2
                write.send(Array(bytes[..<half]))
                write.send(Array(bytes[half...]))
            }
        }
        visit = Visit(notify: notify, write: write)
    }
}

/// The daemon's end of a socket: it never blocks, and drops packets that do not fit.
final class PeerSocket: Sendable {
    private let loop: EventLoop
    private let state: Monitor<(number: CInt?, watch: EventLoop.WatchID?)>

    init(
        _ number: CInt,
        on loop: EventLoop,
        _ packet: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        self.loop = loop
        state = Monitor((number, nil))
        let watch = loop.watch(number, for: .reading) { [weak self] _ in
            guard let self else { return }
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = recv(number, &buffer, 512, 0)
            if count > 0 { return packet(Array(buffer[..<count])) }
            if count < 0, errno == EAGAIN { return }
            close()
            packet(nil)
        }
        state.withLock { $0.watch = watch }
    }

    func send(_ bytes: [UInt8]) {
        guard let number = state.withLock({ $0.number }), !bytes.isEmpty else { return }
        _ = bytes.withUnsafeBytes {
            Glibc.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
    }

    func close() {
        let (number, watch) = state.withLock { state in
            defer { state = (nil, nil) }
            return state
        }
        if let watch { loop.unwatch(watch) }
        if let number { _ = Glibc.close(number) }
    }
}

/// The GATT table of the peer.
enum Table {
    struct Entry: Sendable {
        let name: String
        let uuid: GATTUUID
        let flags: [String]
    }

    static let entries = [
        Entry(
            name: "char0002",
            uuid: ContractPeer.echo.uuid,
            flags: ["write", "write-without-response", "notify"]
        ),
        Entry(name: "char0005", uuid: ContractPeer.store.uuid, flags: ["read", "write"]),
        Entry(name: "char0007", uuid: ContractPeer.refusing.uuid, flags: ["read", "write"]),
        Entry(name: "char0009", uuid: ContractPeer.order.uuid, flags: ["write"]),
        Entry(name: "char000b", uuid: ContractPeer.indicating.uuid, flags: ["indicate"]),
    ]

    static func service(of device: ObjectPath) -> ObjectPath {
        device.appending("service0001") ?? .root
    }

    static func characteristic(_ entry: Entry, of device: ObjectPath) -> ObjectPath {
        service(of: device).appending(entry.name) ?? .root
    }

    static func paths(of device: ObjectPath) -> [ObjectPath] {
        [service(of: device)] + entries.map { characteristic($0, of: device) }
    }
}

/// The descriptions of BlueZ's interfaces.
enum Description {
    private static func type(_ text: String) -> Signature { Signature(text) ?? .variant }

    private static func method(
        _ name: String,
        _ takes: String = "",
        _ gives: String = ""
    ) -> InterfaceDescription.Method {
        func arguments(_ text: String) -> [InterfaceDescription.Argument] {
            (Signature.list(text) ?? []).enumerated().map { .init("arg\($0.offset)", $0.element) }
        }
        return .init(name, takes: arguments(takes), gives: arguments(gives))
    }

    static let adapter = InterfaceDescription(
        "org.bluez.Adapter1",
        methods: [
            method("SetDiscoveryFilter", "a{sv}"), method("StartDiscovery"),
            method("StopDiscovery"), method("RemoveDevice", "o"),
        ],
        properties: [.init("Powered", .boolean, isWritable: true)]
    )
    static let agentManager = InterfaceDescription(
        "org.bluez.AgentManager1",
        methods: [
            method("RegisterAgent", "os"), method("UnregisterAgent", "o"),
            method("RequestDefaultAgent", "o"),
        ]
    )
    static let gattManager = InterfaceDescription(
        "org.bluez.GattManager1",
        methods: [
            method("RegisterApplication", "oa{sv}"), method("UnregisterApplication", "o"),
        ]
    )
    static let advertisingManager = InterfaceDescription(
        "org.bluez.LEAdvertisingManager1",
        methods: [
            method("RegisterAdvertisement", "oa{sv}"), method("UnregisterAdvertisement", "o"),
        ]
    )
    static let device = InterfaceDescription(
        "org.bluez.Device1",
        methods: [method("Connect"), method("Disconnect")]
    )
    static let service = InterfaceDescription("org.bluez.GattService1")
    static let characteristic = InterfaceDescription(
        "org.bluez.GattCharacteristic1",
        methods: [
            method("ReadValue", "a{sv}", "ay"), method("WriteValue", "aya{sv}"),
            method("AcquireWrite", "a{sv}", "hq"), method("AcquireNotify", "a{sv}", "hq"),
            method("StartNotify"), method("StopNotify"),
        ]
    )
}
