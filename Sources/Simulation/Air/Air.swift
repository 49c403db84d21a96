import Domain
import Radio

/// The simulated air: our adapters on one side, devices on the other, both `Radio` roles.
package actor Air {
    private let lane: WorldLane
    private nonisolated let time: VirtualTime
    private let board: WaitBoard
    private let seed: UInt64
    private var links: [Int: AirLink] = [:]
    private var visits: [Int: AirVisit] = [:]
    private var nextNumber = 0
    private var waits: [Int: Wait] = [:]

    /// How somebody who waits is told that it comes to nothing, and the event at the deadline.
    private struct Wait {
        let end: (RadioError) -> Void
        var deadline: World.Ticket?
    }

    private lazy var world = makeWorld()

    private func makeWorld() -> World {
        let alarm: @Sendable () -> Void = { [weak self] in
            self?.assumeIsolated { $0.world.runDue() }
        }
        return World(time: time, seed: seed) { [time] in time.schedule(at: $0, alarm) }
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        lane.asUnownedSerialExecutor()
    }

    init(lane: WorldLane, time: VirtualTime, board: WaitBoard, seed: UInt64) {
        self.lane = lane
        self.time = time
        self.board = board
        self.seed = seed
    }

    // MARK: Building the world

    /// Lets `body` put things into the world, or change them.
    package func arrange<R: Sendable>(_ body: @Sendable (World) -> R) -> R { body(world) }

    package func addAdapter(_ name: String, linkLimit: Int = 7) {
        world.adapters[name] = AirAdapter(name: name, linkLimit: linkLimit)
    }

    /// The adapters that are plugged in.
    package var adapterNames: [String] { world.sortedAdapters.map(\.name) }

    /// For how long an adapter had links, or was making them, summed over its links.
    package func linkTime(of adapter: String) -> Duration {
        world.adapters[adapter]?.linked ?? .zero
    }

    /// Links of this adapter have this MTU from now on: that of the link they stand for.
    package func setMTU(_ mtu: Int, of adapter: String) { world.adapters[adapter]?.mtu = mtu }

    func isUp(_ number: Int) -> Bool { links[number]?.isUp ?? false }

    // MARK: Faults of the host

    package func setPower(_ adapter: String, on: Bool) {
        guard let adapter = world.adapters[adapter] else { return }
        adapter.power = on ? .on : .off
        if !on { interrupt(adapter, .adapterOff) }
    }

    /// Pulls the adapter out; `addAdapter` puts one in again.
    package func removeAdapter(_ name: String) {
        guard let adapter = world.adapters.removeValue(forKey: name) else { return }
        adapter.power = .missing
        interrupt(adapter, .adapterMissing)
    }

    /// The host's Bluetooth service goes away and comes back: everything it held is lost.
    package func restartStack() {
        for adapter in world.sortedAdapters { interrupt(adapter, .serviceUnavailable) }
    }

    private func interrupt(_ adapter: AirAdapter, _ error: RadioError) {
        for link in adapter.links { link.end() }
        for scanner in adapter.scanners.values { scanner.waiter?.resume(.failure(error)) }
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
        before deadline: Moment
    ) async throws(RadioError) -> Advertisement {
        let adapter = try usable(name)
        guard let scanner = adapter.scanners[id] else { throw .serviceUnavailable }
        if let waiting = scanner.takeFirst() { return waiting }
        return try await wait("an advertisement on", name, before: deadline) {
            scanner.waiter = $0
        }
    }

    func connect(
        _ name: String,
        _ peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> AirLinkFacts {
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
        let found: AirLinkFacts = try await wait("a link to", peer.handle, before: deadline) {
            attempt.begin($0)
        } onEnd: {
            attempt.giveUp()
        }
        links[number] = attempt.link
        return found
    }

    func request(
        _ number: Int,
        _ request: AirLink.Request,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        let link = try link(number)
        do throws(RadioError) {
            return try await wait("an answer from", link.device.label, before: deadline) {
                link.request(request, $0)
            }
        } catch .att(.insufficientAuthentication) where link.device.security != nil {
            throw .bond(link.bond == nil ? .notConfigured : .passkeyNeeded)
        }
    }

    func send(
        _ number: Int,
        _ bytes: [UInt8],
        to characteristic: Characteristic
    ) async throws(RadioError) {
        let link = try link(number)
        if link.sendNow(bytes, to: characteristic) { return }
        _ = try await wait("room in the queue to", link.device.label, before: nil) {
            link.send(bytes, to: characteristic, $0)
        }
    }

    /// One turn for all the packets that there is room for.
    func queue(
        _ number: Int,
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) throws(RadioError) -> Int {
        let link = try link(number)
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = min(start + length, bytes.endIndex)
            guard link.sendNow(Array(bytes[start..<end]), to: characteristic) else { break }
            start = end
        }
        return start - bytes.startIndex
    }

    func nextNotification(
        _ number: Int,
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        guard let link = links[number], let queue = link.subscription(to: characteristic) else {
            throw .linkLost
        }
        if let waiting = queue.takeFirst() { return waiting }
        guard queue.isUp else { throw .linkLost }
        return try await wait("a notification from", link.device.label, before: deadline) {
            queue.waiter = $0
        }
    }

    func disconnect(_ number: Int) {
        links.removeValue(forKey: number)?.end()
    }

    /// The facade of a link is gone: nobody can ask for it again.
    nonisolated func release(_ number: Int) {
        time.schedule(at: time.now) { [weak self] in
            self?.assumeIsolated { $0.disconnect(number) }
        }
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
        before deadline: Moment
    ) async throws(RadioError) -> AirVisitFacts {
        guard let publication = world.publication(publication) else { throw .adapterOff }
        let visit: AirVisit.Handle = try await wait(
            "a central for",
            publication.service.uuid.description,
            before: deadline
        ) {
            publication.advertise($0, in: world)
        } onEnd: {
            publication.stopAdvertising()
        }
        guard let made = publication.takeVisit(visit) else { throw .linkLost }
        visits[visit.number] = made
        return AirVisitFacts(number: visit.number, maximumLength: made.maximumLength)
    }

    func notifyCentral(_ number: Int, _ bytes: [UInt8]) async throws(RadioError) {
        guard let visit = visits[number] else { throw .linkLost }
        _ = try await wait("room in the queue to", visit.label, before: nil) {
            visit.notify(bytes, $0)
        }
    }

    func nextWrite(_ number: Int, before deadline: Moment) async throws(RadioError) -> [UInt8] {
        guard let visit = visits[number] else { throw .linkLost }
        if let waiting = visit.takeFirst() { return waiting }
        guard visit.isUp else { throw .linkLost }
        return try await wait("a write from", visit.label, before: deadline) {
            visit.waiter = $0
        }
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

    /// Waits until `register`'s pending is resumed, the deadline is over or the task cancelled.
    private func wait<Value: Sendable>(
        _ what: StaticString,
        _ whom: String,
        before deadline: Moment?,
        _ register: (Pending<Value>) -> Void,
        onEnd: @escaping () -> Void = {}
    ) async throws(RadioError) -> Value {
        let ticket = nextNumber
        nextNumber += 1
        let entry = board.begin(what, whom)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Value, RadioError>, Never>) in
                let pending = Pending(continuation) { [self] in
                    if let deadline = waits.removeValue(forKey: ticket)?.deadline {
                        world.cancel(deadline)
                    }
                    board.end(entry)
                    onEnd()
                }
                guard !Task.isCancelled else { return pending.resume(.failure(.cancelled)) }
                waits[ticket] = Wait { pending.resume(.failure($0)) }
                register(pending)
                if pending.isOpen, let deadline {
                    waits[ticket]?.deadline = world.at(deadline) {
                        pending.resume(.failure(.timedOut))
                    }
                }
            }
        } onCancel: {
            time.schedule(at: time.now) { [weak self] in
                self?.assumeIsolated { $0.waits[ticket]?.end(.cancelled) }
            }
        }
        return try result.get()
    }
}
