import DBus
import Domain
import Radio

/// Scanning: one discovery session per adapter for all who want one.
extension BlueZ {
    func lane(_ word: String) -> AdapterLane {
        if let lane = lanes[word] { return lane }
        let lane = AdapterLane(word, cap: settings.linksPerAdapter)
        lanes[word] = lane
        return lane
    }

    /// Joins the adapter's scan; `endScan` must follow.
    func beginScan(
        _ filter: ScanFilter,
        on word: String
    ) async throws(RadioError) -> (id: UInt64, scan: BlueZScan) {
        try await ready()
        var adapter = try await adapter(word)
        if !leftLinks(on: adapter).isEmpty {
            // A link that was lost just now looks like one that was left behind.
            try await hearAll()
            adapter = try await self.adapter(word)
        }
        let lane = lane(word)
        let id = newID()
        let mailbox = Mailbox<Advertisement>(capacity: 256, on: loop)
        lane.users[id] = ScanUser(filter: filter, mailbox: mailbox)
        for device in leftLinks(on: adapter) { offer(device, to: lane) }
        drive(lane, lane.scanner.filterChanged())
        drive(lane, lane.scanner.want(lane.wantsScan))
        return (id, BlueZScan(mailbox: mailbox, time: time))
    }

    /// Devices that do not advertise but are there: links that an earlier run left behind.
    private func leftLinks(on adapter: AdapterRecord) -> [DeviceRecord] {
        mirror.devices.values
            .filter { $0.adapter == adapter.path && $0.isConnected && links[$0.path] == nil }
            .sorted { $0.path < $1.path }
    }

    func endScan(_ id: UInt64, on word: String) {
        let lane = lane(word)
        lane.users[id] = nil
        drive(lane, lane.scanner.want(lane.wantsScan))
    }

    // MARK: What is heard

    func heard(_ path: ObjectPath) {
        guard let device = mirror.devices[path], let adapter = device.adapter,
            let record = mirror.adapters[adapter]
        else { return }
        for lane in lanes.values where record.isCalled(lane.word) {
            lane.lastHeard = time.now
            lane.ladder.heard()
            if lane.pauses == 0 { offer(device, to: lane) }
        }
    }

    private func offer(_ device: DeviceRecord, to lane: AdapterLane) {
        guard !lane.users.isEmpty else { return }
        let advertisement = Advertisement(
            peer: Peer(handle: device.address),
            name: device.name,
            signal: max(-127, min(20, device.signal ?? -127)),
            manufacturerData: device.manufacturerData,
            services: device.services
        )
        // What other programs' filters let through comes to us too: each hit is looked at again.
        for user in lane.users.values where user.filter.passes(advertisement) {
            user.mailbox.add(advertisement)
        }
    }

    // MARK: Driving the scanner

    func examine(_ lane: AdapterLane) {
        guard let adapter = mirror.adapter(called: lane.word) else {
            lane.ended(.adapterMissing)
            return
        }
        if case .doing(let step) = lane.scanner.state, step == .powerOff || step == .powerOn {
            return
        }
        if !adapter.isPowered { lane.ended(.adapterOff) }
    }

    func drive(_ lane: AdapterLane, _ action: ScannerMachine.Action) {
        switch action {
        case .nothing: break
        case .fail(let error): lane.fail(error)
        case .perform(let step): perform(step, lane)
        }
        if lane.scanner.isOn, lane.watchdog == nil {
            lane.lastHeard = time.now
            setWatchdog(lane, in: settings.silence)
        } else if !lane.scanner.isOn {
            lane.watchdog?.cancel()
            lane.watchdog = nil
        }
        runWatchers()
    }

    private func perform(_ step: ScannerMachine.Step, _ lane: AdapterLane) {
        guard let adapter = mirror.adapter(called: lane.word) else {
            return lane.ended(.adapterMissing)
        }
        var call: MethodCall
        switch step {
        case .setFilter:
            call = MethodCall(
                "SetDiscoveryFilter",
                of: BlueZName.adapter,
                at: adapter.path,
                on: BlueZName.service,
                [.properties(Self.filter(for: lane.users.values.map(\.filter)))]
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
            if step == .powerOff { settings.note(.powerCycled(adapter: lane.word)) }
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
        // Seen through also when the task that wanted it is cancelled.
        startCall(call) { [weak self] result in
            self?.assumeIsolated { $0.scannerStepDone(word, before, result) }
        }
    }

    private func scannerStepDone(
        _ word: String,
        _ before: Int,
        _ result: Result<[DBusValue], BusError>
    ) {
        guard before == generation else { return }
        let lane = lane(word)
        let refusal = Self.refusal(of: result)
        drive(lane, lane.scanner.done(refusal, mayCyclePower: mayCyclePower(lane)))
        drive(lane, lane.scanner.want(lane.wantsScan))
        examine(lane)
    }

    static func refusal(of result: Result<[DBusValue], BusError>) -> BlueZRefusal? {
        switch result {
        case .success: nil
        case .failure(.refused(let reply)): BlueZRefusal(reply)
        case .failure(.disconnected), .failure(.unreachable): .serviceGone
        case .failure(.timedOut), .failure(.cancelled), .failure(.malformed),
            .failure(.unsendable):
            .failed
        }
    }

    /// The least that all who scan need; what they do not share is left to us.
    static func filter(for filters: [ScanFilter]) -> [String: DBusValue] {
        var filter: [String: DBusValue] = [
            "Transport": .string("le"),
            // Without it a device is told of once, and a changed identity perhaps never.
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

    // MARK: Watching it

    private func setWatchdog(_ lane: AdapterLane, in time: Duration) {
        let word = lane.word
        lane.watchdog = Alarm(after: time, on: loop) { [weak self] in
            self?.assumeIsolated { $0.watchdogBarked(word) }
        }
    }

    private func watchdogBarked(_ word: String) {
        let lane = lane(word)
        lane.watchdog = nil
        guard lane.scanner.isOn, let lastHeard = lane.lastHeard else { return }
        let silent = lastHeard.duration(to: time.now)
        guard silent >= settings.silence else {
            return setWatchdog(lane, in: settings.silence - silent)
        }
        setWatchdog(lane, in: settings.silence)
        switch lane.ladder.silent(mayCyclePower: mayCyclePower(lane)) {
        case .restartScan:
            settings.note(.scanRestarted(adapter: word))
            drive(lane, lane.scanner.restart())
        case .cyclePower: drive(lane, lane.scanner.cyclePower())
        case .report: settings.note(.deaf(adapter: word))
        case nil: break
        }
    }

    private func mayCyclePower(_ lane: AdapterLane) -> Bool {
        guard settings.mayCyclePower, !lane.servesCentral,
            let adapter = mirror.adapter(called: lane.word)
        else { return false }
        return !mirror.devices.values.contains { $0.adapter == adapter.path && $0.isConnected }
    }

    /// Stops listening for as long as somebody connects, and waits until that is so.
    func pauseScan(_ lane: AdapterLane) async throws(RadioError) {
        lane.pauses += 1
        drive(lane, lane.scanner.want(lane.wantsScan))
        do throws(RadioError) {
            try await condition(within: .seconds(3)) {
                lane.scanner.isOff || lane.wantsScan ? .success(()) : nil
            }
        } catch .timedOut {
            // A stop that hangs must not keep us from connecting.
        } catch {
            resumeScan(lane)
            throw error
        }
    }

    func resumeScan(_ lane: AdapterLane) {
        lane.pauses -= 1
        drive(lane, lane.scanner.want(lane.wantsScan))
    }
}
