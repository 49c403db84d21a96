import Base
package import Radio

/// The connection to the bus, and the BlueZ daemon on it.
extension BlueZ {
    /// Returns when BlueZ is available and its objects are known.
    package func attach() async throws(RadioError) {
        if isLoaded { return }
        if let place = attachTurn.take() { try await place.outcome() }
        defer { attachTurn.leave() }
        do throws(BusError) {
            if let connection, await connection.isOpen {} else { try await open() }
        } catch { throw Self.radioError(error) }
        try await awaitService()
        try await awaitTree()
    }

    private func awaitService() async throws(RadioError) {
        do throws(RadioError) {
            try await condition(within: settings.servicePatience) {
                self.owner == nil ? nil : .success(())
            }
        } catch {
            throw error == .timedOut ? .serviceUnavailable : error
        }
    }

    private func awaitTree() async throws(RadioError) {
        if !isLoaded, loadError != nil { load() }
        try await condition(within: .seconds(20)) { () -> Result<Void, RadioError>? in
            if self.isLoaded { return .success(()) }
            if self.owner == nil { return .failure(.serviceUnavailable) }
            return self.loadError.map { .failure($0) }
        }
    }

    private func open() async throws(BusError) {
        let new = try await bus.connection()
        do throws(BusError) {
            try await listen(on: new)
        } catch {
            // A connection with only some of its signal rules must not be used as a complete one.
            await new.close()
            throw error
        }
    }

    private func listen(on new: Connection) async throws(BusError) {
        generationEnded()
        connection = new
        isAgentExported = false
        await new.onLoss { [weak self, weak new] in
            self?.assumeIsolated { $0.connectionLost(new) }
        }
        let take: @Sendable (Message) -> Void = { [weak self] message in
            self?.assumeIsolated { $0.take(message) }
        }
        // The rules come before the tree, so that no change is missed.
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
        ownerChanged(to: owner)
    }

    private func connectionLost(_ lost: Connection?) {
        guard let connection, connection === lost else { return }
        generationEnded()
        self.connection = nil
        owner = nil
        runWatchers()
    }

    private func ownerChanged(to new: String?) {
        guard new != owner else { return }
        generationEnded()
        owner = new
        // Load the tree immediately, even without a caller: our services may be waiting for it.
        if new != nil { load() }
        runWatchers()
    }

    private func load() {
        loadError = nil
        let before = generation
        let call = MethodCall(
            "GetManagedObjects",
            of: BlueZName.objectManager,
            at: .root,
            on: BlueZName.service,
            patience: .seconds(15)
        )
        startCall(call) { [weak self] result in
            self?.assumeIsolated { $0.loaded(result, before) }
        }
    }

    private func loaded(_ result: Result<[DBusValue], BusError>, _ before: Int) {
        guard before == generation else { return }
        switch result {
        case .success(let values) where values.first?.signature.text == BlueZName.tree:
            mirror.load(values[0])
            isLoaded = true
            for lane in lanes.values { examine(lane) }
            for station in stations.values { examine(station) }
        case .success: loadError = .serviceUnavailable
        case .failure(let error): loadError = Self.radioError(error)
        }
        runWatchers()
    }

    /// Invalidates everything that came from BlueZ: links, sockets, scans, services.
    func generationEnded() {
        generation += 1
        isLoaded = false
        loadError = nil
        mirror = ObjectMirror()
        accepted = []
        unanswered = [:]
        noted = []
        agent.voided()
        for body in links.values { examine(body) }
        for lane in lanes.values { drive(lane, lane.machine.lost(.serviceUnavailable, at: now)) }
        for station in stations.values { examine(station) }
        runWatchers()
    }

    // MARK: Signals of BlueZ

    private func take(_ message: Message) {
        let body = message.body
        switch (message.member, message.signature) {
        case ("PropertiesChanged", "sa{sv}as"):
            guard let path = message.path, let interface = body[0].asString,
                let changed = body[1].asProperties, let gone = body[2].asStrings
            else { return }
            follow(mirror.change(path, interface, changed, gone: gone))
        case ("InterfacesAdded", "oa{sa{sv}}"):
            guard let path = body[0].asPath else { return }
            for change in mirror.add(path, body[1]) { follow(change) }
        case ("InterfacesRemoved", "oas"):
            guard let path = body[0].asPath, let names = body[1].asStrings else { return }
            for change in mirror.remove(path, names) { follow(change) }
        default: return
        }
    }

    private func follow(_ change: ObjectMirror.Change) {
        switch change {
        case .device(let path, let isHeard):
            if isHeard { heard(path) }
            if mirror.devices[path]?.isConnected != true { noted.remove(path) }
            for body in links.values where body.mayBeAbout(path) { examine(body) }
            guard !isHeard else { break }
            for station in stations.values { examine(station, path) }
            endIfLeftBehind(path)
        case .adapter:
            for body in links.values { examine(body) }
            for lane in lanes.values { examine(lane) }
            for station in stations.values { examine(station) }
        case .gone(let path):
            unanswered[path] = nil
            noted.remove(path)
            for body in links.values { examine(body) }
            for lane in lanes.values { examine(lane) }
            for station in stations.values { examine(station, path) }
        case .value(let path, let bytes): notified(path, bytes)
        case .other: return
        }
        runWatchers()
    }

    /// Returns when all signals that BlueZ has sent so far have been handled.
    func hearAll() async throws(RadioError) {
        let fence = Once<Void>()
        // Any answer is sufficient: it arrives after the signals that were sent before it.
        startCall(Self.fence) { _ in fence.settle(.success(())) }
        try await fence.outcome()
    }

    /// Not a ping, which the daemon's library answers automatically: before it answers this call
    /// itself, the daemon sends the signals that it has delayed.
    static let fence = MethodCall(
        "Introspect",
        of: "org.freedesktop.DBus.Introspectable",
        at: .root,
        on: BlueZName.service
    )

    /// The adapter that an operator's name means, switched on.
    ///
    /// Before the adapter is reported as off or missing, all signals that BlueZ has sent so far are
    /// handled.
    func adapter(_ word: String) async throws(RadioError) -> AdapterRecord {
        if let adapter = mirror.adapter(called: word), adapter.isPowered { return adapter }
        try await hearAll()
        guard let adapter = mirror.adapter(called: word) else { throw .adapterMissing }
        guard adapter.isPowered else { throw .adapterOff }
        return adapter
    }
}
