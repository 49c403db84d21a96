package import Base
import Radio

/// A link between one of the program's adapters and a device, with the link layers of both sides.
///
/// Nothing happens between connection events; at each event, as much of both queues is sent as the
/// interval, the packet limit, the air time and the adapter's other links allow.
package final class AirLink {
    /// The packets of the central, in order.
    enum Outgoing {
        /// Writes without response, in packets of this length; only the last one may be shorter.
        case commands(ArraySlice<UInt8>, length: Int, Characteristic)
        case request(Request, Pending<[UInt8]>)
        case confirmation(() -> Void)
    }

    enum Request {
        case read(Characteristic)
        case write([UInt8], Characteristic)
        case subscribe(Characteristic)
        case unsubscribe(Characteristic)
    }

    /// The packets of the device, in order.
    fileprivate enum Incoming {
        case response(Result<[UInt8], ATTError>, Pending<[UInt8]>)
        case notification([UInt8], Characteristic)
        case indication([UInt8], Characteristic, confirmed: () -> Void)
    }

    /// How many notifications of a characteristic wait to be taken.
    private static let notificationBound = 160

    /// The number of packets that the host and the controller accept before a sender has to wait:
    /// never less than two events carry, because the host feeds the controller during an event.
    private var queueBound: Int { max(24, 2 * parameters.packetsPerInterval) }

    let number: Int
    unowned let world: World
    unowned let adapter: AirAdapter
    package let device: any AirDevice
    package let parameters: LinkParameters
    private let anchor: Moment
    /// The connection interval in nanoseconds.
    private let interval: Int64

    private(set) var isUp = true
    /// When the connection was requested.
    var began: Moment
    private var outgoing: [Outgoing] = []
    /// The number of packets in `outgoing`.
    private var outgoingPackets = 0
    private var incoming: [Incoming] = []
    private var eventIsSet = false
    private var requestIsOpen = false
    private var waitingRequests: [Outgoing] = []
    private var senders: [(bytes: [UInt8], characteristic: Characteristic, Pending<[UInt8]>)] = []
    private var subscriptions: [Characteristic: Inbox<[UInt8]>] = [:]
    let found: [Characteristic: CharacteristicFlags]
    /// The bond that encrypts it; nil while it is not encrypted.
    var bond: AirBond?
    /// Called once, when the link is over.
    var onEnd: (() -> Void)?

    init(number: Int, world: World, adapter: AirAdapter, device: any AirDevice) {
        self.number = number
        self.world = world
        self.adapter = adapter
        self.device = device
        var parameters = device.linkParameters
        if let mtu = adapter.mtu { parameters.mtu = mtu }
        self.parameters = parameters
        interval = parameters.interval.nanoseconds
        found = device.table
        anchor = world.now
        began = anchor
    }

    package var maximumLength: Int { min(parameters.mtu - 3, 512) }

    /// Whether the device allows use of its characteristics on the link in its current state.
    private var isSecure: Bool { device.security?.admits(bond) ?? true }

    // MARK: The device's side

    /// Notifies, if the central has subscribed; the bytes are cut to what the link carries.
    package func notify(_ bytes: [UInt8], on own: Characteristic) {
        let characteristic = device.shown(own)
        guard isUp, subscriptions[characteristic] != nil else { return }
        incoming.append(.notification(cut(bytes), characteristic))
        setEvent()
    }

    /// The number of the device's packets that were not sent yet.
    package var backlog: Int { incoming.count }

    /// Indicates, and calls `confirmed` when the central's confirmation has arrived.
    package func indicate(
        _ bytes: [UInt8],
        on own: Characteristic,
        confirmed: @escaping () -> Void
    ) {
        let characteristic = device.shown(own)
        guard isUp, subscriptions[characteristic] != nil else { return }
        incoming.append(
            .indication(cut(bytes), characteristic, confirmed: confirmed)
        )
        setEvent()
    }

    /// Cuts bytes to the length of one notification.
    private func cut(_ bytes: [UInt8]) -> [UInt8] {
        bytes.count <= parameters.mtu - 3 ? bytes : Array(bytes.prefix(parameters.mtu - 3))
    }

    /// Ends the link immediately, as when the other side disconnects.
    package func drop() { end() }

    /// Silences the other side: the link ends when the supervision timeout is over.
    package func fallSilent() {
        eventIsSet = true  // No further connection event takes place.
        outgoing = []
        outgoingPackets = 0
        incoming = []
        world.after(parameters.supervisionTimeout) { [weak self] in self?.end() }
    }

    func end() {
        guard isUp else { return }
        isUp = false
        adapter.linked += began.duration(to: world.now)
        adapter.links.removeAll { $0 === self }
        for case .request(_, let pending) in outgoing + waitingRequests {
            pending.resume(.failure(.linkLost))
        }
        for case .response(_, let pending) in incoming { pending.resume(.failure(.linkLost)) }
        openRequest?.resume(.failure(.linkLost))
        for sender in senders { sender.2.resume(.failure(.linkLost)) }
        (outgoing, incoming, waitingRequests, senders) = ([], [], [], [])
        outgoingPackets = 0
        for subscription in subscriptions.values { subscription.end() }
        device.linkLost(self)
        onEnd?()
        onEnd = nil
    }

    // MARK: The central's side

    private var openRequest: Pending<[UInt8]>?

    func send(_ bytes: [UInt8], to characteristic: Characteristic, _ pending: Pending<[UInt8]>) {
        guard isUp else { return pending.resume(.failure(.linkLost)) }
        if outgoingPackets >= queueBound {
            senders.append((bytes, characteristic, pending))
        } else {
            append(bytes[...], in: bytes.count, to: characteristic)
            pending.resume(.success([]))
        }
    }

    /// Queues a packet if there is room; true when it was queued, so that the caller need not wait.
    func sendNow(_ bytes: [UInt8], to characteristic: Characteristic) -> Bool {
        guard isUp, outgoingPackets < queueBound, senders.isEmpty else { return false }
        append(bytes[...], in: bytes.count, to: characteristic)
        return true
    }

    /// Queues as many packets of this length as there is room for, and returns the number of their
    /// bytes.
    func queue(_ bytes: ArraySlice<UInt8>, in length: Int, to characteristic: Characteristic) -> Int
    {
        guard isUp, senders.isEmpty, outgoingPackets < queueBound, !bytes.isEmpty else { return 0 }
        let room = bytes.prefix((queueBound - outgoingPackets) * length)
        append(room, in: length, to: characteristic)
        return room.count
    }

    private func append(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) {
        outgoing.append(.commands(bytes, length: length, characteristic))
        // An empty write is a packet, too.
        outgoingPackets += max(1, (bytes.count + length - 1) / max(1, length))
        setEvent()
    }

    func request(_ request: Request, _ pending: Pending<[UInt8]>) {
        guard isUp else { return pending.resume(.failure(.linkLost)) }
        // One request at a time on an ATT bearer.
        if requestIsOpen {
            waitingRequests.append(.request(request, pending))
        } else {
            requestIsOpen = true
            openRequest = pending
            outgoing.append(.request(request, pending))
            outgoingPackets += 1
            setEvent()
        }
    }

    func subscription(to characteristic: Characteristic) -> Inbox<[UInt8]>? {
        subscriptions[characteristic]
    }

    // MARK: Connection events

    private func setEvent() {
        guard isUp, !eventIsSet else { return }
        eventIsSet = true
        // Not weak, because that makes each retain of a link slower; the event is at most an
        // interval away.
        world.at(nextEvent) {
            guard self.isUp else { return }
            self.adapter.transceiver.serve(self)
        }
    }

    /// When the next interval begins.
    private var nextEvent: Moment {
        let passed = world.now.nanoseconds - anchor.nanoseconds
        return anchor.advanced(byNanoseconds: (passed / interval + 1) * interval)
    }

    /// The adapter serves the link: packets are sent until its next event begins.
    func runEvent() {
        guard isUp else { return }
        eventIsSet = false
        let begin = world.now
        let end = nextEvent
        var time = begin
        var packets = 0
        takeIncoming(until: end, &time)
        while isUp, packets < parameters.packetsPerInterval, let next = outgoing.first {
            let after = time.advanced(
                byNanoseconds: parameters.airNanoseconds(attBytes: next.attBytes)
            )
            guard after <= end || packets == 0 else { break }
            time = after
            packets += 1
            if parameters.loss > 0, world.random.chance(parameters.loss) { continue }
            takeFirst(next)
            deliver(next)
        }
        // A packet that alone is longer than the interval ends with it, but one that begins late
        // delays the events after it.
        let isLate = (begin.nanoseconds - anchor.nanoseconds) % interval != 0
        adapter.transceiver.occupy(from: begin, until: isLate ? time : min(time, end))
        admitSenders()
        if isUp, !outgoing.isEmpty || !incoming.isEmpty { setEvent() }
    }

    /// Removes one packet from the queue, whose first entry is `next`.
    private func takeFirst(_ next: Outgoing) {
        outgoingPackets -= 1
        guard case .commands(let bytes, let length, let characteristic) = next,
            bytes.count > length
        else {
            outgoing.removeFirst()
            return
        }
        outgoing[0] = .commands(bytes.dropFirst(length), length: length, characteristic)
    }

    /// Delivers the first packet of an entry.
    private func deliver(_ packet: Outgoing) {
        switch packet {
        case .commands(let bytes, let length, let characteristic):
            // A command has no answer that could refuse it.
            guard isSecure, takesCommands(characteristic) else { return }
            device.streamed(bytes.prefix(length), to: device.meant(characteristic))
        case .request(let request, let pending):
            let result = answer(request)
            guard isUp else { return }
            respond(result, pending, after: device.takePause())
        case .confirmation(let confirmed):
            confirmed()
        }
    }

    /// Whether the characteristic takes writes without response: a device drops all others.
    private func takesCommands(_ characteristic: Characteristic) -> Bool {
        found[characteristic]?.contains(.writeWithoutResponse) ?? false
    }

    private func respond(
        _ result: Result<[UInt8], ATTError>,
        _ pending: Pending<[UInt8]>,
        after pause: AnswerPause
    ) {
        switch pause {
        case .none:
            incoming.append(.response(result, pending))
        case .lasting(let duration):
            world.after(duration) { [weak self] in
                guard let self, self.isUp else { return }
                self.incoming.append(.response(result, pending))
                self.setEvent()
            }
        case .forever:
            // One request at a time: later requests wait, too.
            break
        }
    }

    private func answer(_ request: Request) -> Result<[UInt8], ATTError> {
        guard isSecure else { return .failure(.insufficientAuthentication) }
        switch request {
        case .read(let characteristic):
            return device.read(device.meant(characteristic))
        case .write(let bytes, let characteristic):
            let refusal = device.written(bytes, to: device.meant(characteristic))
            return refusal.map { .failure($0) } ?? .success([])
        case .subscribe(let characteristic):
            let error = device.subscribed(to: device.meant(characteristic), true)
            if let error { return .failure(error) }
            if subscriptions[characteristic] == nil {
                subscriptions[characteristic] = Inbox(bound: Self.notificationBound)
            }
            return .success([])
        case .unsubscribe(let characteristic):
            let error = device.subscribed(to: device.meant(characteristic), false)
            if let error { return .failure(error) }
            subscriptions.removeValue(forKey: characteristic)?.end()
            return .success([])
        }
    }

    /// Receives the packets that the device sent before this event.
    private func takeIncoming(until end: Moment, _ time: inout Moment) {
        let ready = incoming
        incoming = []
        for (index, item) in ready.enumerated() {
            let after = time.advanced(
                byNanoseconds: parameters.airNanoseconds(attBytes: item.attBytes)
            )
            guard after <= end || index == 0 else {
                incoming = Array(ready[index...]) + incoming
                return
            }
            time = after
            take(item)
            guard isUp else { return }
        }
    }

    private func take(_ item: Incoming) {
        switch item {
        case .response(let result, let pending):
            requestIsOpen = false
            openRequest = nil
            pending.resume(result.mapError(RadioError.att))
            if !waitingRequests.isEmpty, case .request(let next, let waiter) = waitingRequests[0] {
                waitingRequests.removeFirst()
                request(next, waiter)
            }
        case .notification(let bytes, let characteristic):
            subscriptions[characteristic]?.put(bytes)
        case .indication(let bytes, let characteristic, let confirmed):
            subscriptions[characteristic]?.put(bytes)
            outgoing.insert(.confirmation(confirmed), at: 0)
            outgoingPackets += 1
        }
    }

    private func admitSenders() {
        while isUp, !senders.isEmpty, outgoingPackets < queueBound {
            let sender = senders.removeFirst()
            guard sender.2.isOpen else { continue }
            append(sender.bytes[...], in: sender.bytes.count, to: sender.characteristic)
            sender.2.resume(.success([]))
        }
    }
}

extension AirLink.Outgoing {
    /// Bytes of the first ATT packet: opcode and handle come before a value.
    fileprivate var attBytes: Int {
        switch self {
        case .commands(let bytes, let length, _): min(bytes.count, length) + 3
        case .request(.write(let bytes, _), _): bytes.count + 3
        case .request(.read, _): 3
        case .request(.subscribe, _), .request(.unsubscribe, _): 5
        case .confirmation: 1
        }
    }
}

extension AirLink.Incoming {
    fileprivate var attBytes: Int {
        switch self {
        case .response(.success(let bytes), _): bytes.count + 1
        case .response(.failure, _): 5
        case .notification(let bytes, _), .indication(let bytes, _, _): bytes.count + 3
        }
    }
}
