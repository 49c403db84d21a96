import Base
import BlueZ
import Radio
import Simulation

/// A device that the service knows: it was heard or connected to, or is a central that has
/// connected.
final class FakeDevice: ServedObject {
    let path: ObjectPath
    let address: String
    unowned let adapter: FakeAdapter
    /// Its address in the world, which differs from the shown one when addresses change.
    private var own: String

    private var name: String?
    private var alias: String?
    private var signal: Int?
    private var manufacturerData: [UInt16: [UInt8]] = [:]
    private var advertisedServices: [GATTUUID] = []
    private var isPaired = false
    private var isTrusted = false
    private var isBlocked = false
    private(set) var isTemporary = true
    private var lastHeard: Moment
    private var isServed = false

    private(set) var isConnected = false
    private(set) var link: HostLink?
    /// Whether nothing more is sent over this link, because a pairing for a request has failed.
    private(set) var isStuck = false
    private var attempt: Attempt?
    private var ending: [IncomingCall] = []
    private var table = GATTTable()
    /// Called to end the visit when this is a central.
    var onDisconnect: (() -> Void)?

    /// A requested connection.
    private final class Attempt {
        var air: HostAttempt?
        var calls: [IncomingCall] = []
        var isDone = false
    }

    static func path(of address: String, on adapter: ObjectPath) -> ObjectPath? {
        adapter.appending("dev_" + address.split(separator: ":").joined(separator: "_"))
    }

    /// Nil for an invalid address.
    init?(_ address: String, on adapter: FakeAdapter) {
        guard let path = Self.path(of: address, on: adapter.path) else { return nil }
        self.path = path
        self.address = address
        self.adapter = adapter
        own = address
        lastHeard = adapter.daemon.world.now
        // What is on disk outlives the object.
        isPaired = adapter.bonds[address] != nil
    }

    var daemon: Daemon { adapter.daemon }
    var isConnecting: Bool { attempt != nil }

    /// The names by which faults and incidents refer to it.
    var names: [String] {
        var names = [address, own]
        if let label = link?.label ?? adapter.addresses.label(own) { names.append(label) }
        return names
    }

    private func happens(_ kind: HostFault.Kind) -> HostFault? {
        daemon.faults.happens(kind, to: names)
    }

    // MARK: On the bus

    func appear() {
        guard !isServed else { return }
        isServed = true
        daemon.serve(self, [(Interfaces.device, properties)])
    }

    func update(_ values: [String: DBusValue], removed: [String] = []) {
        guard isServed else { return }
        daemon.update(values, removed: removed, of: Interfaces.device, at: path)
    }

    private var properties: [String: DBusValue] {
        var values: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string(addressType),
            "Alias": .string(shownAlias), "Paired": .boolean(isPaired),
            "Bonded": .boolean(isPaired), "Trusted": .boolean(isTrusted),
            "Blocked": .boolean(isBlocked), "LegacyPairing": .boolean(false),
            "Connected": .boolean(isConnected), "ServicesResolved": .boolean(false),
            "UUIDs": uuids, "Adapter": .objectPath(adapter.path),
        ]
        values["Name"] = name.map { .string($0) }
        values["RSSI"] = signal.map { .int16(Int16(clamping: $0)) }
        if !manufacturerData.isEmpty { values["ManufacturerData"] = manufacturerValue }
        return values
    }

    private var shownAlias: String {
        alias ?? name ?? address.split(separator: ":").joined(separator: "-")
    }

    /// The type that the two highest bits of the address indicate.
    private var addressType: String {
        Hex.bytes(address.prefix(2)).map { $0[0] >> 6 == 0 } ?? true ? "public" : "random"
    }

    /// The services that were found on a link, with those that every device has; before the first
    /// link, and when it is heard again with services, the advertised ones.
    private var uuids: DBusValue {
        let isFound = link != nil && !table.services.isEmpty
        guard isFound || advertisedServices.isEmpty else {
            return .strings(advertisedServices.map(\.description))
        }
        let generic = table.services.isEmpty ? [] : [0x1800, 0x1801].map { GATTUUID(short: $0) }
        return .strings(Set(generic + table.services).sorted().map(\.description))
    }

    private var manufacturerValue: DBusValue {
        .dictionary(
            key: .uint16,
            value: .variant,
            manufacturerData.sorted { $0.key < $1.key }.map {
                DBusEntry(key: .uint16($0.key), value: .variant(.bytes($0.value)))
            }
        )
    }

    // MARK: Advertisements

    /// With `repeats`, the data are reported each time, even if they have not changed.
    func heard(_ advertisement: Advertisement, repeats: Bool) {
        own = advertisement.peer.handle
        lastHeard = daemon.world.now
        var changes: [String: DBusValue] = [:]
        if let new = advertisement.name, new != name {
            name = new
            changes["Name"] = .string(new)
            changes["Alias"] = .string(shownAlias)
        }
        if !advertisement.manufacturerData.isEmpty,
            repeats || advertisement.manufacturerData != manufacturerData
        {
            manufacturerData = advertisement.manufacturerData
            changes["ManufacturerData"] = manufacturerValue
        }
        let new = advertisement.services.filter { !advertisedServices.contains($0) }
        if !new.isEmpty {
            advertisedServices += new
            told = nil
            changes["UUIDs"] = uuids
        }
        if signal != advertisement.signal {
            signal = advertisement.signal
            changes["RSSI"] = .int16(Int16(clamping: advertisement.signal))
        }
        if isServed {
            if !changes.isEmpty { update(changes) }
        } else {
            appear()
            expire(after: daemon.settings.host.temporaryTimeout)
        }
    }

    /// The scan has ended, so its signal strength is no longer valid.
    func scanEnded() {
        guard signal != nil else { return }
        signal = nil
        update([:], removed: ["RSSI"])
    }

    /// The device was not connected to, so it is removed when it has not been heard for long.
    private func expire(after time: Duration) {
        daemon.after(time) { [weak self] in
            guard let self, isServed, isTemporary, !isConnected else { return }
            let limit = daemon.settings.host.temporaryTimeout
            let silence = lastHeard.duration(to: daemon.world.now)
            guard silence >= limit else { return expire(after: limit - silence) }
            adapter.remove(self)
        }
    }

    // MARK: Calls

    func called(_ call: IncomingCall) {
        switch call.member {
        case "Set": set(call)
        case "Connect": connect(call)
        case "Disconnect": disconnect(call)
        case "Pair": pair(call)
        case "CancelPairing": call.fail(.doesNotExist)
        case "ConnectProfile", "DisconnectProfile": call.fail(.profileUnavailable)
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func set(_ call: IncomingCall) {
        guard let property = call.arguments[1].asString else {
            return call.fail(.invalidArguments)
        }
        let value = call.arguments[2].unwrapped
        switch (property, value) {
        case ("Alias", .string(let text)):
            alias = text.isEmpty ? nil : text
            update(["Alias": .string(shownAlias)])
        case ("Trusted", .boolean(let on)):
            isTrusted = on
            update([property: value])
        case ("Blocked", .boolean(let on)):
            isBlocked = on
            if on { link?.end() }
            update([property: value])
        default: update([property: value])
        }
        call.reply()
    }

    // MARK: Bonds

    /// The bond with a module; a central's bond has no keys here.
    private var bond: AirBond? {
        get { adapter.bonds[address] }
        set { adapter.bonds[address] = newValue }
    }

    private func pair(_ call: IncomingCall) {
        guard !isPaired else { return call.fail(.alreadyExists) }
        guard adapter.air.isOn else { return call.fail(.authenticationFailed) }
        guard !adapter.isPairing else { return call.fail(.authenticationRejected) }
        adapter.isPairing = true
        let finish = { [weak self] (error: ErrorReply?) in
            self?.adapter.isPairing = false
            if let error { call.fail(error) } else { call.reply() }
        }
        let agent = daemon.agent(of: call.sender)
        if isConnected { return pair(by: agent, isWanted: true, finish) }
        begin { [weak self] error in
            if let error { return finish(error) }
            self?.pair(by: agent, isWanted: true, finish)
        }
    }

    /// Pairs on the existing link; `isWanted` is true when a program has requested it, so that its
    /// agent need not be asked for permission.
    private func pair(
        by agent: Agents.Agent?,
        isWanted: Bool,
        _ done: @escaping (ErrorReply?) -> Void
    ) {
        daemon.after(.milliseconds(300)) { [weak self] in
            guard let self, let link, link.isUp else { return done(.authenticationCanceled) }
            guard let security = link.security, let agent else {
                return done(.authenticationFailed)
            }
            let asks = security.asksForPasskey(keyboard: agent.hasKeyboard)
            guard asks || !isWanted else { return pair(nil, done) }
            let member = asks ? "RequestPasskey" : "RequestAuthorization"
            daemon.ask(agent, member, [.objectPath(path)]) { [weak self] answer in
                guard let answer else { return done(.authenticationFailed) }
                guard asks else { self?.pair(nil, done); return }
                guard case .uint32(let number)? = answer.first, let passkey = Passkey(number) else {
                    return done(.authenticationFailed)
                }
                self?.pair(passkey, done)
            }
        }
    }

    private func pair(_ passkey: Passkey?, _ done: @escaping (ErrorReply?) -> Void) {
        guard let link, link.isUp else { return done(.authenticationCanceled) }
        switch link.pair(passkey) {
        case .success(let made):
            bond = made
            paired()
            done(nil)
        case .failure(let failure):
            // A device that gets a wrong passkey ends the link.
            if failure == .wrongPasskey { link.end() }
            done(.authenticationFailed)
        }
    }

    /// The outcome of making a link more secure because a characteristic requires it.
    enum Security { case raised, impossible, failed }

    /// A characteristic requires more security than the link has: the service raises it
    /// automatically.
    func raiseSecurity(_ done: @escaping (Security) -> Void) {
        let agent = daemon.agent()
        // A device with a bond can only be raised with a passkey.
        guard bond == nil || agent?.hasKeyboard == true && bond?.isAuthenticated == false else {
            return done(.impossible)
        }
        pair(by: agent, isWanted: false) { [weak self] error in
            if error != nil { self?.isStuck = true }
            done(error == nil ? .raised : .failed)
        }
    }

    func paired() {
        isPaired = true
        isTemporary = false
        update(["Paired": .boolean(true), "Bonded": .boolean(true)])
    }

    // MARK: Connecting

    private func connect(_ call: IncomingCall) {
        guard adapter.air.isOn else { return call.fail(.inputOutput) }
        if happens(.deviceDropped) != nil {
            adapter.remove(self)
            return call.fail(.unknownObject(path))
        }
        if happens(.connectUnanswered) != nil {
            // Kept, so that it is not answered by being dropped.
            return unanswered.append(call)
        }
        if happens(.connectWithoutLink) != nil { return call.reply() }
        if isConnected { return call.reply() }
        guard attempt == nil else { return call.fail(.connectBusy) }
        if happens(.connectBusy) != nil {
            begin { _ in }
            return call.fail(.connectBusy)
        }
        begin { error in
            if let error { call.fail(error) } else { call.reply() }
        }
    }

    private var unanswered: [IncomingCall] = []

    /// How long the kernel searches for a device.
    private static let patience = Duration.seconds(40)
    /// The name that the device reports to a connected host.
    private static let ownName = "BLE module"

    private func begin(_ done: @escaping (ErrorReply?) -> Void) {
        isTemporary = false
        let attempt = Attempt()
        self.attempt = attempt
        let finish: (ErrorReply?) -> Void = { [weak self] error in
            guard !attempt.isDone else { return }
            attempt.isDone = true
            if self?.attempt === attempt { self?.attempt = nil }
            done(error)
        }
        cancelAttempt = { [weak attempt] error in
            finish(error)
            attempt?.air?.cancel()
        }
        if adapter.applications.visitCount > 0, daemon.faults.holds(.oneRole) {
            daemon.after(.milliseconds(200)) { finish(.connectAborted) }
            return
        }
        daemon.after(Self.patience) { [weak self] in
            guard !attempt.isDone else { return }
            finish(.connectAborted)
            attempt.air?.cancel()
            // A device that was not found is removed, unless it has a bond.
            if let self, !isPaired, !isConnected { adapter.remove(self) }
        }
        guard adapter.addresses.shown(own) == address, !isBlocked else { return }
        attempt.air = adapter.air.connect(to: own) { [weak self] link in
            guard let self, !attempt.isDone else { return }
            // A device that has a link does not advertise, so its name is the link's.
            if daemon.faults.happens(.connectAborted, to: names + [link.label]) != nil {
                return abort(link, finish)
            }
            linked(link)
            if let bond, !link.encrypt(by: bond) { return lostKeys(link, finish) }
            let dies = adapter.discovery.isOn && happens(.connectNeedsQuiet) != nil
            if dies { daemon.after(link.interval * 6) { link.end() } }
            finish(nil)
        } done: { [weak self] result in
            switch result {
            case .success(let link): self?.servicesFound(on: link)
            case .failure(.noFreeLink):
                let isUnnamed = self?.happens(.linkLimitUnnamed) != nil
                finish(isUnnamed ? .connectAborted : .tooManyLinks)
            case .failure: finish(.connectAborted)
            }
        }
    }

    /// The services that were last reported as found.
    private var told: DBusValue?
    private var cancelAttempt: (ErrorReply) -> Void = { _ in }

    /// The controllers connected and lost each other before any data was exchanged.
    private func abort(_ link: HostLink, _ finish: @escaping (ErrorReply?) -> Void) {
        linked(link)
        daemon.after(.milliseconds(50)) {
            link.end()
            finish(.connectAborted)
        }
    }

    /// The other device has lost the key: the link ends when it should be encrypted.
    private func lostKeys(_ link: HostLink, _ finish: @escaping (ErrorReply?) -> Void) {
        daemon.after(.milliseconds(500)) {
            link.end()
            finish(.connectCanceled)
        }
    }

    private func linked(_ link: HostLink) {
        self.link = link
        isStuck = false
        isConnected = true
        link.onEnd = { [weak self, weak link] in
            guard let self, let link, self.link === link else { return }
            lost()
        }
        appear()
        update(["Connected": .boolean(true)])
    }

    private func servicesFound(on link: HostLink) {
        guard self.link === link, link.isUp, happens(.unresolved) == nil else { return }
        if let bond, link.security != nil, link.bond != bond { return }
        let stale = happens(.staleServices)
        let areNew = table.open(link, of: self, stale: stale)
        update(["ServicesResolved": .boolean(true)])
        // Those that were advertised are among them from now on, until they are heard again.
        advertisedServices = []
        if told != uuids {
            told = uuids
            update(["UUIDs": uuids])
        }
        // Services that are not cached are read, and the device's own name with them: it is shown
        // until the next advertisement.
        if areNew, name != nil, name != Self.ownName {
            name = Self.ownName
            update(["Name": .string(Self.ownName), "Alias": .string(shownAlias)])
        }
        table.resubscribe()
    }

    /// A link of another program, or of a run that was killed.
    func connectForSomebody() {
        guard !isConnected, attempt == nil else { return }
        begin { _ in }
    }

    /// A central has connected on its own.
    func arrived() {
        isConnected = true
        // A bonded central still has its object.
        if isServed { update(["Connected": .boolean(true)]) } else { appear() }
    }

    // MARK: Disconnecting

    private func disconnect(_ call: IncomingCall) {
        if attempt != nil {
            cancelAttempt(.connectCanceled)
            if !isConnected { return call.reply() }
        }
        guard isConnected else {
            // Cancels an attempt that will never be answered.
            let cancelled = unanswered
            unanswered = []
            for call in cancelled { call.fail(.connectCanceled) }
            return call.reply()
        }
        ending.append(call)
        daemon.after(daemon.settings.host.disconnectTime) { [weak self] in
            self?.link?.end()
            self?.onDisconnect?()
        }
    }

    /// The link is lost: this is reported in one signal, and then everything that used it ends.
    func lost() {
        guard isConnected else { return }
        isConnected = false
        link = nil
        update(["Connected": .boolean(false), "ServicesResolved": .boolean(false)])
        table.close()
        let calls = ending
        ending = []
        for call in calls { call.reply() }
        if isTemporary { adapter.remove(self) }
    }

    /// The object is removed, with the link and everything below it.
    func vanish() {
        if attempt != nil { cancelAttempt(.connectAborted) }
        isTemporary = false
        link?.end()
        onDisconnect?()
        lost()
        table.remove()
        isServed = false
        daemon.withdraw(path)
        for call in unanswered { call.fail(.unknownObject(path)) }
        unanswered = []
    }

    /// The service ends without reporting anything.
    func serviceEnded() {
        isServed = false
        if attempt != nil { cancelAttempt(.connectAborted) }
        let link = link
        self.link = nil
        isConnected = false
        signal = nil
        link?.end()
        onDisconnect?()
        table = GATTTable()
        ending = []
        unanswered = []
    }

    func clientLeft(_ name: String) { table.clientLeft(name) }
}
