import Base
import Radio

/// Making and ending links: performs the machine's actions, and informs the tasks that wait.
extension BlueZ {
    func connect(
        _ peer: Peer,
        on word: String,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZLink {
        try await attach()
        let adapter = try await adapter(word)
        let lane = lane(word)
        try await sweep(lane, adapter)
        // A module has one link: a new request ends the previous one.
        for body in links.values where body.lane === lane && body.machine.address == peer.handle {
            await disconnect(body)
        }
        let body = newBody(peer, lane, policy, before: deadline)
        run(body, [])
        drive(lane, lane.machine.wantsToConnect(body.ticket, at: now))
        let ticket = body.ticket
        return try await body.wanted.outcome { [weak self, loop] in
            loop.perform { [weak self] in self?.assumeIsolated { $0.cancelled(ticket) } }
        }
    }

    private func newBody(
        _ peer: Peer,
        _ lane: AdapterLane,
        _ policy: BondPolicy,
        before deadline: Moment
    ) -> LinkBody {
        let ticket = newID()
        let machine = LinkMachine(
            to: peer.handle,
            on: lane.word,
            policy,
            isLeftBehind: settings.memory.links().contains(peer.handle),
            before: deadline,
            rules: settings.linkRules
        )
        let alarm = Deadline(on: loop) { [weak self] in
            self?.assumeIsolated { $0.linkIsDue(ticket) }
        }
        let body = LinkBody(ticket, machine, on: lane, generation: generation, alarm: alarm)
        links[ticket] = body
        return body
    }

    // MARK: Events

    func admit(_ ticket: UInt64) {
        guard let body = links[ticket] else { return }
        run(body, body.machine.begin(facts(of: body), at: now))
    }

    func refuse(_ ticket: UInt64, _ error: RadioError) {
        guard let body = links[ticket] else { return }
        run(body, body.machine.refused(error))
    }

    private func cancelled(_ ticket: UInt64) {
        guard let body = links[ticket] else { return }
        run(body, body.machine.cancelled(facts(of: body), at: now))
    }

    private func linkIsDue(_ ticket: UInt64) {
        guard let body = links[ticket] else { return }
        run(body, body.machine.tick(facts(of: body), at: now))
        for id in body.requests.keys.sorted() {
            guard let request = body.requests[id] else { continue }
            tick(request, body)
        }
        body.alarm.set(links[ticket] == nil ? nil : body.deadline)
    }

    /// Passes the current facts to the machine, in case they have changed.
    func examine(_ body: LinkBody) {
        run(body, body.machine.changed(facts(of: body), at: now))
    }

    func signOfLoss(_ body: LinkBody) {
        run(body, body.machine.signOfLoss(facts(of: body), at: now))
    }

    private func facts(of body: LinkBody) -> LinkFacts {
        let adapter = mirror.adapter(called: body.lane.word)
        let device: DeviceRecord? =
            if let path = body.machine.path {
                mirror.devices[path]
            } else {
                adapter.flatMap { mirror.device(body.machine.address, on: $0.path) }
            }
        return LinkFacts(
            isSameGeneration: body.generation == generation,
            adapter: adapter,
            device: device,
            isInUse: device.map { mirror.isInUse($0.path, besides: body.used) } ?? false,
            hasServices: device.map { mirror.hasServices($0.path) } ?? false
        )
    }

    // MARK: Actions

    func run(_ body: LinkBody, _ actions: [LinkMachine.Action]) {
        for action in actions { perform(action, body) }
        body.alarm.set(links[body.ticket] == nil ? nil : body.deadline)
    }

    private func perform(_ action: LinkMachine.Action, _ body: LinkBody) {
        let lane = body.lane
        switch action {
        case .call(let call): perform(call, body)
        case .hear: drive(lane, lane.machine.mustHear(body.ticket, at: now))
        case .remember: settings.memory.add(body.machine.address)
        case .forget: settings.memory.remove(body.machine.address)
        case .measure: measure(body)
        case .readMTU:
            let known = body.table.values.compactMap { mirror.characteristic(at: $0.path)?.mtu }
            run(body, body.machine.propertyRead(known.max(), at: now))
        case .look:
            let isDrained = body.isDrained
            run(
                body,
                isDrained
                    ? body.machine.drained(facts(of: body), at: now)
                    : body.machine.notDrained(at: now)
            )
        case .stands(let length): stands(body, length)
        case .void: void(body)
        case .failed(let failure): failed(body, failure)
        case .over: over(body)
        case .note(.heldByAnother): noteHeld(body)
        case .note(let note): settings.note(note)
        case .bonded: bonded(body)
        case .unbond: unbond(body)
        }
    }

    /// Notes that another program holds the module, once until the module is free.
    func noteHeld(_ body: LinkBody) {
        guard let path = body.machine.path, noted.insert(path).inserted else { return }
        settings.note(.heldByAnother(adapter: body.lane.word, address: body.machine.address))
    }

    private func bonded(_ body: LinkBody) {
        guard let adapter = mirror.adapter(called: body.lane.word)?.address else { return }
        settings.memory.bonded(body.machine.address, at: adapter)
    }

    private func unbond(_ body: LinkBody) {
        guard let path = body.machine.path else { return }
        removeDevice(path)
    }

    private func perform(_ call: LinkMachine.Call, _ body: LinkBody) {
        // A pairing starts when our agent is registered and no other pairing is running.
        if call == .pair { return pair(body) }
        start(call, body)
    }

    func beginPairing(_ ticket: UInt64) {
        guard let body = links[ticket] else { return pairingEnded(ticket) }
        start(.pair, body)
    }

    /// Without an agent, no one could answer BlueZ's questions.
    func pairingRefused(_ ticket: UInt64) {
        guard let body = links[ticket] else { return }
        run(body, body.machine.answered(.pair, .accessDenied, facts(of: body), at: now))
    }

    private func start(_ call: LinkMachine.Call, _ body: LinkBody) {
        guard let path = body.machine.path else {
            if call == .pair { pairingEnded(body.ticket) }
            return
        }
        let ticket = body.ticket
        var order: MethodCall
        switch call {
        case .connect, .pair:
            if call == .connect { refuseBonds() }
            order = MethodCall(
                call == .pair ? "Pair" : "Connect",
                of: BlueZName.device,
                at: path,
                on: BlueZName.service
            )
            // Longer than our own limit, after which another call cancels the attempt.
            let left = body.machine.deadline.map { now.duration(to: $0) } ?? .zero
            order.patience = left + .seconds(5)
        case .disconnect: order = Self.disconnectCall(path)
        case .fence: order = Self.fence
        }
        startCall(order) { [weak self] result in
            self?.assumeIsolated { $0.answered(ticket, call, Self.refusal(of: result)) }
        }
    }

    private func answered(_ ticket: UInt64, _ call: LinkMachine.Call, _ refusal: BlueZRefusal?) {
        if call == .pair { pairingEnded(ticket) }
        guard let body = links[ticket] else { return }
        run(body, body.machine.answered(call, refusal, facts(of: body), at: now))
        runWatchers()
    }

    private func stands(_ body: LinkBody, _ length: Int) {
        let face = BlueZLink(body, maximumLength: length, host: self)
        body.face = face
        body.hasStood = true
        for (characteristic, record) in body.table {
            if let socket = body.writers[record.path] { face.keep(socket, for: characteristic) }
        }
        body.lane.machine.linked(body.machine.address, at: now)
        drive(body.lane, body.lane.machine.attemptEnded(body.ticket, at: now))
        // The task may have given up at this very moment.
        guard body.wanted.settle(.success(face)) else {
            return run(body, body.machine.release(at: now))
        }
    }

    private func failed(_ body: LinkBody, _ failure: LinkMachine.Failure) {
        let lane = body.lane
        let error: RadioError
        switch failure {
        case .radio(.bond(.refused)): error = .bond(refusal(of: body))
        case .radio(let reason): error = reason
        case .services(let isRefused):
            error = isRefused ? .servicesRefused : .connectFailed
            if lane.machine.servicesMissed(body.machine.address), let path = body.machine.path {
                settings.note(.forgottenAsUnresolved(address: body.machine.address))
                removeDevice(path)
            }
        case .keys: error = keysMissed(body)
        }
        if failure != .keys { lane.machine.keysUntried(body.machine.address) }
        drive(lane, lane.machine.failed(body.machine.address, error, at: now))
        body.wanted.settle(.failure(error))
    }

    /// A module that was bonded to another adapter may have no room for another bond, or accept
    /// only that one.
    private func refusal(of body: LinkBody) -> BondFailure {
        guard let before = settings.memory.bonds()[body.machine.address],
            before != mirror.adapter(called: body.lane.word)?.address
        else { return .refused }
        return .bondedToOther(adapter: before)
    }

    /// Twice may be chance; after the third time, the module has lost the bond.
    private func keysMissed(_ body: LinkBody) -> RadioError {
        guard body.lane.machine.keysMissed(body.machine.address) else { return .connectFailed }
        guard body.machine.policy.mayRenew, let path = body.machine.path else {
            return .bond(.lost)
        }
        settings.note(.bondRenewed(adapter: body.lane.word, address: body.machine.address))
        removeDevice(path)
        return .connectFailed
    }

    private func over(_ body: LinkBody) {
        guard links.removeValue(forKey: body.ticket) != nil else { return }
        let lane = body.lane
        pairingEnded(body.ticket)
        if body.hasStood { lane.machine.unlinked(at: now) }
        drive(lane, lane.machine.attemptEnded(body.ticket, at: now))
        body.wanted.settle(.failure(.cancelled))
        for ender in body.enders { ender.settle(.success(())) }
        body.enders = []
        runWatchers()
    }

    /// Closes everything that belongs to a link.
    func void(_ body: LinkBody) {
        body.face?.markLost()
        for request in body.requests.values.sorted(by: { $0.id < $1.id }) {
            let error: RadioError =
                if case .fail(let error) = request.machine.lost() { error } else { .linkLost }
            request.outcome.settle(.failure(error))
        }
        body.requests = [:]
        body.lines = [:]
        for socket in body.writers.values { socket.close() }
        for (path, mailbox) in body.mailboxes {
            guard let socket = body.readers[path] else {
                mailbox.end(.linkLost)
                continue
            }
            // The last packets of the module may still be in the socket.
            socket.finish({ mailbox.add($0) }, { mailbox.end(.linkLost) })
        }
        body.writers = [:]
        body.readers = [:]
        body.mailboxes = [:]
        body.signalled = []
    }

    // MARK: Disconnecting

    func disconnect(_ link: BlueZLink) async {
        guard let body = links[link.ticket] else { return }
        await disconnect(body)
    }

    /// Ends a link and waits until BlueZ confirms it.
    func disconnect(_ body: LinkBody) async {
        guard links[body.ticket] === body else { return }
        for path in body.signalled.sorted() { stopNotify(path, body) }
        let end = Once<Void>()
        body.enders.append(end)
        body.face?.markLost()
        run(
            body,
            body.machine.isStanding
                ? body.machine.release(at: now)
                : body.machine.cancelled(facts(of: body), at: now)
        )
        // A cancelled task does not wait, but the link is ended all the same.
        try? await end.outcome()
    }

    // MARK: Forgetting

    /// Makes BlueZ forget a device, and waits until its object is gone.
    ///
    /// A bonded device is kept, because its keys would be deleted too. A device that another
    /// program is connected to is kept as well.
    func forget(_ peer: Peer, on word: String) async {
        guard (try? await attach()) != nil, let adapter = mirror.adapter(called: word),
            let device = mirror.device(peer.handle, on: adapter.path), !device.isBonded
        else { return }
        for body in links.values where body.isAbout(device.path) { await disconnect(body) }
        // bluetoothd 5.82 crashes when a device is removed before it has handled the end of the
        // device's sockets.
        try? await hearAll()
        guard let left = mirror.devices[device.path], !left.isConnected,
            unanswered[device.path] == nil
        else { return }
        let before = generation
        removeDevice(device.path)
        try? await condition(within: .seconds(5)) {
            before != self.generation || self.mirror.devices[device.path] == nil
                ? .success(()) : nil
        }
    }

    /// Does nothing while an `AcquireNotify` is unanswered: before 5.84, bluetoothd would crash.
    private func removeDevice(_ path: ObjectPath) {
        guard let adapter = mirror.devices[path]?.adapter, unanswered[path] == nil else { return }
        startCall(
            MethodCall(
                "RemoveDevice",
                of: BlueZName.adapter,
                at: adapter,
                on: BlueZName.service,
                [.objectPath(path)]
            )
        )
    }
}
