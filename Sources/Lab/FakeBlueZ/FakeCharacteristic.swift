import Base
import BlueZ
import Radio
import Simulation

/// A characteristic of a device: requests, notifications, and the sockets for both directions.
final class FakeCharacteristic: ServedObject {
    let path: ObjectPath
    private let characteristic: Characteristic
    private let flags: CharacteristicFlags
    private let service: ObjectPath
    unowned let device: FakeDevice

    private var link: HostLink?
    private var value: [UInt8] = []
    private var reader: IncomingCall?
    private var writer: IncomingCall?
    /// Programs that have enabled notifications with `StartNotify`.
    private var clients: Set<String> = []
    private var starting: [IncomingCall] = []
    private var isSubscribed = false
    /// Whether a program gets notifications as signals, as the property shows it.
    private var isNotifying = false
    private var mtu = 23
    private var writeSocket: FakePacketSocket?
    private var notifySocket: FakePacketSocket?
    private var isAcquiring = false
    /// Left by a link that was lost while a socket was being acquired, or by a refusal of the device.
    private var isLocked = false
    /// Calls that are never answered, because versions before 5.84 forget them when the subscription
    /// fails.
    ///
    /// The service keeps a pointer to freed memory then, and ends when it removes the characteristic.
    private var forgotten: [IncomingCall] = []
    /// Ends requests that are not sent over this link any more.
    private var stalled: [() -> Void] = []

    init(
        _ path: ObjectPath,
        _ characteristic: Characteristic,
        _ flags: CharacteristicFlags,
        in service: ObjectPath,
        of device: FakeDevice
    ) {
        self.path = path
        self.characteristic = characteristic
        self.flags = flags
        self.service = service
        self.device = device
    }

    private var daemon: Daemon { device.daemon }
    var canNotify: Bool { !flags.isDisjoint(with: [.notify, .indicate]) }

    /// The value of the descriptor that enables notifications.
    var configuration: [UInt8] {
        guard isSubscribed else { return [0, 0] }
        return flags.contains(.notify) ? [1, 0] : [2, 0]
    }

    var isBroken: Bool { !forgotten.isEmpty }

    // MARK: On the bus

    func appear(mtu: Int) {
        self.mtu = daemon.faults.holds(.lateMTU) ? 23 : mtu
        var values: [String: DBusValue] = [
            "UUID": .string(characteristic.uuid.description), "Service": .objectPath(service),
            "Flags": .strings(words), "MTU": .uint16(UInt16(clamping: self.mtu)),
            "Handle": .uint16(path.handle), "Value": .bytes([]),
        ]
        if canNotify { values["Notifying"] = .boolean(false) }
        if !daemon.faults.holds(.noSockets) {
            if flags.contains(.writeWithoutResponse) { values["WriteAcquired"] = .boolean(false) }
            if flags.contains(.notify) { values["NotifyAcquired"] = .boolean(false) }
        }
        daemon.serve(self, [(Interfaces.characteristic, values)])
    }

    private var words: [String] {
        let all: [(CharacteristicFlags, String)] = [
            (.read, "read"), (.writeWithoutResponse, "write-without-response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
        ]
        return all.filter { flags.contains($0.0) }.map(\.1)
    }

    private func update(_ name: String, _ value: DBusValue) {
        daemon.update([name: value], of: Interfaces.characteristic, at: path)
    }

    // MARK: The link

    func opened(_ link: HostLink) {
        self.link = link
        guard !daemon.faults.holds(.lateMTU), mtu != link.mtu else { return }
        mtu = link.mtu
        update("MTU", .uint16(UInt16(clamping: mtu)))
    }

    func closed() {
        link = nil
        isSubscribed = false
        if isAcquiring, daemon.faults.happens(.notifyLocked, to: device.names) != nil {
            isLocked = true
        }
        let calls = [reader, writer].compactMap(\.self) + starting
        (reader, writer, starting, isAcquiring) = (nil, nil, [], false)
        for call in calls { call.fail(.noLink) }
        let ends = stalled
        stalled = []
        for end in ends { end() }
        writeSocket?.close()
        notifySocket?.close()
        released(write: false)
        released(write: true)
    }

    private func released(write: Bool) {
        guard (write ? writeSocket : notifySocket) != nil else { return }
        if write { writeSocket = nil } else { notifySocket = nil }
        update(write ? "WriteAcquired" : "NotifyAcquired", .boolean(false))
        if !write { settleSubscription() }
    }

    // MARK: Calls

    func called(_ call: IncomingCall) {
        switch call.member {
        case "ReadValue": read(call)
        case "WriteValue": write(call)
        case "AcquireWrite": acquireWrite(call)
        case "AcquireNotify": acquireNotify(call)
        case "StartNotify": startNotify(call)
        case "StopNotify": stopNotify(call)
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func read(_ call: IncomingCall) {
        guard let link else { return call.fail(.noLink) }
        guard reader == nil, daemon.faults.happens(.requestBusy, to: device.names) == nil else {
            return call.fail(.inProgress)
        }
        let offset = call.arguments[0].asProperties?["offset"]?.asInt ?? 0
        // The device's own stack refuses the read; a characteristic that only notifies has no
        // access rights, so its program is asked.
        guard flags.contains(.read) || flags.isDisjoint(with: [.write, .writeWithoutResponse])
        else { return call.fail(.notPermitted("Read not permitted")) }
        reader = call
        secured { [characteristic] in
            link.read(characteristic, $0)
        } _: { [weak self] result in
            guard let self, reader === call else { return }
            reader = nil
            switch result {
            case .success(let bytes):
                guard offset <= bytes.count else { return call.fail(.invalid("Invalid offset")) }
                value = bytes
                update("Value", .bytes(bytes))
                call.reply(.bytes(Array(bytes[offset...])))
            case .failure(let error): call.fail(.request(error))
            }
        }
    }

    private func write(_ call: IncomingCall) {
        guard writeSocket == nil else { return call.fail(.notPermitted("Write acquired")) }
        guard let bytes = call.arguments[0].asBytes,
            let options = call.arguments[1].asProperties
        else { return call.fail(.invalidArguments) }
        guard let link else { return call.fail(.noLink) }
        guard writer == nil, daemon.faults.happens(.requestBusy, to: device.names) == nil else {
            return call.fail(.inProgress)
        }
        let type = options["type"]?.asString
        let offset = options["offset"]?.asInt ?? 0
        if type == "request" || type == "reliable" || type == nil && flags.contains(.write) {
            guard bytes.count + offset <= 512 else { return call.fail(.invalid("Invalid Length")) }
            return request(bytes, offset, call, on: link)
        }
        guard type == nil || type == "command", offset == 0 else { return call.fail(.notSupported) }
        guard bytes.count <= link.mtu - 3 else {
            return call.fail(.bluezFailed("Failed to initiate write"))
        }
        // Sent all the same and dropped by the device; no error is reported.
        guard flags.contains(.writeWithoutResponse) else { return call.reply() }
        if !device.isStuck { link.send(bytes, to: characteristic) }
        call.reply()
    }

    private func request(_ bytes: [UInt8], _ offset: Int, _ call: IncomingCall, on link: HostLink) {
        // A write at an offset changes part of the value, which is known from the last read.
        let whole = offset > 0 ? Array(value.prefix(offset)) + bytes : bytes
        writer = call
        secured { [characteristic] in
            link.write(whole, to: characteristic, $0)
        } _: {
            [weak self] result in
            guard let self, writer === call else { return }
            writer = nil
            switch result {
            case .success: call.reply()
            case .failure(let error): call.fail(.request(error))
            }
        }
    }

    /// Makes a request, and repeats it once if the link was made more secure after the first.
    ///
    /// If the pairing for it fails, the kernel sends nothing more over this link, and nobody learns of
    /// it: this request, and all later ones, are unanswered until the link ends.
    private func secured<Value: Sendable>(
        _ request: @escaping (@escaping (Result<Value, RadioError>) -> Void) -> Void,
        _ done: @escaping (Result<Value, RadioError>) -> Void
    ) {
        let stall = { [weak self] () -> Void in self?.stalled.append { done(.failure(.linkLost)) } }
        guard !device.isStuck else { return stall() }
        request { [weak self] result in
            guard case .failure(.att(.insufficientAuthentication)) = result, let self,
                let link, link.isUp, link.security != nil
            else { return done(result) }
            device.raiseSecurity { outcome in
                switch outcome {
                case .raised: request(done)
                case .impossible: done(result)
                case .failed: if link.isUp { stall() } else { done(.failure(.linkLost)) }
                }
            }
        }
    }

    // MARK: Sockets

    private func acquireWrite(_ call: IncomingCall) {
        guard flags.contains(.writeWithoutResponse) else { return call.fail(.notSupported) }
        guard let link else { return call.fail(.noLink) }
        guard writeSocket == nil, !isAcquiredByOther else {
            return call.fail(.notPermitted("Write acquired"))
        }
        guard !daemon.faults.holds(.noSockets), let pair = UnixDescriptor.packetPair() else {
            return call.fail(.notSupported)
        }
        let limit = link.mtu - 3
        let characteristic = characteristic
        writeSocket = daemon.open(pair.ours) { [weak self, weak link] bytes in
            guard let bytes else {
                self?.released(write: true)
                return
            }
            // A packet longer than the link allows is dropped without an error, as bluetoothd does.
            guard bytes.count <= limit, self?.device.isStuck != true else { return }
            link?.send(bytes, to: characteristic)
        }
        update("WriteAcquired", .boolean(true))
        call.reply(.descriptor(pair.theirs), .uint16(UInt16(clamping: link.mtu)))
    }

    private var isAcquiredByOther: Bool {
        daemon.faults.happens(.acquiredByOther, to: device.names) != nil
    }

    private func acquireNotify(_ call: IncomingCall) {
        guard flags.contains(.notify) else { return call.fail(.notSupported) }
        guard let link else { return call.fail(.noLink) }
        guard notifySocket == nil, !isAcquiring, !isLocked, !isAcquiredByOther else {
            return call.fail(.notPermitted("Notify acquired"))
        }
        guard !clients.contains(call.sender) else { return call.fail(.inProgress) }
        guard !daemon.faults.holds(.noSockets) else { return call.fail(.notSupported) }
        isAcquiring = true
        subscribe(on: link) { [weak self] error in
            guard let self else { return call.fail(.noLink) }
            isAcquiring = false
            if let error {
                let isOver = self.link !== link || !link.isUp
                guard isOver, !isLocked else {
                    isLocked = true
                    forgotten.append(call)
                    return
                }
                return call.fail(error)
            }
            guard self.link === link, link.isUp, let pair = UnixDescriptor.packetPair() else {
                return call.fail(.noLink)
            }
            // Earlier notifications are lost: the socket is created after the device's answer.
            notifySocket = daemon.open(pair.ours) { [weak self] bytes in
                if bytes == nil { self?.released(write: false) }
            }
            update("NotifyAcquired", .boolean(true))
            call.reply(.descriptor(pair.theirs), .uint16(UInt16(clamping: link.mtu)))
        }
    }

    // MARK: Notifications as signals

    private func startNotify(_ call: IncomingCall) {
        guard canNotify else { return call.fail(.notSupported) }
        guard notifySocket == nil, !isLocked else {
            return call.fail(.notPermitted("Notify acquired"))
        }
        guard clients.insert(call.sender).inserted else { return call.reply() }
        // Without a link, the request is remembered for the next one.
        guard let link else { return call.reply() }
        starting.append(call)
        subscribe(on: link) { [weak self] error in
            guard let self else { return call.fail(.noLink) }
            guard let index = starting.firstIndex(where: { $0 === call }) else { return }
            starting.remove(at: index)
            if let error {
                clients.remove(call.sender)
                return call.fail(error)
            }
            tellNotifying(true)
            call.reply()
        }
    }

    private func stopNotify(_ call: IncomingCall) {
        guard !isBroken else { return daemon.crash() }
        guard clients.remove(call.sender) != nil else {
            return call.fail(.bluezFailed("No notify session started"))
        }
        settleSubscription()
        call.reply()
    }

    func clientLeft(_ name: String) {
        guard clients.remove(name) != nil else { return }
        settleSubscription()
    }

    func resubscribe() {
        guard !clients.isEmpty, let link else { return }
        subscribe(on: link) { [weak self] error in
            if error == nil { self?.tellNotifying(true) }
        }
    }

    /// Without receivers, notifications are disabled at the device.
    private func settleSubscription() {
        guard clients.isEmpty, notifySocket == nil else { return }
        tellNotifying(false)
        guard isSubscribed, let link, link.isUp else { return }
        isSubscribed = false
        link.unsubscribe(from: characteristic)
    }

    private func tellNotifying(_ on: Bool) {
        guard isNotifying != on else { return }
        isNotifying = on
        update("Notifying", .boolean(on))
    }

    private func subscribe(on link: HostLink, _ done: @escaping (ErrorReply?) -> Void) {
        guard !isSubscribed else { return done(nil) }
        secured { [weak self, characteristic] answered in
            link.subscribe(to: characteristic, notified: { self?.notified($0) }, answered)
        } _: { [weak self] result in
            switch result {
            case .success:
                self?.isSubscribed = true
                done(nil)
            case .failure(let error): done(.request(error))
            }
        }
    }

    private func notified(_ bytes: [UInt8]) {
        guard !device.isStuck else { return }
        if let notifySocket { return notifySocket.send(bytes) }
        guard !clients.isEmpty else { return }
        value = bytes
        update("Value", .bytes(bytes))
    }
}
