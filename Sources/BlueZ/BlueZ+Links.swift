import DBus
import Domain
import Radio

/// What is done on a link: every wait is raced against its loss.
extension BlueZ {
    /// ATT gives up after 30 s, and BlueZ tells it a little later.
    private static let requestPatience = Duration.seconds(35)
    /// How long the news of a lost link may come after the failures that it causes.
    private static let lossPause = Duration.milliseconds(200)
    /// How long to ask again of something that is just being let go.
    private static let retryPause = Duration.milliseconds(10)

    private func state(of link: BlueZLink) throws(RadioError) -> LinkState {
        guard let state = links[link.place], link.isOf(state), !state.isLost else {
            throw .linkLost
        }
        return state
    }

    private func record(
        _ characteristic: Characteristic,
        _ state: LinkState
    ) throws(RadioError) -> CharacteristicRecord {
        guard let record = state.table[characteristic] else {
            throw .missingCharacteristic(characteristic.uuid)
        }
        return record
    }

    // MARK: Requests

    func read(
        _ characteristic: Characteristic,
        of link: BlueZLink,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        let state = try state(of: link)
        let record = try record(characteristic, state)
        let values = try await request(
            "ReadValue",
            [.properties([:])],
            of: record,
            state,
            refusedWith: .readNotPermitted,
            before: deadline
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
        let state = try state(of: link)
        let record = try record(characteristic, state)
        // While a socket is held BlueZ takes no other way of writing.
        letWriterGo(characteristic, record, state)
        _ = try await request(
            "WriteValue",
            [.bytes(bytes), .properties(["type": .string("request")])],
            of: record,
            state,
            refusedWith: .writeNotPermitted,
            before: deadline
        )
    }

    /// Writes without response where there is no socket for it.
    func command(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        of link: BlueZLink
    ) async throws(RadioError) {
        let state = try state(of: link)
        let record = try record(characteristic, state)
        letWriterGo(characteristic, record, state)
        _ = try await request(
            "WriteValue",
            [.bytes(bytes), .properties(["type": .string("command")])],
            of: record,
            state,
            refusedWith: .writeNotPermitted,
            before: time.now.advanced(by: Self.requestPatience)
        )
    }

    private func letWriterGo(
        _ characteristic: Characteristic,
        _ record: CharacteristicRecord,
        _ state: LinkState
    ) {
        guard let socket = state.writers.removeValue(forKey: record.path) else { return }
        state.link?.drop(characteristic)
        socket.close()
    }

    /// One request at a time on each characteristic; asked again while BlueZ is busy with it.
    private func request(
        _ member: String,
        _ arguments: [DBusValue],
        of record: CharacteristicRecord,
        _ state: LinkState,
        refusedWith refusal: ATTError,
        before deadline: Moment
    ) async throws(RadioError) -> [DBusValue] {
        if let place = state.turns[record.path, default: Turn()].take() {
            try await place.outcome(within: max(.zero, remaining(until: deadline)), on: loop)
        }
        defer { state.turns[record.path]?.leave() }
        while true {
            let left = remaining(until: deadline)
            guard left > .zero else { throw .timedOut }
            let outcome = await ask(
                MethodCall(
                    member,
                    of: BlueZName.characteristic,
                    at: record.path,
                    on: BlueZName.service,
                    arguments,
                    patience: min(left, Self.requestPatience)
                ),
                state
            )
            switch outcome {
            case .success(let values): return values
            case .failure(.radio(let error)): throw error
            case .failure(.refused(.inProgress)), .failure(.refused(.acquired)):
                // Held by another, or by us until BlueZ has seen our socket close.
                guard left > .seconds(1) || outcome == .failure(.refused(.inProgress)),
                    try await pause(state)
                else { throw .att(refusal) }
            case .failure(.refused(let meaning)):
                if await isLoss(meaning, state) { throw .linkLost }
                throw error(meaning, refusal, state)
            }
        }
    }

    private func pause(_ state: LinkState) async throws(RadioError) -> Bool {
        let never = Once<Void>()
        do throws(RadioError) {
            try await never.outcome(within: Self.retryPause, on: loop)
        } catch .timedOut {
            if state.isLost { throw .linkLost }
            return true
        }
        return true
    }

    /// Whether a refusal without a reason is the first word of a lost link.
    ///
    /// BlueZ fails what is under way before it tells that the link is gone.
    private func isLoss(_ meaning: BlueZRefusal, _ state: LinkState) async -> Bool {
        guard meaning == .failed || meaning == .att(0x0E), !state.isLost else {
            return state.isLost
        }
        do throws(RadioError) {
            return try await condition(within: Self.lossPause) {
                state.isLost ? .success(true) : nil
            }
        } catch { return false }
    }

    private func error(
        _ meaning: BlueZRefusal,
        _ refusal: ATTError,
        _ state: LinkState
    ) -> RadioError {
        switch meaning {
        case .att(let code): return .att(ATTError(rawValue: code))
        case .notConnected, .objectGone, .serviceGone, .notReady:
            lose(state)
            return .linkLost
        case .notSupported: return .att(ATTError(rawValue: 0x06))
        case .notPermitted, .acquired: return .att(refusal)
        case .accessDenied: return .unauthorized
        case .inProgress: return .att(.procedureInProgress)
        case .tooManyLinks, .alreadyExists, .failed:
            // "Unlikely error": the other side said no more than that.
            return .att(ATTError(rawValue: 0x0E))
        }
    }

    enum AskFailure: Error, Equatable {
        case radio(RadioError)
        case refused(BlueZRefusal)
    }

    /// One call about a link, ended by its answer, the loss of the link or the task's end.
    private func ask(
        _ call: MethodCall,
        _ state: LinkState
    ) async -> Result<[DBusValue], AskFailure> {
        guard !state.isLost else { return .failure(.radio(.linkLost)) }
        let once = Once<Result<[DBusValue], AskFailure>>()
        startCall(call) { result in
            switch result {
            case .success(let values): once.settle(.success(.success(values)))
            case .failure(.refused(let reply)):
                once.settle(.success(.failure(.refused(BlueZRefusal(reply)))))
            case .failure(.timedOut): once.settle(.failure(.timedOut))
            case .failure(.disconnected): once.settle(.failure(.linkLost))
            case .failure(let error): once.settle(.failure(Self.radioError(error)))
            }
        }
        let watcher = addWatcher {
            guard state.isLost else { return false }
            once.settle(.failure(.linkLost))
            return true
        }
        defer { removeWatcher(watcher) }
        do throws(RadioError) {
            return try await once.outcome(within: call.patience + .seconds(1), on: loop)
        } catch { return .failure(.radio(error)) }
    }

    // MARK: Sockets

    /// The socket for commands, nil when the characteristic has none to give.
    func writer(
        for characteristic: Characteristic,
        of link: BlueZLink
    ) async throws(RadioError) -> PacketSocket? {
        let state = try state(of: link)
        return try await acquireWriter(try record(characteristic, state), state)
    }

    private func acquireWriter(
        _ record: CharacteristicRecord,
        _ state: LinkState
    ) async throws(RadioError) -> PacketSocket? {
        if let socket = state.writers[record.path] { return socket }
        guard record.hasWriteSocket, record.flags.contains(.writeWithoutResponse) else {
            return nil
        }
        let outcome = await ask(
            MethodCall(
                "AcquireWrite",
                of: BlueZName.characteristic,
                at: record.path,
                on: BlueZName.service,
                [.properties([:])],
                patience: .seconds(10)
            ),
            state
        )
        switch outcome {
        case .success(let values):
            guard let socket = socket(values) else { return nil }
            guard !state.isLost else { throw .linkLost }
            state.writers[record.path] = socket
            let (path, id) = (state.device, ObjectIdentifier(state))
            socket.onHangUp { [weak self] in self?.hungUp(path, id) }
            return socket
        case .failure(.radio(let error)): throw error
        case .failure(.refused(.acquired)):
            settings.note(.heldByAnother(adapter: state.word, address: state.address))
            return nil
        case .failure(.refused(.notConnected)), .failure(.refused(.objectGone)),
            .failure(.refused(.serviceGone)):
            lose(state)
            throw .linkLost
        case .failure(.refused): return nil
        }
    }

    private func socket(_ values: [DBusValue]) -> PacketSocket? {
        guard values.count == 2, let descriptor = values[0].asDescriptor,
            let mtu = values[1].asInt
        else { return nil }
        return PacketSocket(descriptor, mtu: mtu, on: packets)
    }

    /// Called on the packets' thread: a socket of the link is gone.
    private nonisolated func hungUp(_ path: ObjectPath, _ id: ObjectIdentifier) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                guard let state = host.links[path], ObjectIdentifier(state) == id else { return }
                host.lose(state)
            }
        }
    }

    /// Learns what a packet may carry, from the reply to acquiring a socket where there is one.
    ///
    /// The property says 23 until the exchange is done; the reply waits for it.
    func measure(_ state: LinkState, before deadline: Moment) async throws(RadioError) -> Int {
        let writable = state.table.filter { $0.value.hasWriteSocket }
            .sorted { $0.value.path < $1.value.path }
        // One that takes requests too would have to be let go for each of them.
        let best = writable.first { !$0.value.flags.contains(.write) } ?? writable.first
        if let best, let socket = try await acquireWriter(best.value, state) {
            return socket.maximumLength
        }
        for round in 0..<4 {
            let known = state.table.keys.compactMap { key in
                state.table[key].flatMap { mirror.characteristic(at: $0.path)?.mtu }
            }.max()
            if let known, known > 23 { return min(min(known, 517) - 3, 512) }
            guard round < 3, known != nil else { break }
            for _ in 0..<20 { guard try await pause(state) else { break } }
        }
        return 20
    }

    // MARK: Notifications

    func subscribe(
        to characteristic: Characteristic,
        of link: BlueZLink,
        before deadline: Moment
    ) async throws(RadioError) -> Mailbox<[UInt8]> {
        let state = try state(of: link)
        let record = try record(characteristic, state)
        if let mailbox = state.mailboxes[record.path] { return mailbox }
        let mailbox = Mailbox<[UInt8]>(capacity: 4_096, on: packets)
        state.mailboxes[record.path] = mailbox
        do throws(RadioError) {
            if record.hasNotifySocket, record.flags.contains(.notify),
                try await acquireReader(record, state, mailbox, before: deadline)
            {
                return mailbox
            }
            state.signalled.insert(record.path)
            _ = try await request(
                "StartNotify",
                [],
                of: record,
                state,
                refusedWith: .improperlyConfigured,
                before: deadline
            )
            return mailbox
        } catch {
            state.mailboxes[record.path] = nil
            state.signalled.remove(record.path)
            throw error
        }
    }

    /// False when notifications must come by signals.
    private func acquireReader(
        _ record: CharacteristicRecord,
        _ state: LinkState,
        _ mailbox: Mailbox<[UInt8]>,
        before deadline: Moment
    ) async throws(RadioError) -> Bool {
        while true {
            let left = remaining(until: deadline)
            guard left > .zero else { throw .timedOut }
            let outcome = await ask(
                MethodCall(
                    "AcquireNotify",
                    of: BlueZName.characteristic,
                    at: record.path,
                    on: BlueZName.service,
                    [.properties([:])],
                    patience: min(left, Self.requestPatience)
                ),
                state
            )
            switch outcome {
            case .success(let values):
                guard let socket = socket(values) else { return false }
                guard !state.isLost else { throw .linkLost }
                state.readers[record.path] = socket
                let (path, id) = (state.device, ObjectIdentifier(state))
                socket.read({ mailbox.add($0) }) { [weak self] in self?.hungUp(path, id) }
                return true
            case .failure(.radio(let error)): throw error
            case .failure(.refused(.inProgress)):
                guard try await pause(state) else { return false }
            case .failure(.refused(.acquired)), .failure(.refused(.notPermitted)):
                // Some versions leave the lock behind when a link is lost at the wrong moment.
                settings.note(.notificationsBySignal(address: state.address))
                return false
            case .failure(.refused(.notSupported)), .failure(.refused(.failed)): return false
            case .failure(.refused(let meaning)):
                if await isLoss(meaning, state) { throw .linkLost }
                throw error(meaning, .improperlyConfigured, state)
            }
        }
    }

    func notified(_ path: ObjectPath, _ bytes: [UInt8]) {
        for state in links.values where state.signalled.contains(path) {
            state.mailboxes[path]?.add(bytes)
        }
    }

    // MARK: Loss and end

    /// Looks whether a link is still what it was.
    func examine(_ state: LinkState) {
        guard !state.isLost else { return }
        let verdict = verdict(state.device, state.adapter, state.generation, hasStood: true)
        switch verdict {
        case .resolved: break
        // Services that are being found again are other services.
        case .waiting, .connected, .lost: lose(state)
        }
    }

    /// The first sign of a loss ends the link; what came before it can still be taken.
    func lose(_ state: LinkState) {
        guard !state.isLost else { return }
        state.isLost = true
        state.link?.markLost()
        if let device = mirror.devices[state.device], device.isConnected,
            state.generation == generation
        {
            sendDisconnect(state.device)
        } else {
            settings.memory.remove(state.address)
        }
        release(state)
        runWatchers()
    }

    /// Closes what belongs to a link.
    func release(_ state: LinkState) {
        state.isLost = true
        state.link?.markLost()
        for socket in state.writers.values { socket.close() }
        for socket in state.readers.values { socket.close() }
        for mailbox in state.mailboxes.values { mailbox.end(.linkLost) }
        state.writers = [:]
        state.readers = [:]
        state.signalled = []
        if links[state.device] === state { links[state.device] = nil }
    }

    func disconnect(_ link: BlueZLink) async {
        guard let state = links[link.place], link.isOf(state) else { return }
        await disconnect(state)
    }

    /// Ends a link of ours and waits until BlueZ says so.
    func disconnect(_ state: LinkState) async {
        for path in state.signalled.sorted() {
            startCall(
                MethodCall(
                    "StopNotify",
                    of: BlueZName.characteristic,
                    at: path,
                    on: BlueZName.service
                )
            ) { _ in }
        }
        let before = state.generation
        release(state)
        runWatchers()
        guard before == generation else { return }
        sendDisconnect(state.device)
        try? await condition(within: .seconds(10)) {
            let isGone =
                before != self.generation
                || self.mirror.devices[state.device]?.isConnected != true
            return isGone ? .success(()) : nil
        }
        if mirror.devices[state.device]?.isConnected != true {
            settings.memory.remove(state.address)
        }
    }
}
