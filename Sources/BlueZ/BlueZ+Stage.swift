package import DBus
import Domain
import Radio

/// The peripheral role: a service of ours, its advertisement, and one central at a time.
extension BlueZ {
    func openStage(
        _ service: ServiceDescription,
        on word: String
    ) async throws(RadioError) -> ObjectIdentifier {
        try await ready()
        let adapter = try await adapter(word)
        guard adapter.hasGattManager, adapter.hasAdvertisingManager, let connection,
            let root = ObjectPath("/ee/yardmaster/service\(newID())")
        else { throw .serviceUnavailable }
        let stage = Stage(
            service,
            word: word,
            adapter: adapter.path,
            generation: generation,
            root: root
        )
        export(stage, on: connection)
        stages[ObjectIdentifier(stage)] = stage
        do throws(RadioError) {
            // BlueZ asks for our objects before it answers.
            let refusal = try await ask(
                "RegisterApplication",
                BlueZName.gattManager,
                stage,
                [.objectPath(root), .properties([:])]
            )
            if let refusal { throw Self.stageError(refusal) }
            return ObjectIdentifier(stage)
        } catch {
            await closeStage(ObjectIdentifier(stage))
            throw error
        }
    }

    /// Returns when BlueZ has let go of it, or does not answer.
    func closeStage(_ id: ObjectIdentifier) async {
        guard let stage = stages[id] else { return }
        if let central = stage.present { await disconnect(central, stage) }
        stage.ended()
        stages[id] = nil
        lane(stage.word).servesCentral = false
        let gone = Once<Void>()
        if stage.generation == generation {
            withdrawAdvertisement(stage)
            startCall(
                MethodCall(
                    "UnregisterApplication",
                    of: BlueZName.gattManager,
                    at: stage.adapter,
                    on: BlueZName.service,
                    [.objectPath(stage.root)]
                )
            ) { _ in gone.settle(.success(())) }
            try? await gone.outcome(within: .seconds(2), on: loop)
        }
        withdrawObjects(of: stage)
    }

    private func withdrawObjects(of stage: Stage) {
        let root = stage.root
        let paths = [
            stage.servicePath, stage.notifyPath, stage.writePath, stage.advertisementPath,
        ]
        withdraw(paths, from: root)
    }

    private func withdraw(_ paths: [ObjectPath], from root: ObjectPath) {
        connection?.assumeIsolated { connection in
            for path in paths { try? connection.withdraw(path) }
            connection.withdrawManager(at: root)
        }
    }

    func examine(_ stage: Stage) {
        guard !stage.isEnded else { return }
        guard let adapter = mirror.adapters[stage.adapter] else {
            return stage.ended()
        }
        guard adapter.isPowered else { return stage.ended() }
        if let central = stage.present, mirror.devices[central.device]?.isConnected == false {
            letGo(of: central, stage)
        }
        // Of one that is bonded no socket tells that it went before it was handed out.
        if let central = stage.arrived, mirror.devices[central.device]?.isConnected == false {
            letGo(of: central, stage)
            stage.arrived = nil
        }
        followKept(stage)
    }

    private static func stageError(_ refusal: BlueZRefusal) -> RadioError {
        switch refusal {
        case .notReady: .adapterOff
        case .objectGone: .adapterMissing
        case .accessDenied: .unauthorized
        case .notPermitted: .noFreeLink
        case .inProgress, .tooManyLinks, .acquired, .notConnected, .att, .alreadyExists,
            .notSupported, .serviceGone, .failed:
            .serviceUnavailable
        }
    }

    private func ask(
        _ member: String,
        _ interface: String,
        _ stage: Stage,
        _ arguments: [DBusValue]
    ) async throws(RadioError) -> BlueZRefusal? {
        let answer = Once<BlueZRefusal?>()
        let call = MethodCall(
            member,
            of: interface,
            at: stage.adapter,
            on: BlueZName.service,
            arguments,
            patience: .seconds(10)
        )
        startCall(call) { answer.settle(.success(Self.refusal(of: $0))) }
        return try await answer.outcome(within: .seconds(11), on: loop)
    }

    // MARK: Waiting for a central

    func nextCentral(
        _ id: ObjectIdentifier,
        before deadline: Moment
    ) async throws(RadioError) -> BlueZCentralLink {
        guard let stage = stages[id] else { throw .serviceUnavailable }
        if let central = stage.present { await disconnect(central, stage) }
        defer { withdrawAdvertisement(stage) }
        while true {
            try check(stage)
            if let link = takeArrived(stage) { return link }
            let left = remaining(until: deadline)
            guard left > .zero else { throw .timedOut }
            try await advertise(stage, before: deadline)
            do throws(RadioError) {
                try await condition(within: min(settings.advertisingRound, left)) {
                    stage.arrived != nil || stage.isEnded || stage.isReleased
                        ? .success(()) : nil
                }
            } catch .timedOut {}
            if stage.isReleased {
                // The daemon dropped it; perhaps the adapter is going off, which is told soon.
                stage.isReleased = false
                _ = try? await condition(within: .milliseconds(500)) {
                    stage.isEnded ? Result<Void, RadioError>.success(()) : nil
                }
            } else if stage.arrived == nil {
                withdrawAdvertisement(stage)
            }
        }
    }

    private func check(_ stage: Stage) throws(RadioError) {
        if Task.isCancelled { throw .cancelled }
        guard stage.generation == generation else { throw .serviceUnavailable }
        guard mirror.adapters[stage.adapter] != nil else { throw .adapterMissing }
        guard mirror.adapters[stage.adapter]?.isPowered == true else { throw .adapterOff }
        if stage.isEnded { throw .serviceUnavailable }
    }

    private func takeArrived(_ stage: Stage) -> BlueZCentralLink? {
        guard let central = stage.arrived else { return nil }
        stage.arrived = nil
        guard !central.isLost else { return nil }
        let link = BlueZCentralLink(central, host: self)
        central.link = link
        stage.present = central
        lane(stage.word).servesCentral = true
        return link
    }

    /// Taken slots become free again when others end: it is tried until the deadline.
    private func advertise(_ stage: Stage, before deadline: Moment) async throws(RadioError) {
        var isNoted = false
        while true {
            let refusal = try await ask(
                "RegisterAdvertisement",
                BlueZName.advertisingManager,
                stage,
                [.objectPath(stage.advertisementPath), .properties([:])]
            )
            switch refusal {
            case nil, .alreadyExists: return
            case .notPermitted, .inProgress:
                if !isNoted, refusal == .notPermitted {
                    settings.note(.advertisingSlotsTaken(adapter: stage.word))
                }
                isNoted = true
                let left = remaining(until: deadline)
                guard left > .zero else { throw .noFreeLink }
                do throws(RadioError) {
                    try await condition(within: min(.seconds(1), left)) {
                        stage.isEnded ? .success(()) : nil
                    }
                } catch .timedOut {}
                try check(stage)
            case .some(let other):
                try check(stage)
                throw Self.stageError(other)
            }
        }
    }

    private func withdrawAdvertisement(_ stage: Stage) {
        guard stage.generation == generation else { return }
        startCall(
            MethodCall(
                "UnregisterAdvertisement",
                of: BlueZName.advertisingManager,
                at: stage.adapter,
                on: BlueZName.service,
                [.objectPath(stage.advertisementPath)]
            )
        ) { _ in }
    }

    private func endCentral(_ central: CentralState, _ stage: Stage) {
        let isBack = central.hasEnded && mirror.devices[central.device]?.isConnected == true
        letGo(of: central, stage)
        if stage.present === central { stage.present = nil }
        if !isBack, let writer = stage.writers.removeValue(forKey: central.device) {
            writer.socket.close()
        }
        lane(stage.word).servesCentral = false
    }

    func disconnectCentral(_ id: ObjectIdentifier) async {
        for stage in stages.values {
            if let central = stage.present, ObjectIdentifier(central) == id {
                await disconnect(central, stage)
            }
        }
    }

    private func disconnect(_ central: CentralState, _ stage: Stage) async {
        central.lose()
        defer { endCentral(central, stage) }
        let before = generation
        // Another link of the same central is not the one to end.
        guard !central.hasEnded, mirror.devices[central.device]?.isConnected == true else {
            return
        }
        sendDisconnect(central.device)
        try? await condition(within: .seconds(5)) {
            before != self.generation || self.mirror.devices[central.device]?.isConnected != true
                ? .success(()) : nil
        }
    }
}

// MARK: Bonded centrals

extension BlueZ {
    /// The link of a central is gone: so is its socket, unless BlueZ goes on with it next time.
    private func letGo(of central: CentralState, _ stage: Stage) {
        guard !central.hasEnded else { return }
        let device = mirror.devices[central.device]
        central.hasEnded = device?.isConnected != true
        guard central.hasEnded, device?.isBonded == true, central.notify.isOpen, !stage.isEnded,
            stage.kept.count < 8
        else { return central.close() }
        central.lose()
        central.earlier?.close()
        stage.drop(central.device)
        stage.kept[central.device] = KeptSubscription(central.notify, newMailbox())
    }

    private func newMailbox() -> Mailbox<[UInt8]> { Mailbox(capacity: 1_024, on: packets) }

    /// Gives those who are back a while for subscribing, and takes them as subscribed after it.
    private func followKept(_ stage: Stage) {
        for device in stage.kept.keys.sorted() {
            guard let record = mirror.devices[device], record.isBonded else {
                stage.drop(device)
                continue
            }
            guard let subscription = stage.kept[device] else { continue }
            if record.isConnected, subscription.alarm == nil {
                let id = ObjectIdentifier(stage)
                let patience = settings.resubscribePatience
                subscription.alarm = Alarm(after: patience, on: loop) { [weak self] in
                    self?.assumeIsolated { $0.resume(device, id) }
                }
            } else if !record.isConnected, let alarm = subscription.alarm {
                alarm.cancel()
                subscription.alarm = nil
                subscription.mailbox = newMailbox()
            }
        }
    }

    private func resume(_ device: ObjectPath, _ id: ObjectIdentifier) {
        guard let stage = stages[id], !stage.isEnded, let subscription = stage.kept[device] else {
            return
        }
        subscription.alarm = nil
        guard mirror.devices[device]?.isConnected == true, stage.arrived == nil,
            stage.present == nil || stage.present?.isLost == true
        else { return }
        stage.kept[device] = nil
        stage.arrived = CentralState(
            device: device,
            notify: subscription.socket,
            mailbox: subscription.mailbox
        )
        settings.note(
            .subscriptionRemembered(
                adapter: stage.word,
                address: mirror.devices[device]?.address ?? String(device.name)
            )
        )
        runWatchers()
    }
}

// MARK: What the daemon asks of us

extension BlueZ {
    private func export(_ stage: Stage, on connection: Connection) {
        let id = ObjectIdentifier(stage)
        let handler: @Sendable (IncomingCall) -> Void = { [weak self] call in
            self?.assumeIsolated { $0.asked(call, id) }
        }
        let (service, root) = (stage.service, stage.root)
        let (servicePath, advertisementPath) = (stage.servicePath, stage.advertisementPath)
        let (notifyPath, writePath) = (stage.notifyPath, stage.writePath)
        connection.assumeIsolated { connection in
            connection.exportManager(at: root)
            connection.export(
                InterfaceDescription(BlueZName.gattService),
                at: servicePath,
                properties: [
                    "UUID": .string(service.uuid.description), "Primary": .boolean(true),
                ]
            )
            connection.export(
                .served,
                at: notifyPath,
                properties: [
                    "UUID": .string(service.notify.description),
                    "Service": .objectPath(servicePath), "Flags": .strings(["notify"]),
                    "NotifyAcquired": .boolean(false),
                ],
                handler
            )
            connection.export(
                .served,
                at: writePath,
                properties: [
                    "UUID": .string(service.write.description),
                    "Service": .objectPath(servicePath),
                    "Flags": .strings(["write", "write-without-response"]),
                    "WriteAcquired": .boolean(false),
                ],
                handler
            )
            connection.export(
                .advertised,
                at: advertisementPath,
                properties: [
                    "Type": .string("peripheral"),
                    "ServiceUUIDs": .strings([service.uuid.description]),
                ],
                handler
            )
        }
    }

    private func asked(_ call: IncomingCall, _ id: ObjectIdentifier) {
        // Only the daemon may speak for centrals.
        guard call.sender == owner, let stage = stages[id], !stage.isEnded else {
            return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "not yours to call"))
        }
        let options = call.arguments.last?.asProperties ?? [:]
        switch call.member {
        case "Release":
            stage.isReleased = true
            call.reply()
            runWatchers()
        case "AcquireNotify" where call.path == stage.notifyPath:
            acquireNotify(call, stage, options)
        case "AcquireWrite" where call.path == stage.writePath:
            acquireWrite(call, stage, options)
        case "WriteValue" where call.path == stage.writePath:
            written(call, stage, options)
        case "Confirm", "StopNotify": call.reply()
        default: call.fail(ErrorReply("org.bluez.Error.NotSupported", "only through sockets"))
        }
    }

    private func mtu(_ options: [String: DBusValue]) -> Int {
        min(517, max(23, options["mtu"]?.asInt ?? 23))
    }

    /// A subscription; a second central is not answered, which leaves it unsubscribed.
    private func acquireNotify(
        _ call: IncomingCall,
        _ stage: Stage,
        _ options: [String: DBusValue]
    ) {
        guard let device = options["device"]?.asPath,
            stage.present == nil || stage.present?.isLost == true, stage.arrived == nil,
            let pair = UnixDescriptor.packetPair(),
            let socket = PacketSocket(pair.ours, mtu: mtu(options), on: packets)
        else { return call.fail(ErrorReply("org.bluez.Error.Failed", "another central is served")) }
        let central = CentralState(
            device: device,
            notify: socket,
            mailbox: mailbox(for: device, stage)
        )
        if let subscription = stage.kept.removeValue(forKey: device) {
            subscription.alarm?.cancel()
            central.earlier = subscription.socket
        }
        // What comes back on it is the word that an indication was confirmed.
        let id = ObjectIdentifier(socket)
        socket.onHangUp { [weak self] in self?.centralLeft(id) }
        stage.arrived = central
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(mtu(options))))
        runWatchers()
    }

    private func acquireWrite(
        _ call: IncomingCall,
        _ stage: Stage,
        _ options: [String: DBusValue]
    ) {
        guard let device = options["device"]?.asPath, stage.writers.count < 8,
            let pair = UnixDescriptor.packetPair(),
            let socket = PacketSocket(pair.ours, mtu: mtu(options), on: packets)
        else { return call.fail(ErrorReply("org.bluez.Error.Failed", "no socket")) }
        stage.writers[device]?.socket.close()
        let mailbox = mailbox(for: device, stage)
        stage.writers[device] = (socket, mailbox)
        let stageID = ObjectIdentifier(stage)
        let socketID = ObjectIdentifier(socket)
        socket.read({ mailbox.add($0) }) { [weak self] in
            self?.writerLeft(stageID, device, socketID)
        }
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(mtu(options))))
    }

    private func mailbox(for device: ObjectPath, _ stage: Stage) -> Mailbox<[UInt8]> {
        for central in [stage.present, stage.arrived] {
            if let central, central.device == device, !central.isLost { return central.mailbox }
        }
        return stage.kept[device]?.mailbox ?? stage.writers[device]?.mailbox
            ?? Mailbox(capacity: 1_024, on: packets)
    }

    private func written(
        _ call: IncomingCall,
        _ stage: Stage,
        _ options: [String: DBusValue]
    ) {
        guard let bytes = call.arguments.first?.asBytes, let device = options["device"]?.asPath,
            let mailbox = subscriber(device, stage)
        else { return call.fail(ErrorReply("org.bluez.Error.NotPermitted", "not subscribed")) }
        mailbox.add(bytes)
        call.reply()
    }

    /// Who has subscribed, or is back without having to.
    private func subscriber(_ device: ObjectPath, _ stage: Stage) -> Mailbox<[UInt8]>? {
        if let central = stage.present, central.device == device, !central.isLost {
            return central.mailbox
        }
        if let central = stage.arrived, central.device == device, !central.isLost {
            return central.mailbox
        }
        return stage.kept[device]?.mailbox
    }

    /// A notify socket was hung up over there: nobody is subscribed by it any more.
    private nonisolated func centralLeft(_ id: ObjectIdentifier) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                for stage in host.stages.values {
                    for central in [stage.present, stage.arrived] {
                        if let central, ObjectIdentifier(central.notify) == id { central.close() }
                    }
                    for device in stage.kept.keys.sorted()
                    where stage.kept[device].map({ ObjectIdentifier($0.socket) }) == id {
                        stage.drop(device)
                    }
                }
                host.runWatchers()
            }
        }
    }

    private nonisolated func writerLeft(
        _ stage: ObjectIdentifier,
        _ device: ObjectPath,
        _ socket: ObjectIdentifier
    ) {
        loop.perform { [weak self] in
            self?.assumeIsolated { host in
                guard let stage = host.stages[stage], let writer = stage.writers[device],
                    ObjectIdentifier(writer.socket) == socket
                else { return }
                stage.writers[device] = nil
            }
        }
    }
}

extension InterfaceDescription {
    /// A characteristic of ours, as BlueZ calls it.
    package static let served = InterfaceDescription(
        BlueZName.characteristic,
        methods: [
            Method(
                "ReadValue",
                takes: [Argument("options", .properties)],
                gives: [Argument("value", .bytes)]
            ),
            Method(
                "WriteValue",
                takes: [Argument("value", .bytes), Argument("options", .properties)]
            ),
            Method(
                "AcquireWrite",
                takes: [Argument("options", .properties)],
                gives: [Argument("socket", .descriptor), Argument("mtu", .uint16)]
            ),
            Method(
                "AcquireNotify",
                takes: [Argument("options", .properties)],
                gives: [Argument("socket", .descriptor), Argument("mtu", .uint16)]
            ),
            Method("StartNotify"), Method("StopNotify"), Method("Confirm"),
        ]
    )
    package static let advertised = InterfaceDescription(
        BlueZName.advertisement,
        methods: [Method("Release")]
    )
}
