import Base
package import Radio

/// The tables of services and the advertisements that this program keeps registered at adapters.
extension BlueZ {
    /// Opens a station on an adapter; `tell` is called on the bus's thread with its events.
    ///
    /// After each `round` without a central, the advertisement is registered again.
    package func openStation(
        on word: String,
        round: Duration? = nil,
        bond: BondPolicy = .unbonded,
        _ tell: @escaping @Sendable (StationEvent) -> Void
    ) async throws(RadioError) -> UInt64 {
        try await attach()
        let adapter = try await adapter(word)
        guard adapter.hasGattManager, adapter.hasAdvertisingManager else {
            throw .serviceUnavailable
        }
        let id = newID()
        let alarm = Deadline(on: loop) { [weak self] in
            self?.assumeIsolated { $0.stationIsDue(id) }
        }
        let station = Station(id, word, round: round, bond: bond, alarm: alarm, tell: tell)
        stations[id] = station
        letCentralsPair(station)
        return id
    }

    /// Replaces the table and the advertisement of a station.
    package func show(_ table: ServedTable?, _ face: AdvertisedFace?, at id: UInt64) {
        guard let station = stations[id] else { return }
        if station.table?.1 != table {
            station.table = table.map { (station.newNumber(), $0) }
        }
        if station.advertisement?.1 != face {
            station.advertisement = face.map { (station.newNumber(), $0) }
        }
        want(station)
    }

    private func want(_ station: Station) {
        run(
            station,
            station.machine.want(
                table: station.table?.number,
                advertisement: station.advertisement?.number,
                at: now
            )
        )
    }

    /// Sets whether a central is connected, which must not be disturbed.
    func setVisited(_ isVisited: Bool, at id: UInt64) {
        guard let station = stations[id] else { return }
        station.machine.isVisited = isVisited
        run(station, [])
    }

    /// Removes everything from the adapter; returns when BlueZ has released it, or does not answer.
    package func closeStation(_ id: UInt64) async {
        guard let station = stations[id], station.closing == nil else { return }
        let closing = Once<Void>()
        station.closing = closing
        station.table = nil
        station.advertisement = nil
        want(station)
        if !station.machine.isBare {
            // In a separate task, so that a cancelled caller also waits for the release.
            let (deadline, loop) = (now.advanced(by: .seconds(2)), loop)
            await Task { try? await closing.outcome(before: deadline, on: loop) }.value
        }
        station.alarm.set(nil)
        withdrawAll(of: station)
        stations[id] = nil
    }

    /// Ends the link of a central, like a module that disappears.
    package func disconnectCentral(_ device: ObjectPath) {
        guard mirror.devices[device]?.isConnected == true else { return }
        startCall(Self.disconnectCall(device))
    }

    // MARK: Events

    private func stationIsDue(_ id: UInt64) {
        guard let station = stations[id] else { return }
        run(station, station.machine.tick(at: now))
    }

    /// The adapter or BlueZ may have changed.
    func examine(_ station: Station) {
        let adapter = mirror.adapter(called: station.word)
        let isUsable =
            isLoaded && adapter?.isPowered == true && adapter?.hasGattManager == true
            && adapter?.hasAdvertisingManager == true
        guard isUsable != station.isUsable else { return }
        station.isUsable = isUsable
        if isUsable {
            letCentralsPair(station)
            station.tell(.usable)
            run(station, station.machine.usable(at: now))
        } else {
            station.machine.voided()
            station.lastCall = nil
            withdrawAll(of: station)
            station.centrals = []
            station.tell(.void)
            run(station, [])
        }
    }

    /// A device of the adapter may have connected or disconnected.
    func examine(_ station: Station, _ path: ObjectPath) {
        guard let adapter = mirror.adapter(called: station.word), path.parent == adapter.path else {
            return
        }
        let isConnected = mirror.devices[path]?.isConnected == true && !isOurs(path)
        if isConnected, station.centrals.insert(path).inserted {
            station.tell(.arrived(path))
        } else if !isConnected, station.centrals.remove(path) != nil {
            station.tell(.left(path))
        }
        changed(path, at: station)
    }

    // MARK: Actions

    private func run(_ station: Station, _ actions: [StationMachine.Action]) {
        for action in actions {
            switch action {
            case .perform(let step): perform(step, station)
            case .refused(let step, let refusal): station.tell(.refused(step, refusal))
            case .settled: station.tell(.settled)
            case .note(let note): settings.note(note)
            }
        }
        if station.machine.isBare { station.closing?.settle(.success(())) }
        station.alarm.set(station.machine.deadline)
    }

    private func perform(_ step: StationMachine.Step, _ station: Station) {
        let id = station.id
        let order: (member: String, interface: String, path: ObjectPath)?
        switch step {
        case .register:
            order = export(station.table?.1, at: station).map {
                ("RegisterApplication", BlueZName.gattManager, $0)
            }
        case .unregister:
            order = station.tableObjects.map {
                ("UnregisterApplication", BlueZName.gattManager, $0.root)
            }
        case .advertise:
            order = export(station.advertisement?.1, at: station).map {
                ("RegisterAdvertisement", BlueZName.advertisingManager, $0)
            }
        case .withdraw:
            order = station.advertisementObject.map {
                ("UnregisterAdvertisement", BlueZName.advertisingManager, $0)
            }
        }
        guard let order, let adapter = mirror.adapter(called: station.word) else {
            return run(station, station.machine.done(step, .objectGone, at: now))
        }
        var arguments = [DBusValue.objectPath(order.path)]
        if order.member.hasPrefix("Register") { arguments.append(.properties([:])) }
        let call = MethodCall(
            order.member,
            of: order.interface,
            at: adapter.path,
            on: BlueZName.service,
            arguments,
            patience: .seconds(10)
        )
        let number = newID()
        station.lastCall = number
        startCall(call) { [weak self] result in
            self?.assumeIsolated { $0.stepDone(step, id, number, Self.refusal(of: result)) }
        }
    }

    private func stepDone(
        _ step: StationMachine.Step,
        _ id: UInt64,
        _ number: UInt64,
        _ refusal: BlueZRefusal?
    ) {
        // The answer to a call from before the adapter or BlueZ disappeared is ignored.
        guard let station = stations[id], station.lastCall == number else { return }
        switch step {
        case .unregister: withdrawTable(of: station)
        case .withdraw: withdrawAdvertisement(of: station)
        case .register where refusal != nil && refusal != .alreadyExists:
            withdrawTable(of: station)
        case .advertise where refusal != nil && refusal != .alreadyExists:
            withdrawAdvertisement(of: station)
        case .register, .advertise: break
        }
        run(station, station.machine.done(step, refusal, at: now))
        runWatchers()
    }

    // MARK: Objects on the bus

    /// Exports a table at a new path: no two applications share a path.
    private func export(_ table: ServedTable?, at station: Station) -> ObjectPath? {
        guard let table, let root = ObjectPath("/ee/yardmaster/service\(newID())") else {
            return nil
        }
        let id = station.id
        let objects = table.objects(under: root)
        connection?.assumeIsolated { connection in
            connection.exportManager(at: root)
            for object in objects {
                connection.export(
                    object.description,
                    at: object.path,
                    properties: object.properties
                ) { [weak self] call in
                    self?.assumeIsolated { $0.asked(call, object.characteristic, id) }
                }
            }
        }
        station.tableObjects = (root, objects.map(\.path))
        return root
    }

    private func export(_ face: AdvertisedFace?, at station: Station) -> ObjectPath? {
        guard let face, let path = ObjectPath("/ee/yardmaster/advertisement\(newID())") else {
            return nil
        }
        let id = station.id
        connection?.assumeIsolated { connection in
            connection.export(.advertised, at: path, properties: face.properties) {
                [weak self] call in
                call.reply()
                self?.assumeIsolated { $0.released(path, id) }
            }
        }
        station.advertisementObject = path
        return path
    }

    private func released(_ path: ObjectPath, _ id: UInt64) {
        guard let station = stations[id], station.advertisementObject == path else { return }
        withdrawAdvertisement(of: station)
        run(station, station.machine.released(at: now))
    }

    private func asked(_ call: IncomingCall, _ characteristic: Characteristic?, _ id: UInt64) {
        // Only the daemon may make requests for centrals.
        guard call.sender == owner, let characteristic, let station = stations[id] else {
            return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "not yours to call"))
        }
        station.tell(.asked(call, characteristic))
    }

    private func withdrawAll(of station: Station) {
        withdrawTable(of: station)
        withdrawAdvertisement(of: station)
    }

    private func withdrawTable(of station: Station) {
        guard let objects = station.tableObjects else { return }
        station.tableObjects = nil
        connection?.assumeIsolated { connection in
            for path in objects.paths { try? connection.withdraw(path) }
            connection.withdrawManager(at: objects.root)
        }
    }

    private func withdrawAdvertisement(of station: Station) {
        guard let path = station.advertisementObject else { return }
        station.advertisementObject = nil
        connection?.assumeIsolated { connection in try? connection.withdraw(path) }
    }
}
