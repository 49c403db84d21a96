import Base
import Radio

/// Operations on a link: requests, sockets, notifications.
extension BlueZ {
    /// ATT gives up after 30 s, and BlueZ reports it a little later.
    private static let requestPatience = Duration.seconds(35)
    /// How long a socket for notifications may take: one request to a module that has accepted it
    /// before.
    private static let socketPatience = Duration.seconds(3)

    private func standing(_ link: BlueZLink) throws(RadioError) -> LinkBody {
        guard let body = links[link.ticket], body.machine.isStanding else { throw .linkLost }
        return body
    }

    private func record(
        _ characteristic: Characteristic,
        _ body: LinkBody
    ) throws(RadioError) -> CharacteristicRecord {
        guard let record = body.table[characteristic] else {
            throw .missingCharacteristic(characteristic.uuid)
        }
        return record
    }

    // MARK: Reading and writing

    func read(
        _ characteristic: Characteristic,
        of link: BlueZLink,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        let body = try standing(link)
        let record = try record(characteristic, body)
        let values = try await values(
            of: request(.read, "ReadValue", [.properties([:])], record, body, before: deadline)
        )
        guard let bytes = values.first?.asBytes else { throw .serviceUnavailable }
        return bytes
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        of link: BlueZLink,
        before deadline: Moment
    ) async throws(RadioError) {
        try await write(bytes, to: characteristic, of: link, .write, before: deadline)
    }

    /// Writes without response, where there is no socket for it.
    func command(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        of link: BlueZLink
    ) async throws(RadioError) {
        let deadline = now.advanced(by: Self.requestPatience)
        try await write(bytes, to: characteristic, of: link, .command, before: deadline)
    }

    private func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        of link: BlueZLink,
        _ kind: RequestMachine.Kind,
        before deadline: Moment
    ) async throws(RadioError) {
        let body = try standing(link)
        let record = try record(characteristic, body)
        let type = kind == .command ? "command" : "request"
        _ = try await request(
            kind,
            "WriteValue",
            [.bytes(bytes), .properties(["type": .string(type)])],
            record,
            body,
            before: deadline
        )
    }

    private func values(of outcome: PendingRequest.Answer) -> [DBusValue] {
        switch outcome {
        case .values(let values): values
        case .doWithout: []
        }
    }

    // MARK: Requests

    private func request(
        _ kind: RequestMachine.Kind,
        _ member: String,
        _ arguments: [DBusValue],
        _ record: CharacteristicRecord,
        _ body: LinkBody,
        before deadline: Moment
    ) async throws(RadioError) -> PendingRequest.Answer {
        // The link was open when the task made the request; a request after its end would wait
        // forever.
        guard links[body.ticket] === body, body.machine.isStanding else { throw .linkLost }
        let id = newID()
        let request = PendingRequest(
            id,
            RequestMachine(kind, body.machine.policy.pairing, before: deadline, at: now),
            member,
            arguments,
            at: record.path,
            before: deadline
        )
        body.requests[id] = request
        body.lines[record.path, default: []].append(id)
        beginFirst(record.path, body)
        let ticket = body.ticket
        return try await request.outcome.outcome { [weak self, loop] in
            loop.perform { [weak self] in self?.assumeIsolated { $0.givenUp(id, ticket) } }
        }
    }

    private func beginFirst(_ path: ObjectPath, _ body: LinkBody) {
        guard let id = body.lines[path]?.first, let request = body.requests[id],
            !request.hasBegun
        else { return }
        request.hasBegun = true
        limit(request, body)
        run(request, body, request.machine.begin(at: now))
    }

    /// Waits only for a short time for a module that wanted a bond and did not get it.
    func limit(_ request: PendingRequest, _ body: LinkBody) {
        if let until = body.machine.bondLimit(at: now) { request.machine.bondRefused(until: until) }
    }

    /// The module has answered a request: a bond that it wanted is not needed for the others.
    private func bondUnneeded(_ body: LinkBody) {
        body.machine.bondUnneeded()
        for request in body.requests.values { request.machine.bondUnneeded() }
    }

    private func givenUp(_ id: UInt64, _ ticket: UInt64) {
        guard let body = links[ticket], let request = body.requests[id] else { return }
        finish(request, body, .failure(.cancelled))
    }

    private func finish(
        _ request: PendingRequest,
        _ body: LinkBody,
        _ outcome: Result<PendingRequest.Answer, RadioError>
    ) {
        guard body.requests.removeValue(forKey: request.id) != nil else { return }
        body.lines[request.path]?.removeAll { $0 == request.id }
        if body.lines[request.path]?.isEmpty == true { body.lines[request.path] = nil }
        request.outcome.settle(outcome)
        beginFirst(request.path, body)
    }

    /// Called when a request is due, or its time in the queue is over.
    func tick(_ request: PendingRequest, _ body: LinkBody) {
        guard !request.hasBegun else {
            return run(request, body, request.machine.tick(at: now))
        }
        if request.limit <= now { finish(request, body, .failure(.timedOut)) }
    }

    func run(_ request: PendingRequest, _ body: LinkBody, _ action: RequestMachine.Action) {
        switch action {
        case .wait: break
        case .look:
            run(
                request,
                body,
                body.isDrained
                    ? request.machine.drained() : request.machine.notDrained(at: now)
            )
        case .ask: ask(request, body)
        // The caller has handled this case already, because it has the values.
        case .done: break
        case .doWithout(let isLocked):
            finish(request, body, .success(.doWithout(isLocked: isLocked)))
        case .fail(let error): finish(request, body, .failure(error))
        case .lose:
            finish(request, body, .failure(.linkLost))
            signOfLoss(body)
        }
        body.alarm.set(links[body.ticket] == nil ? nil : body.deadline)
    }

    private func ask(_ request: PendingRequest, _ body: LinkBody) {
        if request.member == "WriteValue" { letWriterGo(request.path, body) }
        // The answer to a request for a socket is waited for as long as there may be one, because
        // the device must not be removed before it.
        let left =
            request.isForNotifySocket
            ? Self.requestPatience
            : min(max(now.duration(to: request.limit), .zero), Self.requestPatience)
        let call = MethodCall(
            request.member,
            of: BlueZName.characteristic,
            at: request.path,
            on: BlueZName.service,
            request.arguments,
            patience: left + .seconds(1)
        )
        let (id, ticket) = (request.id, body.ticket)
        guard request.isForNotifySocket, let device = body.machine.path else {
            return startCall(call) { [weak self] result in
                self?.assumeIsolated { $0.answered(id, ticket, result) }
            }
        }
        let before = generation
        unanswered[device, default: 0] += 1
        startCall(call) { [weak self] result in
            self?.assumeIsolated {
                if before == $0.generation { $0.socketAnswered(result, device) }
                $0.answered(id, ticket, result)
            }
        }
    }

    private func socketAnswered(_ result: Result<[DBusValue], BusError>, _ device: ObjectPath) {
        if case .failure(.timedOut) = result { return }
        guard let count = unanswered[device] else { return }
        unanswered[device] = count > 1 ? count - 1 : nil
    }

    private func answered(
        _ id: UInt64,
        _ ticket: UInt64,
        _ result: Result<[DBusValue], BusError>
    ) {
        guard let body = links[ticket], let request = body.requests[id] else { return }
        switch result {
        case .failure(.timedOut):
            run(request, body, .fail(.timedOut))
        case .success(let values):
            guard request.machine.answered(nil, at: now) == .done else { return }
            if request.machine.kind.isAnsweredByModule { bondUnneeded(body) }
            finish(request, body, .success(.values(values)))
            body.alarm.set(body.deadline)
        case .failure:
            let refusal = Self.refusal(of: result)
            run(request, body, request.machine.answered(refusal, at: now))
        }
        runWatchers()
    }

    /// Closes the characteristic's socket: BlueZ refuses all other writes while it is open.
    private func letWriterGo(_ path: ObjectPath, _ body: LinkBody) {
        guard let socket = body.writers.removeValue(forKey: path) else { return }
        for (characteristic, record) in body.table where record.path == path {
            body.face?.drop(characteristic)
        }
        socket.close()
    }

    // MARK: Sockets for commands

    /// The socket for commands; nil when the characteristic has none.
    func writer(
        for characteristic: Characteristic,
        of link: BlueZLink
    ) async throws(RadioError) -> PacketSocket? {
        let body = try standing(link)
        let record = try record(characteristic, body)
        if let socket = body.writers[record.path] { return socket }
        guard Self.canHaveWriter(record) else { return nil }
        let outcome = try await request(
            .acquireWrite,
            "AcquireWrite",
            [.properties([:])],
            record,
            body,
            before: now.advanced(by: .seconds(10))
        )
        switch outcome {
        case .values(let values):
            guard let socket = socket(values) else { return nil }
            guard body.machine.isStanding else { throw .linkLost }
            keep(socket, record.path, body)
            return socket
        case .doWithout(let isLocked):
            if isLocked { noteHeld(body) }
            return nil
        }
    }

    private static func canHaveWriter(_ record: CharacteristicRecord) -> Bool {
        record.hasWriteSocket && record.flags.contains(.writeWithoutResponse)
    }

    private func keep(_ socket: PacketSocket, _ path: ObjectPath, _ body: LinkBody) {
        body.writers[path] = socket
        body.used.insert(path)
        let ticket = body.ticket
        socket.onHangUp { [weak self] in self?.hungUp(ticket) }
    }

    private func socket(_ values: [DBusValue]) -> PacketSocket? {
        guard values.count == 2, let descriptor = values[0].asDescriptor,
            let mtu = values[1].asInt
        else { return nil }
        return PacketSocket(descriptor, mtu: mtu, on: packets)
    }

    /// Called on the packets' thread: a socket of the link was closed.
    private nonisolated func hungUp(_ ticket: UInt64) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                guard let body = host.links[ticket] else { return }
                host.signOfLoss(body)
            }
        }
    }

    /// Learns the packet length, if possible from the answer to acquiring a socket.
    func measure(_ body: LinkBody) {
        guard let path = body.machine.path else { return }
        body.table = mirror.table(of: path)
        let writable = body.table.values.filter(Self.canHaveWriter).sorted { $0.path < $1.path }
        // A characteristic that also takes requests is the second choice: its socket must be closed
        // for each of them.
        guard let best = writable.first(where: { !$0.flags.contains(.write) }) ?? writable.first
        else { return run(body, body.machine.socketMeasured(nil, at: now)) }
        let ticket = body.ticket
        let call = MethodCall(
            "AcquireWrite",
            of: BlueZName.characteristic,
            at: best.path,
            on: BlueZName.service,
            [.properties([:])],
            patience: .seconds(10)
        )
        startCall(call) { [weak self] result in
            self?.assumeIsolated { $0.measured(ticket, best.path, result) }
        }
    }

    private func measured(
        _ ticket: UInt64,
        _ path: ObjectPath,
        _ result: Result<[DBusValue], BusError>
    ) {
        guard let body = links[ticket] else { return }
        let socket = (try? result.get()).flatMap { self.socket($0) }
        if let socket { keep(socket, path, body) }
        if Self.refusal(of: result) == .acquired { noteHeld(body) }
        run(body, body.machine.socketMeasured(socket?.maximumLength, at: now))
    }

    // MARK: Notifications

    func subscribe(
        to characteristic: Characteristic,
        of link: BlueZLink,
        before deadline: Moment
    ) async throws(RadioError) -> Mailbox<[UInt8]> {
        let body = try standing(link)
        let record = try record(characteristic, body)
        if let mailbox = body.mailboxes[record.path] { return mailbox }
        let mailbox = Mailbox<[UInt8]>(capacity: 4_096, on: packets)
        body.mailboxes[record.path] = mailbox
        body.used.insert(record.path)
        let claim = SubscriptionClaim(body.machine.address, characteristic)
        do throws(RadioError) {
            if record.hasNotifySocket, record.flags.contains(.notify) {
                if settings.provesSubscriptions, !accepted.contains(claim) {
                    try await startNotify(record, body, before: deadline)
                    accepted.insert(claim)
                    // A module that speaks first may do so again when it is subscribed to again.
                    guard mailbox.isEmpty else { return mailbox }
                    stopNotify(record.path, body)
                }
                if try await acquireReader(record, body, mailbox, before: deadline) {
                    return mailbox
                }
            }
            try await startNotify(record, body, before: deadline)
            return mailbox
        } catch {
            accepted.remove(claim)
            if let device = body.machine.path, unanswered[device] != nil {
                settings.note(.subscriptionUnanswered(address: body.machine.address))
            }
            body.mailboxes[record.path] = nil
            body.signalled.remove(record.path)
            throw error
        }
    }

    private func startNotify(
        _ record: CharacteristicRecord,
        _ body: LinkBody,
        before deadline: Moment
    ) async throws(RadioError) {
        body.signalled.insert(record.path)
        _ = try await request(.startNotify, "StartNotify", [], record, body, before: deadline)
    }

    func stopNotify(_ path: ObjectPath, _ body: LinkBody) {
        body.signalled.remove(path)
        startCall(
            MethodCall(
                "StopNotify",
                of: BlueZName.characteristic,
                at: path,
                on: BlueZName.service
            )
        )
    }

    /// False when notifications must arrive as signals.
    private func acquireReader(
        _ record: CharacteristicRecord,
        _ body: LinkBody,
        _ mailbox: Mailbox<[UInt8]>,
        before deadline: Moment
    ) async throws(RadioError) -> Bool {
        let outcome: PendingRequest.Answer
        let bound = min(deadline, now.advanced(by: Self.socketPatience))
        do throws(RadioError) {
            outcome = try await request(
                .acquireNotify,
                "AcquireNotify",
                [.properties([:])],
                record,
                body,
                before: bound
            )
        } catch {
            // Before 5.84, BlueZ does not answer when the module refuses.
            guard error == .timedOut, bound < deadline else { throw error }
            return false
        }
        switch outcome {
        case .values(let values):
            guard let socket = socket(values) else { return false }
            guard body.machine.isStanding else { throw .linkLost }
            body.readers[record.path] = socket
            let ticket = body.ticket
            socket.read({ mailbox.add($0) ? .busy : .more }) { [weak self] in
                self?.hungUp(ticket)
            }
            return true
        case .doWithout(let isLocked):
            if isLocked { settings.note(.notificationsBySignal(address: body.machine.address)) }
            return false
        }
    }

    func notified(_ path: ObjectPath, _ bytes: [UInt8]) {
        for body in links.values where body.signalled.contains(path) {
            body.mailboxes[path]?.add(bytes)
        }
    }
}
