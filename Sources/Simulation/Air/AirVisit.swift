package import Base
package import Radio

/// A simulated central: scans for a service of the program and connects to it.
package protocol AirVisitor: AnyObject {
    var label: String { get }
    /// The service it scans for; nil while it is not looking.
    var seeks: GATTUUID? { get }
    /// The time from the first advertisement it could hear to its subscription.
    var reactionTime: Duration { get }
    var linkParameters: LinkParameters { get }

    func subscribed(_ visit: AirVisit)
    func notified(_ bytes: [UInt8], _ visit: AirVisit)
    func visitEnded(_ visit: AirVisit)

    /// Whether it can pair in this way, where the service demands that.
    func canPair(_ pairing: Pairing) -> Bool

    /// Its own account of what was done to it, for those who judge that.
    var record: String? { get }
}

extension AirVisitor {
    package var record: String? { nil }
    package func canPair(_ pairing: Pairing) -> Bool { true }
}

/// A service of the program on the air.
final class AirPublication {
    let number: Int
    let adapter: String
    let service: ServiceDescription
    private var waiter: Pending<AirVisit.Handle>?
    private var visits: [Int: AirVisit] = [:]

    init(number: Int, adapter: String, service: ServiceDescription) {
        self.number = number
        self.adapter = adapter
        self.service = service
    }

    var isAdvertising: Bool { waiter?.isOpen ?? false }

    func advertise(_ pending: Pending<AirVisit.Handle>, in world: World) {
        waiter = pending
        world.advertisedServiceChanged(self)
    }

    func stopAdvertising() { waiter = nil }

    /// A visitor has subscribed: it becomes the only central, and the advertising ends.
    func subscribed(_ visit: AirVisit) {
        guard let waiter, waiter.isOpen else { return visit.end() }
        visits = visits.filter { $0.value.isUp }
        visits[visit.number] = visit
        self.waiter = nil
        waiter.resume(.success(AirVisit.Handle(number: visit.number)))
    }

    func takeVisit(_ handle: AirVisit.Handle) -> AirVisit? {
        visits[handle.number]
    }

    func end(_ error: RadioError) {
        waiter?.resume(.failure(error))
        waiter = nil
        for (_, visit) in visits.sorted(by: { $0.key < $1.key }) { visit.end() }
        visits = [:]
    }
}

/// The facts from which the facade of a visit is made.
package struct AirVisitFacts: Sendable {
    let number: Int
    let maximumLength: Int
}

/// The link of a simulated central to a service of the program.
package final class AirVisit {
    struct Handle: Sendable {
        let number: Int
    }

    private static let queueBound = 16

    let number: Int
    private unowned let world: World
    private let visitor: any AirVisitor
    private let parameters: LinkParameters
    private var outbox: [[UInt8]] = []
    private var senders: [(bytes: [UInt8], Pending<[UInt8]>)] = []
    /// The writes of the central.
    let inbox = Inbox<[UInt8]>(bound: 160)
    private var eventIsSet = false
    /// Called once, when the central has disconnected.
    package var onEnd: (() -> Void)?

    init(number: Int, world: World, visitor: any AirVisitor) {
        self.number = number
        self.world = world
        self.visitor = visitor
        parameters = visitor.linkParameters
    }

    package var isUp: Bool { inbox.isUp }
    package var label: String { visitor.label }

    package var mtu: Int { parameters.mtu }
    package var maximumLength: Int { min(parameters.mtu - 3, 512) }

    /// The central writes to the service.
    package func write(_ bytes: [UInt8]) {
        world.after(parameters.interval) { [weak self] in
            if let self, isUp { inbox.put(bytes) }
        }
    }

    /// The central unsubscribes or disconnects.
    package func end() {
        guard isUp else { return }
        inbox.end()
        for sender in senders { sender.1.resume(.failure(.linkLost)) }
        senders = []
        visitor.visitEnded(self)
        onEnd?()
        onEnd = nil
        inbox.listener = nil
    }

    // MARK: The host's side

    /// Called with each write of the central.
    package var onWrite: (([UInt8]) -> Void)? {
        get { inbox.listener }
        set {
            inbox.listener = newValue
            while let newValue, let bytes = inbox.takeFirst() { newValue(bytes) }
        }
    }

    /// Notifies; bytes beyond the central's MTU are cut off.
    package func notify(_ bytes: [UInt8]) {
        notify(Array(bytes.prefix(maximumLength)), Pending { _ in })
    }

    func notify(_ bytes: [UInt8], _ pending: Pending<[UInt8]>) {
        guard isUp else { return pending.resume(.failure(.linkLost)) }
        guard bytes.count <= maximumLength else {
            return pending.resume(.failure(.tooLong(limit: maximumLength)))
        }
        if outbox.count < Self.queueBound {
            outbox.append(bytes)
            pending.resume(.success([]))
        } else {
            senders.append((bytes, pending))
        }
        setEvent()
    }

    private func setEvent() {
        guard isUp, !eventIsSet else { return }
        eventIsSet = true
        world.after(parameters.interval) { [weak self] in self?.runEvent() }
    }

    private func runEvent() {
        eventIsSet = false
        let count = min(outbox.count, parameters.packetsPerInterval)
        let batch = outbox[..<count]
        outbox.removeFirst(count)
        for bytes in batch where isUp { visitor.notified(bytes, self) }
        while isUp, !senders.isEmpty, outbox.count < Self.queueBound {
            let sender = senders.removeFirst()
            guard sender.1.isOpen else { continue }
            outbox.append(sender.bytes)
            sender.1.resume(.success([]))
        }
        if !outbox.isEmpty { setEvent() }
    }
}
