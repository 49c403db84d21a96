import Base
import Radio

/// Scanning: one discovery session per adapter for all scans.
extension BlueZ {
    func lane(_ word: String) -> AdapterLane {
        if let lane = lanes[word] { return lane }
        let alarm = Deadline(on: loop) { [weak self] in
            self?.assumeIsolated { $0.laneIsDue(word) }
        }
        let lane = AdapterLane(word, rules: settings.adapterRules, alarm: alarm)
        lanes[word] = lane
        return lane
    }

    private func laneIsDue(_ word: String) {
        let lane = lane(word)
        drive(lane, lane.machine.tick(at: now, isFree: isFree(lane)))
    }

    /// Joins the adapter's scan; the caller must call `endScan` afterwards.
    func beginScan(
        _ filter: ScanFilter,
        on word: String
    ) async throws(RadioError) -> (id: UInt64, mailbox: Mailbox<Advertisement>) {
        try await attach()
        let adapter = try await adapter(word)
        let lane = lane(word)
        try await sweep(lane, adapter)
        let id = newID()
        let mailbox = Mailbox<Advertisement>(capacity: 256, on: loop)
        lane.scans[id] = ScanUser(filter: filter, mailbox: mailbox)
        offerHeld(on: adapter, to: lane)
        drive(lane, lane.machine.scanBegan(id, at: now))
        return (id, mailbox)
    }

    func endScan(_ id: UInt64, on word: String) {
        let lane = lane(word)
        lane.scans[id] = nil
        drive(lane, lane.machine.scanEnded(id, at: now))
    }

    // MARK: Sightings

    func heard(_ path: ObjectPath) {
        guard let device = mirror.devices[path], let adapter = device.adapter,
            let record = mirror.adapters[adapter]
        else { return }
        for lane in lanes.values where record.isCalled(lane.word) {
            lane.machine.heard(at: now)
            lane.alarm.set(lane.machine.deadline)
            if lane.machine.isListening { offer(device, isHeld: false, to: lane) }
        }
    }

    /// Reports modules that other programs are connected to: they do not advertise, but they are
    /// present.
    private func offerHeld(on adapter: AdapterRecord, to lane: AdapterLane) {
        for device in mirror.devices.values.sorted(by: { $0.path < $1.path })
        where device.adapter == adapter.path && device.isConnected && !isOurs(device.path) {
            offer(device, isHeld: true, to: lane)
        }
    }

    private func offer(_ device: DeviceRecord, isHeld: Bool, to lane: AdapterLane) {
        guard !lane.scans.isEmpty else { return }
        var advertisement = Advertisement(
            peer: Peer(handle: device.address),
            name: device.advertisedName ?? device.name,
            signal: max(-127, min(20, device.signal ?? -127)),
            manufacturerData: device.manufacturerData,
            services: device.services
        )
        advertisement.isHeld = isHeld
        // BlueZ also reports what other programs' filters pass, so each sighting is checked again.
        for scan in lane.scans.values where scan.filter.passes(advertisement) {
            scan.mailbox.add(advertisement)
        }
    }

    // MARK: The machine

    func examine(_ lane: AdapterLane) {
        guard isLoaded else { return }
        let presence: AdapterMachine.Presence =
            switch mirror.adapter(called: lane.word)?.isPowered {
            case nil: .missing
            case true?: .on
            case false?: .off
            }
        drive(lane, lane.machine.changed(to: presence, at: now))
    }

    func drive(_ lane: AdapterLane, _ actions: [AdapterMachine.Action]) {
        for action in actions {
            switch action {
            case .perform(let step): perform(step, lane)
            case .endScans(let error):
                for scan in lane.scans.values { scan.mailbox.end(error) }
            case .admit(let ticket): admit(ticket)
            case .refuse(let ticket, let error): refuse(ticket, error)
            case .note(let note): settings.note(note)
            }
        }
        lane.alarm.set(lane.machine.deadline)
    }

    private func perform(_ step: ScannerMachine.Step, _ lane: AdapterLane) {
        guard let adapter = mirror.adapter(called: lane.word) else {
            return drive(lane, lane.machine.lost(.adapterMissing, at: now))
        }
        var call: MethodCall
        switch step {
        case .setFilter:
            call = MethodCall(
                "SetDiscoveryFilter",
                of: BlueZName.adapter,
                at: adapter.path,
                on: BlueZName.service,
                [.properties(discoveryFilter(lane))]
            )
        case .start, .startAgain:
            call = MethodCall(
                "StartDiscovery",
                of: BlueZName.adapter,
                at: adapter.path,
                on: BlueZName.service
            )
        case .stop, .stopAgain:
            call = MethodCall(
                "StopDiscovery",
                of: BlueZName.adapter,
                at: adapter.path,
                on: BlueZName.service
            )
        case .powerOff, .powerOn:
            call = MethodCall(
                "Set",
                of: BlueZName.properties,
                at: adapter.path,
                on: BlueZName.service,
                [
                    .string(BlueZName.adapter), .string("Powered"),
                    .variant(.boolean(step == .powerOn)),
                ]
            )
        }
        call.patience = .seconds(10)
        let (word, before) = (lane.word, generation)
        // The call continues even if the task that requested it is cancelled.
        startCall(call) { [weak self] result in
            self?.assumeIsolated { $0.stepDone(step, word, before, result) }
        }
    }

    private func stepDone(
        _ step: ScannerMachine.Step,
        _ word: String,
        _ before: Int,
        _ result: Result<[DBusValue], BusError>
    ) {
        guard before == generation else { return }
        let lane = lane(word)
        let refusal = Self.refusal(of: result)
        // bluetoothd answers before it reports that `Powered` is true again.
        if step == .powerOn, refusal == nil { mirror.switchedOn(word) }
        drive(lane, lane.machine.stepDone(refusal, isFree: isFree(lane), at: now))
        examine(lane)
        runWatchers()
    }

    /// Whether no other program would lose anything if the adapter were switched off and on.
    private func isFree(_ lane: AdapterLane) -> Bool {
        guard let adapter = mirror.adapter(called: lane.word) else { return false }
        let ours = stations.values.count { $0.word == lane.word && $0.machine.isAdvertising }
        return adapter.advertisements <= ours
            && !mirror.devices.values.contains { $0.adapter == adapter.path && $0.isConnected }
    }

    private func discoveryFilter(_ lane: AdapterLane) -> [String: DBusValue] {
        // A module that is sought for a connection is known only by its address.
        let everybody = lane.machine.hearsForConnecting ? [ScanFilter()] : []
        return Self.discoveryFilter(for: lane.scans.values.map(\.filter) + everybody)
    }

    /// The weakest filter that all scans need; the program itself applies their differences.
    static func discoveryFilter(for filters: [ScanFilter]) -> [String: DBusValue] {
        var filter: [String: DBusValue] = [
            "Transport": .string("le"),
            // Without it a device is reported once, and a changed identity perhaps never.
            "DuplicateData": .boolean(true),
        ]
        let services = filters.map(\.services)
        if !filters.isEmpty, services.allSatisfy({ !$0.isEmpty }),
            filters.allSatisfy({ $0.companies.isEmpty })
        {
            let all = Set(services.joined()).sorted()
            filter["UUIDs"] = .strings(all.map(\.description))
        }
        return filter
    }
}
