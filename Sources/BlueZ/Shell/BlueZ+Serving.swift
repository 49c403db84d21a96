import Base
import Radio

/// The peripheral role: a service, its advertisement, and one central at a time.
extension BlueZ {
    func openService(
        _ description: ServiceDescription,
        on word: String
    ) async throws(RadioError) -> UInt64 {
        let id = newID()
        let alarm = Deadline(on: loop) { [weak self] in
            self?.assumeIsolated { $0.serviceIsDue(id) }
        }
        try await attach()
        let service = Service(description, word, generation: generation, alarm: alarm)
        services[id] = service
        do throws(RadioError) {
            service.station = try await openStation(
                on: word,
                round: settings.advertisingRound,
                bond: description.bond
            ) { [weak self] event in
                self?.assumeIsolated { $0.happened(event, id) }
            }
            show(service.table, nil, at: service.station)
            // BlueZ reads our objects before it answers.
            try await condition(within: .seconds(11)) { () -> Result<Void, RadioError>? in
                if let error = self.fault(of: service) { return .failure(error) }
                return service.isRegistered ? .success(()) : nil
            }
            return id
        } catch {
            await closeService(id)
            throw error == .timedOut ? .serviceUnavailable : error
        }
    }

    /// Returns when BlueZ has released the service, or does not answer.
    func closeService(_ id: UInt64) async {
        guard let service = services[id] else { return }
        for visit in service.visits.keys.sorted() { await disconnect(visit, service) }
        run(service, service.book.ended())
        service.isEnded = true
        service.alarm.set(nil)
        lane(service.word).machine.servesCentral = false
        await closeStation(service.station)
        services[id] = nil
    }

    /// Advertises until a central has subscribed.
    ///
    /// A central that is connected at the deadline still gets its time to subscribe.
    func nextCentral(
        _ id: UInt64,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZCentralLink {
        guard let service = services[id] else { throw .serviceUnavailable }
        for visit in service.visits.keys.sorted() where service.book.isServing {
            await disconnect(visit, service)
        }
        if Task.isCancelled { throw .cancelled }
        service.refusal = nil
        show(
            service.table,
            AdvertisedFace(services: [service.description.uuid]),
            at: service.station
        )
        defer { show(service.table, nil, at: service.station) }
        while true {
            do throws(RadioError) {
                return try await arrival(at: service, within: now.duration(to: deadline))
            } catch .timedOut {
                guard service.book.isAwaited else { throw timeoutError(of: service) }
            }
            try await condition(within: GuestBook.subscribing) { () -> Result<Void, RadioError>? in
                let isOver =
                    service.book.arrival != nil || !service.book.isAwaited
                    || self.fault(of: service) != nil
                return isOver ? .success(()) : nil
            }
        }
    }

    private func arrival(
        at service: Service,
        within time: Duration
    ) async throws(RadioError) -> BlueZCentralLink {
        try await condition(within: max(.zero, time)) {
            () -> Result<BlueZCentralLink, RadioError>? in
            if let error = self.fault(of: service) { return .failure(error) }
            guard let visit = service.book.handOut(), let body = service.visits[visit] else {
                return nil
            }
            let link = BlueZCentralLink(visit, body, host: self)
            body.face = link
            self.run(service, [])
            return .success(link)
        }
    }

    private func timeoutError(of service: Service) -> RadioError {
        let isOnAir = stations[service.station]?.machine.hasAdvertised ?? false
        return isOnAir ? .timedOut : .noFreeLink
    }

    /// Why a service can no longer work; nil when it can.
    private func fault(of service: Service) -> RadioError? {
        guard service.generation == generation else { return .serviceUnavailable }
        guard let adapter = mirror.adapter(called: service.word) else { return .adapterMissing }
        guard adapter.isPowered else { return .adapterOff }
        if service.isEnded { return .serviceUnavailable }
        return service.refusal.map(Self.serviceError)
    }

    private static func serviceError(_ refusal: BlueZRefusal) -> RadioError {
        switch refusal {
        case .notReady: .adapterOff
        case .objectGone: .adapterMissing
        case .accessDenied: .unauthorized
        case .notPermitted: .noFreeLink
        case .inProgress, .tooManyLinks, .acquired, .notConnected, .att, .alreadyExists,
            .notSupported, .serviceGone, .keyMissing, .canceled, .authentication, .failed:
            .serviceUnavailable
        }
    }

    // MARK: Events

    private func serviceIsDue(_ id: UInt64) {
        guard let service = services[id] else { return }
        let devices = mirror.devices
        let actions = service.book.tick(at: now) { devices[$0]?.address ?? String($0.name) }
        run(service, actions)
        runWatchers()
    }

    private func happened(_ event: StationEvent, _ id: UInt64) {
        guard let service = services[id] else { return }
        switch event {
        case .usable, .arrived, .left: break
        case .void:
            service.isEnded = true
            run(service, service.book.ended())
            runWatchers()
        case .settled: service.isRegistered = true
        case .refused(_, let refusal): service.refusal = refusal
        case .asked(let call, let characteristic): asked(call, characteristic, service, id)
        }
    }

    /// A device of the adapter may have connected, bonded or disappeared.
    func changed(_ path: ObjectPath, at station: Station) {
        for service in services.values where service.station == station.id && !service.isEnded {
            let device = mirror.devices[path].map {
                GuestBook.Device(isConnected: $0.isConnected, isBonded: $0.isBonded)
            }
            run(service, service.book.changed(path, device, isOurs: isOurs(path), at: now))
        }
    }

    // MARK: Actions

    private func run(_ service: Service, _ actions: [GuestBook.Action]) {
        for action in actions {
            switch action {
            // The task that waits for it checks after every event.
            case .arrived: break
            case .end(let visit):
                guard let body = service.visits[visit] else { break }
                body.face?.markLost()
                body.mailbox.end(.linkLost)
                body.mailbox = newMailbox()
            case .close(let visit): service.visits.removeValue(forKey: visit)?.socket.close()
            case .goOn(let old, let new):
                guard let body = service.visits.removeValue(forKey: old) else { break }
                service.visits[new] = VisitBody(
                    device: body.device,
                    socket: body.socket,
                    mailbox: body.mailbox
                )
            case .closeWriter(let device):
                service.writers.removeValue(forKey: device)?.socket.close()
            case .forgetWrites(let visit): service.visits[visit]?.mailbox = newMailbox()
            case .disconnect(let device): startCall(Self.disconnectCall(device))
            case .note(let note): settings.note(note)
            }
        }
        service.alarm.set(service.isEnded ? nil : service.book.deadline)
        lane(service.word).machine.servesCentral = service.book.isServing
        setVisited(service.book.isVisited, at: service.station)
    }

    private func newMailbox() -> Mailbox<[UInt8]> { Mailbox(capacity: 1_024, on: packets) }

    // MARK: Requests of the daemon

    private func asked(
        _ call: IncomingCall,
        _ characteristic: Characteristic,
        _ service: Service,
        _ id: UInt64
    ) {
        guard !service.isEnded else {
            return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "the service has ended"))
        }
        let options = call.arguments.last?.asProperties ?? [:]
        switch call.member {
        case "AcquireNotify" where characteristic == service.notify:
            acquireNotify(call, service, id, options)
        case "AcquireWrite" where characteristic == service.write:
            acquireWrite(call, service, id, options)
        case "WriteValue" where characteristic == service.write: written(call, service, options)
        case "Confirm", "StopNotify": call.reply()
        default: call.fail(ErrorReply("org.bluez.Error.NotSupported", "only through sockets"))
        }
        runWatchers()
    }

    private func mtu(_ options: [String: DBusValue]) -> Int {
        min(517, max(23, options["mtu"]?.asInt ?? 23))
    }

    /// A socket for packets, and its other end for BlueZ.
    package nonisolated func socketPair(
        mtu: Int
    ) -> (ours: PacketSocket, theirs: UnixDescriptor)? {
        guard let pair = UnixDescriptor.packetPair(),
            let socket = PacketSocket(pair.ours, mtu: mtu, on: packets)
        else { return nil }
        return (socket, pair.theirs)
    }

    /// Subscribes a central.
    ///
    /// A second central gets an error, so that it stays unsubscribed.
    private func acquireNotify(
        _ call: IncomingCall,
        _ service: Service,
        _ id: UInt64,
        _ options: [String: DBusValue]
    ) {
        let refusal = ErrorReply("org.bluez.Error.Failed", "another central is served")
        guard let device = options["device"]?.asPath, let pair = socketPair(mtu: mtu(options))
        else {
            return call.fail(refusal)
        }
        let known = mailbox(for: device, service)
        guard let (visit, actions) = service.book.subscribes(device) else {
            return call.fail(refusal)
        }
        service.visits[visit] = VisitBody(
            device: device,
            socket: pair.ours,
            mailbox: known ?? newMailbox()
        )
        // Packets that arrive on it only report that an indication was confirmed.
        let socket = ObjectIdentifier(pair.ours)
        pair.ours.onHangUp { [weak self] in self?.socketGone(socket, id) }
        run(service, actions)
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(mtu(options))))
    }

    private func acquireWrite(
        _ call: IncomingCall,
        _ service: Service,
        _ id: UInt64,
        _ options: [String: DBusValue]
    ) {
        guard let device = options["device"]?.asPath, let pair = socketPair(mtu: mtu(options)),
            service.book.opensWriter(device)
        else { return call.fail(ErrorReply("org.bluez.Error.Failed", "no socket")) }
        service.writers[device]?.socket.close()
        let mailbox = mailbox(for: device, service) ?? newMailbox()
        service.writers[device] = (pair.ours, mailbox)
        let socket = ObjectIdentifier(pair.ours)
        pair.ours.read({ mailbox.add($0) ? .busy : .more }) { [weak self] in
            self?.writerGone(socket, device, id)
        }
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(mtu(options))))
    }

    /// The mailbox for the writes of a device; nil when there is none.
    private func mailbox(for device: ObjectPath, _ service: Service) -> Mailbox<[UInt8]>? {
        service.book.visit(of: device).flatMap { service.visits[$0]?.mailbox }
            ?? service.writers[device]?.mailbox
    }

    private func written(
        _ call: IncomingCall,
        _ service: Service,
        _ options: [String: DBusValue]
    ) {
        guard let bytes = call.arguments.first?.asBytes, let device = options["device"]?.asPath,
            let visit = service.book.visit(of: device), let body = service.visits[visit]
        else { return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "not subscribed")) }
        body.mailbox.add(bytes)
        call.reply()
    }

    /// The other end of a notify socket was closed.
    private nonisolated func socketGone(_ socket: ObjectIdentifier, _ id: UInt64) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                guard let service = host.services[id],
                    let visit = service.visits.first(where: {
                        ObjectIdentifier($0.value.socket) == socket
                    })
                else { return }
                host.run(service, service.book.socketGone(visit.key))
                host.runWatchers()
            }
        }
    }

    private nonisolated func writerGone(
        _ socket: ObjectIdentifier,
        _ device: ObjectPath,
        _ id: UInt64
    ) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                guard let service = host.services[id], let writer = service.writers[device],
                    ObjectIdentifier(writer.socket) == socket
                else { return }
                service.writers[device] = nil
                service.book.writerGone(device)
            }
        }
    }

    // MARK: Ending a visit

    func disconnectCentral(_ link: BlueZCentralLink) async {
        for service in services.values where service.visits[link.visit]?.face === link {
            await disconnect(link.visit, service)
        }
    }

    private func disconnect(_ visit: GuestBook.Visit, _ service: Service) async {
        guard let device = service.visits[visit]?.device else { return }
        let (before, isConnected) = (generation, mirror.devices[device]?.isConnected == true)
        let actions = service.book.release(visit, isConnected: isConnected)
        run(service, actions)
        if actions.contains(.disconnect(device)) {
            try? await condition(within: .seconds(5)) {
                before != self.generation || self.mirror.devices[device]?.isConnected != true
                    ? .success(()) : nil
            }
        }
        let now = mirror.devices[device].map {
            GuestBook.Device(isConnected: $0.isConnected, isBonded: $0.isBonded)
        }
        run(service, service.book.released(visit, now))
    }
}
