import Base
import Radio
import Simulation
import Synchronization

/// The shared state of all radios of one run: the number of uses, the incidents to come, and
/// whether the process is alive.
final class NightHost: Sendable {
    private struct State {
        var uses = 0
        /// The incidents at a use, in any order.
        var fates: [(use: Int, what: NightStory.Event)] = []
        /// The incidents that wait until vehicles have entered a state `count` times; `entered`
        /// counts them.
        var ambushes: [(state: String, count: Int, what: NightStory.Event)] = []
        var entered: [String: Int] = [:]
        /// The incidents at the next use.
        var sprung: [NightStory.Event] = []
        var isDead = false
        /// The time until which each adapter, and the service, is gone.
        var gone: [String: Moment] = [:]
        var serviceGone: Moment?
        var links: [(adapter: String, link: any Link)] = []
        var visits: [(adapter: String, link: any CentralLink)] = []
        var contacts: [WallTime] = []
    }

    private let state: Mutex<State>
    private let clock: NightClock
    /// Carries out incidents that do not concern the radio.
    private let others: @Sendable (NightStory.Event) async -> Void

    init(
        _ incidents: [NightStory.Incident],
        clock: NightClock,
        others: @escaping @Sendable (NightStory.Event) async -> Void
    ) {
        var start = State()
        for incident in incidents {
            switch incident.at {
            case .use(let number): start.fates.append((number, incident.what))
            case .state(let state, let count):
                start.ambushes.append((state, count, incident.what))
            case .second, .write: break
            }
        }
        state = Mutex(start)
        self.clock = clock
        self.others = others
    }

    /// The wall times at which links were made.
    var contacts: [WallTime] { state.withLock { $0.contacts } }
    var uses: Int { state.withLock { $0.uses } }
    var isDead: Bool { state.withLock { $0.isDead } }

    func linked(_ adapter: String, _ link: any Link) {
        state.withLock {
            $0.links.append((adapter, link))
            $0.contacts.append(clock.wallTime)
        }
    }

    func visited(_ adapter: String, _ link: any CentralLink) {
        state.withLock {
            $0.visits.append((adapter, link))
            $0.contacts.append(clock.wallTime)
        }
    }

    /// Records that a vehicle has entered a state.
    func entered(_ name: String) {
        state.withLock { state in
            let count = state.entered[name, default: 0] + 1
            state.entered[name] = count
            state.sprung += state.ambushes.filter { $0.state == name && $0.count == count }
                .map(\.what)
        }
    }

    /// Carries out an incident.
    func strike(_ what: NightStory.Event) async {
        switch what {
        case .kill, .power:
            await dies()
        case .adapterGone(let number, let seconds):
            let until = clock.now.advanced(by: .seconds(seconds))
            state.withLock { $0.gone["hci\(number)"] = until }
            await cutLinks(of: "hci\(number)")
        case .serviceGone(let seconds):
            let until = clock.now.advanced(by: .seconds(seconds))
            state.withLock { $0.serviceGone = until }
            await cutLinks(of: nil)
        case .suspended(let seconds):
            clock.suspend(until: clock.now.advanced(by: .seconds(seconds)))
        case .stop, .clock, .say, .refusedWrite, .cutOff, .answerLost, .databaseAway: break
        }
        await others(what)
    }

    /// Ends our process, for any reason.
    func dies() async {
        state.withLock { $0.isDead = true }
        await cutLinks(of: nil)
    }

    /// Ends all links of a process that is gone.
    private func cutLinks(of adapter: String?) async {
        let (links, visits) = state.withLock { state in
            (
                state.links.filter { adapter == nil || $0.adapter == adapter },
                state.visits.filter { adapter == nil || $0.adapter == adapter }
            )
        }
        for link in links { await link.link.disconnect() }
        for visit in visits { await visit.link.disconnect() }
    }

    /// Counts a use, and throws the host's error.
    func use(_ adapter: String) async throws(RadioError) {
        let due = state.withLock { state in
            state.uses += 1
            let due = state.fates.filter { $0.use == state.uses }.map(\.what) + state.sprung
            state.sprung = []
            return due
        }
        for what in due { await strike(what) }
        let now = clock.now
        let error: RadioError? = state.withLock { state in
            if state.isDead { return .adapterMissing }
            if let until = state.serviceGone, until > now { return .serviceUnavailable }
            if let until = state.gone[adapter], until > now { return .adapterMissing }
            return nil
        }
        if let error { throw error }
    }

    /// A use of the radio: a process that was stopped meanwhile gets its result when it continues.
    func using<R>(
        _ adapter: String,
        _ body: () async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await use(adapter)
        let result: Result<R, RadioError>
        do throws(RadioError) { result = .success(try await body()) } catch {
            result = .failure(error)
        }
        await clock.goOn()
        return try result.get()
    }
}

/// The clock of the host: it may be set while time passes, and the process may be stopped.
final class NightClock: Timekeeper {
    private let time: VirtualTime
    private let ahead = Mutex(Duration.zero)
    private let suspended = Mutex<Moment?>(nil)

    init(_ time: VirtualTime) { self.time = time }

    var now: Moment { time.now }
    var wallTime: WallTime { time.wallTime.advanced(by: ahead.withLock { $0 }) }

    func set(by seconds: Int) { ahead.withLock { $0 += .seconds(seconds) } }
    func setRight() { ahead.withLock { $0 = .zero } }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        await time.sleep(until: deadline, for: purpose())
        await goOn()
    }

    /// From now on no work of the process continues before this moment.
    func suspend(until moment: Moment) { suspended.withLock { $0 = moment } }

    /// Waits until the process continues; a cancellation does not shorten the wait.
    func goOn() async {
        while let until = suspended.withLock({ $0 }), until > now {
            await withCheckedContinuation { continuation in
                time.schedule(at: until) { continuation.resume() }
            }
        }
    }
}

/// The place of an adapter: the modules that it hears there, and a record of its packets to them.
struct NightPlace: Sendable {
    let air: Air
    /// The vehicles by the serials of their modules in the air.
    let numbers: [String: Int]
    /// How much weaker each vehicle is heard, in dB; nil when it is not heard.
    let losses: [Int?]
    /// Called for each packet to the module of a vehicle.
    let note: @Sendable (_ vehicle: Int) -> Void

    func vehicle(at peer: Peer) async -> Int? {
        let label = await air.arrange { world in
            world.devices.first { $0.broadcast?.address == peer.handle }?.label
        }
        return label.flatMap { numbers[$0] }
    }

    /// The advertisement as it is heard here; nil when it is not heard.
    func heard(_ advertisement: Advertisement) async -> Advertisement? {
        guard let vehicle = await vehicle(at: advertisement.peer) else { return advertisement }
        guard let loss = losses[vehicle] else { return nil }
        var weaker = advertisement
        weaker.signal -= loss
        return weaker
    }
}

/// One adapter of the simulated air, on a host with incidents.
struct NightRadio: Central, Peripheral {
    let radio: SimulatedRadio
    let host: NightHost
    /// Nil where one machine hears all modules.
    var place: NightPlace?

    var adapter: String { radio.adapter }

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await host.use(adapter)
        return try await radio.withScan(filter) { scan throws(RadioError) in
            try await body(NightScan(scan: scan, host: host, adapter: adapter, place: place))
        }
    }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        let vehicle = await place?.vehicle(at: peer)
        let link = try await host.using(adapter) { () throws(RadioError) in
            if let vehicle { place?.note(vehicle) }
            let link = try await radio.connect(to: peer, policy, before: deadline)
            host.linked(adapter, link)
            return link
        }
        let note: (@Sendable () -> Void)? =
            if let vehicle, let place { { place.note(vehicle) } } else { nil }
        return NightLink(link: link, host: host, adapter: adapter, note: note)
    }

    func forget(_ peer: Peer) async { await radio.forget(peer) }

    func withService<R: Sendable>(
        _ service: ServiceDescription,
        _ body: (any PublishedService) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await host.use(adapter)
        return try await radio.withService(service) { published throws(RadioError) in
            try await body(NightService(service: published, host: host, adapter: adapter))
        }
    }
}

private struct NightScan: Scan {
    let scan: any Scan
    let host: NightHost
    let adapter: String
    let place: NightPlace?

    func next(before deadline: Moment) async throws(RadioError) -> Advertisement {
        try await host.using(adapter) { () throws(RadioError) in
            while true {
                let advertisement = try await scan.next(before: deadline)
                guard let place else { return advertisement }
                if let heard = await place.heard(advertisement) { return heard }
            }
        }
    }
}

private final class NightLink: Link {
    let link: any Link
    let host: NightHost
    let adapter: String

    /// Called for each packet on this link.
    private let note: (@Sendable () -> Void)?

    init(link: any Link, host: NightHost, adapter: String, note: (@Sendable () -> Void)?) {
        (self.link, self.host, self.adapter, self.note) = (link, host, adapter, note)
    }

    var peer: Peer { link.peer }
    var maximumLength: Int { link.maximumLength }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        link.flags(of: characteristic)
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try await host.using(adapter) { () throws(RadioError) in
            note?()
            return try await link.read(characteristic, before: deadline)
        }
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try await host.using(adapter) { () throws(RadioError) in
            note?()
            try await link.write(bytes, to: characteristic, before: deadline)
        }
    }

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        try await host.using(adapter) { () throws(RadioError) in
            note?()
            try await link.send(bytes, to: characteristic)
        }
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        let subscription = try await host.using(adapter) { () throws(RadioError) in
            note?()
            return try await link.subscribe(to: characteristic, before: deadline)
        }
        return NightSubscription(subscription: subscription, host: host, adapter: adapter)
    }

    func disconnect() async { await link.disconnect() }
}

private struct NightSubscription: Subscription {
    let subscription: any Subscription
    let host: NightHost
    let adapter: String

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await host.using(adapter) { () throws(RadioError) in
            try await subscription.next(before: deadline)
        }
    }
}

private struct NightService: PublishedService {
    let service: any PublishedService
    let host: NightHost
    let adapter: String

    func nextCentral(before deadline: Moment) async throws(RadioError) -> any CentralLink {
        let link = try await host.using(adapter) { () throws(RadioError) in
            let link = try await service.nextCentral(before: deadline)
            host.visited(adapter, link)
            return link
        }
        return NightCentralLink(link: link, host: host, adapter: adapter)
    }
}

private final class NightCentralLink: CentralLink {
    let link: any CentralLink
    let host: NightHost
    let adapter: String

    init(link: any CentralLink, host: NightHost, adapter: String) {
        (self.link, self.host, self.adapter) = (link, host, adapter)
    }

    var maximumLength: Int { link.maximumLength }

    func notify(_ bytes: [UInt8]) async throws(RadioError) {
        try await host.using(adapter) { () throws(RadioError) in try await link.notify(bytes) }
    }

    func nextWrite(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await host.using(adapter) { () throws(RadioError) in
            try await link.nextWrite(before: deadline)
        }
    }

    func disconnect() async { await link.disconnect() }
}
