import DBus
import Domain
import Radio

/// Making links: one attempt at a time on each adapter, with the scan paused.
extension BlueZ {
    func connect(
        _ peer: Peer,
        on word: String,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZLink {
        let lane = lane(word)
        if let place = lane.turn.take() {
            try await place.outcome(within: max(.zero, remaining(until: deadline)), on: loop)
        }
        defer { lane.turn.leave() }
        try await ready()
        let adapter = try await adapter(word)
        if lane.servesCentral {
            settings.note(.adapterServesACentral(adapter: word))
            throw .noFreeLink
        }
        let standing = links.values.count { $0.adapter == adapter.path && !$0.isLost }
        guard lane.cap.hasRoom(beside: standing) else { throw .noFreeLink }
        if mirror.device(peer.handle, on: adapter.path) != nil {
            try await pauseScan(lane)
            defer { resumeScan(lane) }
            if let link = try await attempt(peer, adapter, lane, standing, before: deadline) {
                return link
            }
        }
        return try await searchAndConnect(peer, adapter, lane, standing, before: deadline)
    }

    /// BlueZ has dropped the device: it is heard again, and connected to with the scan on.
    private func searchAndConnect(
        _ peer: Peer,
        _ adapter: AdapterRecord,
        _ lane: AdapterLane,
        _ standing: Int,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZLink {
        lane.searches += 1
        drive(lane, lane.scanner.filterChanged())
        drive(lane, lane.scanner.want(lane.wantsScan))
        defer {
            lane.searches -= 1
            drive(lane, lane.scanner.want(lane.wantsScan))
        }
        do throws(RadioError) {
            try await condition(within: min(.seconds(10), remaining(until: deadline))) {
                self.mirror.device(peer.handle, on: adapter.path) == nil ? nil : .success(())
            }
        } catch .timedOut {
            throw remaining(until: deadline) > .zero ? .connectFailed : .timedOut
        }
        guard let link = try await attempt(peer, adapter, lane, standing, before: deadline) else {
            throw .connectFailed
        }
        return link
    }

    // MARK: One attempt

    /// Nil when the device's object is not there.
    private func attempt(
        _ peer: Peer,
        _ adapter: AdapterRecord,
        _ lane: AdapterLane,
        _ standing: Int,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZLink? {
        guard let device = mirror.device(peer.handle, on: adapter.path) else { return nil }
        try await clear(device, lane)
        let before = generation
        do throws(RadioError) {
            settings.memory.add(device.address)
            guard try await makeLink(device, adapter, before, deadline) else {
                settings.memory.remove(device.address)
                return nil
            }
            lane.cap.connected()
            try await findServices(device, adapter, lane, before, deadline)
            lane.unresolved[device.address] = nil
            return try await finish(device, adapter, lane, before, deadline)
        } catch {
            await giveUp(device.path, device.address, before)
            switch error {
            case .noFreeLink where lane.cap.refused(beside: standing),
                .connectFailed where lane.cap.failed(beside: standing):
                settings.note(.limitLearned(adapter: lane.word, links: lane.cap.limit))
            default: break
            }
            if error == .timedOut, remaining(until: deadline) > .zero { throw .connectFailed }
            throw error
        }
    }

    /// Sees to a link that stands already and is not known here.
    private func clear(_ device: DeviceRecord, _ lane: AdapterLane) async throws(RadioError) {
        if let old = links[device.path] {
            await disconnect(old)
        } else if device.isConnected {
            guard settings.memory.links().contains(device.address) else {
                settings.note(.heldByAnother(adapter: lane.word, address: device.address))
                throw .connectFailed
            }
            settings.note(.takenOver(adapter: lane.word, address: device.address))
            await giveUp(device.path, device.address, generation)
        }
    }

    /// False when the device's object is not there.
    private func makeLink(
        _ device: DeviceRecord,
        _ adapter: AdapterRecord,
        _ before: Int,
        _ deadline: Moment
    ) async throws(RadioError) -> Bool {
        let patience = min(settings.connectPatience, remaining(until: deadline))
        guard patience > .zero else { throw .timedOut }
        let answer = Once<BlueZRefusal?>()
        var call = MethodCall(
            "Connect",
            of: BlueZName.device,
            at: device.path,
            on: BlueZName.service
        )
        call.patience = patience + .seconds(5)
        startCall(call) { answer.settle(.success(Self.refusal(of: $0))) }
        // Whatever ends it first: the answer, or the loss of what it needs.
        let guardian = addWatcher {
            let verdict = self.verdict(device.path, adapter.path, before, hasStood: false)
            guard case .lost(let error) = verdict else { return false }
            // The object went: the answer to the call says the same, sooner or later.
            let isDropped = error == .connectFailed
            answer.settle(isDropped ? .success(.objectGone) : .failure(error))
            return true
        }
        defer { removeWatcher(guardian) }
        var grace = Duration.seconds(2)
        switch try await answer.outcome(within: patience, on: loop) {
        case nil: break
        // Somebody's attempt is under way: ours too, then.
        case .inProgress, .alreadyExists: grace = remaining(until: deadline)
        case .notReady: throw .adapterOff
        case .objectGone: return false
        case .serviceGone: throw .serviceUnavailable
        case .accessDenied: throw .unauthorized
        case .tooManyLinks: throw .noFreeLink
        case .acquired, .notConnected, .att, .notSupported, .notPermitted, .failed:
            throw .connectFailed
        }
        // An answer is no link: some versions say yes to an attempt that failed.
        do throws(RadioError) {
            try await condition(within: min(grace, remaining(until: deadline))) {
                () -> Result<Void, RadioError>? in
                switch self.verdict(device.path, adapter.path, before, hasStood: false) {
                case .waiting: nil
                case .connected, .resolved: .success(())
                case .lost(let error): .failure(error)
                }
            }
        } catch .timedOut {
            throw remaining(until: deadline) > .zero ? .connectFailed : .timedOut
        }
        return true
    }

    private func findServices(
        _ device: DeviceRecord,
        _ adapter: AdapterRecord,
        _ lane: AdapterLane,
        _ before: Int,
        _ deadline: Moment
    ) async throws(RadioError) {
        let patience = min(settings.servicesPatience, remaining(until: deadline))
        do throws(RadioError) {
            try await condition(within: patience) { () -> Result<Void, RadioError>? in
                switch self.verdict(device.path, adapter.path, before, hasStood: true) {
                case .waiting, .connected: nil
                case .resolved: .success(())
                // Lost before it was of use: the attempt failed, there was no link to lose.
                case .lost(let error): .failure(error == .linkLost ? .connectFailed : error)
                }
            }
        } catch .timedOut {
            lane.unresolved[device.address, default: 0] += 1
            if lane.unresolved[device.address] == 3 {
                lane.unresolved[device.address] = nil
                settings.note(.forgottenAsUnresolved(address: device.address))
                removeDevice(device.path, on: adapter.path)
            }
            throw remaining(until: deadline) > .zero ? .connectFailed : .timedOut
        }
    }

    func verdict(
        _ device: ObjectPath,
        _ adapter: ObjectPath,
        _ before: Int,
        hasStood: Bool
    ) -> LinkRace {
        LinkRace.verdict(
            isSameGeneration: before == generation,
            adapter: mirror.adapters[adapter],
            device: mirror.devices[device],
            hasStood: hasStood
        )
    }

    private func finish(
        _ device: DeviceRecord,
        _ adapter: AdapterRecord,
        _ lane: AdapterLane,
        _ before: Int,
        _ deadline: Moment
    ) async throws(RadioError) -> BlueZLink {
        // The daemon may say that all services are found before it tells of the last of them.
        try await hearAll()
        guard case .resolved = verdict(device.path, adapter.path, before, hasStood: true) else {
            throw .connectFailed
        }
        let state = LinkState(
            device: device,
            adapter: adapter,
            word: lane.word,
            generation: before,
            table: mirror.table(of: device.path)
        )
        links[device.path] = state
        let length: Int
        do throws(RadioError) {
            length = try await measure(state, before: deadline)
        } catch {
            release(state)
            throw error == .linkLost ? .connectFailed : error
        }
        let link = BlueZLink(state, maximumLength: length, host: self)
        state.link = link
        for (characteristic, record) in state.table {
            if let socket = state.writers[record.path] { link.keep(socket, for: characteristic) }
        }
        guard !state.isLost else {
            release(state)
            throw .connectFailed
        }
        return link
    }

    /// Ends what an attempt has left; the next one begins with no link.
    private func giveUp(_ path: ObjectPath, _ address: String, _ before: Int) async {
        guard before == generation else { return }
        let answer = Once<Void>()
        sendDisconnect(path) { answer.settle(.success(())) }
        // A task that is cancelled does not wait; the order is given all the same.
        try? await answer.outcome(within: .seconds(3), on: loop)
        try? await condition(within: .seconds(3)) {
            let isGone = before != self.generation || self.mirror.devices[path]?.isConnected != true
            return isGone ? .success(()) : nil
        }
        if mirror.devices[path]?.isConnected != true { settings.memory.remove(address) }
    }

    func sendDisconnect(
        _ path: ObjectPath,
        then done: @escaping @Sendable () -> Void = {}
    ) {
        let call = MethodCall(
            "Disconnect",
            of: BlueZName.device,
            at: path,
            on: BlueZName.service,
            patience: .seconds(10)
        )
        startCall(call) { _ in done() }
    }

    func removeDevice(_ path: ObjectPath, on adapter: ObjectPath) {
        let call = MethodCall(
            "RemoveDevice",
            of: BlueZName.adapter,
            at: adapter,
            on: BlueZName.service,
            [.objectPath(path)]
        )
        startCall(call) { _ in }
    }

    /// Has BlueZ forget a device, and waits until its object is gone.
    ///
    /// One that is bonded stays: its keys would go with it.
    func forget(_ peer: Peer, on word: String) async {
        guard (try? await ready()) != nil, let adapter = mirror.adapter(called: word),
            let device = mirror.device(peer.handle, on: adapter.path), !device.isBonded
        else { return }
        if let link = links[device.path] { await disconnect(link) }
        // bluetoothd 5.82 dies when a device is removed before the end of its sockets is seen to.
        try? await hearAll()
        guard mirror.devices[device.path] != nil else { return }
        let before = generation
        removeDevice(device.path, on: adapter.path)
        try? await condition(within: .seconds(5)) {
            before != self.generation || self.mirror.devices[device.path] == nil
                ? .success(()) : nil
        }
    }
}
