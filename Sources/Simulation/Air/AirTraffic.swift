import Base
import Radio

/// The state of the simulated air: its world, links, visits and waits.
///
/// It is owned by one `Air`, and used on the thread of its simulation only.
package final class AirTraffic {
    package let world: World
    private var links: [Int: AirLink] = [:]
    private var visits: [Int: AirVisit] = [:]
    private var nextNumber = 0
    private var waits = Slots<any AirWaiter>()

    init(time: VirtualTime, seed: UInt64) {
        world = World(time: time, seed: seed) { [time] in time.setAlarm(at: $0) }
    }

    // MARK: Building the world

    package func addAdapter(_ name: String, linkLimit: Int = 7, steadyLinks: Int? = nil) {
        world.adapters[name] = AirAdapter(
            name: name,
            linkLimit: linkLimit,
            steadyLinks: steadyLinks
        )
    }

    /// The adapters that are plugged in.
    var adapterNames: [String] { world.sortedAdapters.map(\.name) }

    /// How long an adapter had links, or was making them, summed over its links.
    func linkTime(of adapter: String) -> Duration {
        world.adapters[adapter]?.linked ?? .zero
    }

    /// How long the adapter was sending or receiving in connection events.
    func airTime(of adapter: String) -> Duration {
        world.adapters[adapter]?.transceiver.used ?? .zero
    }

    /// Gives links of this adapter this MTU from now on: that of the real link which they
    /// represent.
    func setMTU(_ mtu: Int, of adapter: String) { world.adapters[adapter]?.mtu = mtu }

    func isUp(_ number: Int) -> Bool { links[number]?.isUp ?? false }

    // MARK: Faults of the host

    package func setPower(_ adapter: String, on: Bool) {
        guard let adapter = world.adapters[adapter] else { return }
        adapter.power = on ? .on : .off
        if !on { interrupt(adapter, .adapterOff) }
    }

    /// Unplugs the adapter; `addAdapter` plugs one in again.
    package func removeAdapter(_ name: String) {
        guard let adapter = world.adapters.removeValue(forKey: name) else { return }
        adapter.power = .missing
        interrupt(adapter, .adapterMissing)
    }

    /// Restarts the host's Bluetooth service: all its state is lost.
    package func restartStack() {
        for adapter in world.sortedAdapters { interrupt(adapter, .serviceUnavailable) }
    }

    private func interrupt(_ adapter: AirAdapter, _ error: RadioError) {
        for link in adapter.links { link.end() }
        for scanner in adapter.scanners.values { scanner.heard.end(error) }
        world.endPublications(on: adapter.name, error)
        adapter.removeAllScanners()
    }

    // MARK: Central role

    func startScan(_ name: String, _ filter: ScanFilter) throws(RadioError) -> Int {
        let adapter = try usable(name)
        let id = adapter.add(filter, at: world.now)
        world.scannerAdded(to: adapter, filter)
        return id
    }

    func stopScan(_ name: String, _ id: Int) {
        world.adapters[name]?.removeScanner(id)
    }

    func nextAdvertisement(
        _ name: String,
        _ id: Int,
        _ pending: Pending<Advertisement>
    ) throws(RadioError) {
        let adapter = try usable(name)
        guard let scanner = adapter.scanners[id] else { throw .serviceUnavailable }
        try scanner.heard.next(pending, "an advertisement on", name)
    }

    func connect(
        _ name: String,
        _ peer: Peer,
        _ policy: BondPolicy,
        _ pending: Pending<AirLinkFacts>
    ) throws(RadioError) {
        let adapter = try usable(name)
        guard adapter.links.count < adapter.linkLimit else { throw .noFreeLink }
        let number = nextNumber
        nextNumber += 1
        let attempt = AirConnection(
            number: number,
            world: world,
            adapter: adapter,
            peer: peer,
            policy: policy
        )
        pending.onEnd = { [self] isMade in
            attempt.giveUp()
            if isMade { links[number] = attempt.link }
        }
        if pending.begin("a link to", peer.handle) { attempt.begin(pending) }
    }

    func request(
        _ number: Int,
        _ request: AirLink.Request,
        _ pending: Pending<[UInt8]>
    ) throws(RadioError) {
        let link = try link(number)
        if link.device.security != nil {
            pending.refine = { error in
                guard case .att(.insufficientAuthentication) = error, link.device.security != nil
                else { return error }
                return .bond(link.bond == nil ? .notConfigured : .passkeyNeeded)
            }
        }
        if pending.begin("an answer from", link.device.label) { link.request(request, pending) }
    }

    func send(
        _ number: Int,
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        _ pending: Pending<[UInt8]>
    ) throws(RadioError) {
        let link = try link(number)
        if link.sendNow(bytes, to: characteristic) { return pending.resume(.success([])) }
        guard pending.begin("room in the queue to", link.device.label) else { return }
        link.send(bytes, to: characteristic, pending)
    }

    /// Queues as many packets as there is room for, and returns the number of their bytes.
    func queue(
        _ number: Int,
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) throws(RadioError) -> Int {
        try link(number).queue(bytes, in: length, to: characteristic)
    }

    func nextNotification(
        _ number: Int,
        _ characteristic: Characteristic,
        _ pending: Pending<[UInt8]>
    ) throws(RadioError) {
        guard let link = links[number], let queue = link.subscription(to: characteristic) else {
            throw .linkLost
        }
        try queue.next(pending, "a notification from", link.device.label)
    }

    func disconnect(_ number: Int) {
        links.removeValue(forKey: number)?.end()
    }

    // MARK: Peripheral role

    func publish(_ name: String, _ service: ServiceDescription) throws(RadioError) -> Int {
        _ = try usable(name)
        nextNumber += 1
        world.publish(AirPublication(number: nextNumber, adapter: name, service: service))
        return nextNumber
    }

    func withdraw(_ publication: Int) {
        world.withdraw(publication)
    }

    func nextCentral(
        _ publication: Int,
        _ pending: Pending<AirVisit.Handle>
    ) throws(RadioError) {
        guard let publication = world.publication(publication) else { throw .adapterOff }
        pending.onEnd = { _ in publication.stopAdvertising() }
        guard pending.begin("a central for", publication.service.uuid.description) else { return }
        publication.advertise(pending, in: world)
    }

    /// Hands over the central that has connected.
    func receive(
        _ visit: AirVisit.Handle,
        at publication: Int
    ) throws(RadioError) -> AirVisitFacts {
        guard let made = world.publication(publication)?.takeVisit(visit) else { throw .linkLost }
        visits[visit.number] = made
        return AirVisitFacts(number: visit.number, maximumLength: made.maximumLength)
    }

    func notifyCentral(
        _ number: Int,
        _ bytes: [UInt8],
        _ pending: Pending<[UInt8]>
    ) throws(RadioError) {
        guard let visit = visits[number] else { throw .linkLost }
        if pending.begin("room in the queue to", visit.label) { visit.notify(bytes, pending) }
    }

    func nextWrite(_ number: Int, _ pending: Pending<[UInt8]>) throws(RadioError) {
        guard let visit = visits[number] else { throw .linkLost }
        try visit.inbox.next(pending, "a write from", visit.label)
    }

    func endVisit(_ number: Int) {
        visits.removeValue(forKey: number)?.end()
    }

    // MARK: Waiting

    private func usable(_ name: String) throws(RadioError) -> AirAdapter {
        guard let adapter = world.adapters[name], adapter.power != .missing else {
            throw .adapterMissing
        }
        guard adapter.power == .on else { throw .adapterOff }
        return adapter
    }

    private func link(_ number: Int) throws(RadioError) -> AirLink {
        guard let link = links[number], link.isUp else { throw .linkLost }
        return link
    }

    /// The current waits, in the order in which they began.
    var waitList: [String] { waits.all.map { "\($0.what) \($0.whom)" } }

    /// Registers a wait that has no result yet, until the deadline at most.
    func begin<Value>(_ pending: Pending<Value>, before deadline: Moment?) -> SlotTicket {
        let ticket = waits.put(pending)
        let event = deadline.map { world.at($0) { pending.fail(.timedOut) } }
        pending.atEnd { [self] in
            _ = waits.take(ticket)
            if let event { world.cancel(event) }
        }
        return ticket
    }

    func cancel(_ wait: SlotTicket) { waits[wait]?.fail(.cancelled) }
}
