package import Base
import Radio

/// Everything that is on the air, with the events to come.
///
/// Owned by one `Air`.
package final class World {
    private let time: VirtualTime
    private var events = Agenda<Event>()
    package var random: SplitMix64

    /// A struct of its own, because generic code wraps a bare closure again each time it takes or
    /// returns it.
    private struct Event {
        let happen: () -> Void
    }

    /// Asks the owner to call `runDue` at a moment.
    private let wake: (Moment) -> Void
    private var alarm: Moment?
    /// Whether due events are running: meanwhile no alarm is set for the next one.
    private var isRunning = false

    var adapters: [String: AirAdapter] = [:]
    package private(set) var devices: [any AirDevice] = []
    /// Devices that a scan can name, by serial, and devices that no scan can name.
    private var named: [Serial: [any AirDevice]] = [:]
    private var nameless: [any AirDevice] = []
    /// The device that was last heard at an address.
    private var atAddress: [String: any AirDevice] = [:]
    package var visitors: [any AirVisitor] = []
    var publications: [AirPublication] = []
    /// The hosts' side of bonds: by adapter, and then by the device's label.
    private var bonds: [String: [String: AirBond]] = [:]
    var nextVisit = 0
    var nextPublication = 0
    /// Called with each act that devices carried out.
    var diary: ((String) -> Void)?
    /// The upper bound of the random delay between a device's advertisement events (0 to 10 ms).
    private static let advertisingDelay = 10_000_000

    init(time: VirtualTime, seed: UInt64, wake: @escaping (Moment) -> Void) {
        self.time = time
        random = SplitMix64(seed: seed)
        self.wake = wake
    }

    package var now: Moment { time.now }
    package var wallTime: WallTime { time.wallTime }

    /// Does `action` after `delay`, on the simulation's thread.
    package func after(_ delay: Duration, _ action: @escaping () -> Void) {
        at(now.advanced(by: delay), action)
    }

    /// Identifies an event, so that it can be cancelled.
    package typealias Ticket = SlotTicket

    @discardableResult
    package func at(_ moment: Moment, _ action: @escaping () -> Void) -> Ticket {
        let moment = max(moment, now)
        let ticket = events.add(Event(happen: action), at: moment)
        if !isRunning { setAlarm(at: moment) }
        return ticket
    }

    /// Cancels an event; does nothing when it has already happened.
    func cancel(_ ticket: Ticket) { events.cancel(ticket) }

    /// When the next event happens; nil when there are no events.
    var nextEvent: Moment? { events.nextMoment }

    /// Records an act of a device that changed it.
    package func note(_ deed: String) { diary?("\(wallTime) \(deed)\n") }

    func runDue() {
        let now = now
        if let set = alarm, set <= now { alarm = nil }
        isRunning = true
        while let event = events.takeFirst(upTo: now) { event.happen() }
        isRunning = false
        if let next = events.nextMoment { setAlarm(at: next) }
    }

    private func setAlarm(at moment: Moment) {
        guard alarm.map({ moment < $0 }) ?? true else { return }
        alarm = moment
        wake(moment)
    }

    // MARK: Devices and their advertisements

    package func add(_ device: any AirDevice) {
        devices.append(device)
        if let serial = device.serial {
            named[serial, default: []].append(device)
        } else {
            nameless.append(device)
        }
        advertisingChanged(device)
    }

    /// A device began to advertise, or advertises something else from now on.
    package func advertisingChanged(_ device: any AirDevice) {
        for adapter in sortedAdapters where !adapter.scanners.isEmpty {
            startHearing(device, on: adapter)
        }
    }

    /// A scan has begun: from now on, the advertisements that it wants are events.
    ///
    /// In a full depot, a scan for one module must not examine all the others.
    func scannerAdded(to adapter: AirAdapter, _ filter: ScanFilter) {
        guard let serial = filter.sought else {
            for device in devices { startHearing(device, on: adapter) }
            return
        }
        for device in named[serial] ?? [] { startHearing(device, on: adapter) }
        for device in nameless { startHearing(device, on: adapter) }
    }

    private func startHearing(_ device: any AirDevice, on adapter: AirAdapter) {
        let key = ObjectIdentifier(device)
        guard !adapter.heard.contains(key), let broadcast = device.aired,
            adapter.wants(broadcast)
        else { return }
        adapter.heard.insert(key)
        let phase = random.below(Int(broadcast.interval.nanoseconds))
        nextAdvertisement(of: device, on: adapter, in: .nanoseconds(phase))
    }

    private func nextAdvertisement(
        of device: any AirDevice,
        on adapter: AirAdapter,
        in delay: Duration
    ) {
        let scan = adapter.scanGeneration
        after(delay) { [unowned self, unowned device, weak adapter] in
            guard let adapter, adapter.scanGeneration == scan else { return }
            guard let broadcast = device.aired, adapter.wants(broadcast) else {
                adapter.heard.remove(ObjectIdentifier(device))
                return
            }
            atAddress[broadcast.address] = device
            adapter.hear(broadcast, at: now)
            let pause = random.below(Self.advertisingDelay)
            nextAdvertisement(
                of: device,
                on: adapter,
                in: broadcast.interval + .nanoseconds(pause)
            )
        }
    }

    /// The host's side of the bond of an adapter with a device.
    func bond(of adapter: String, with device: String) -> AirBond? { bonds[adapter]?[device] }

    func setBond(of adapter: String, with device: String, _ bond: AirBond?) {
        bonds[adapter, default: [:]][device] = bond
    }

    /// Another adapter that has a bond with the device.
    func adapter(bondedTo device: String, besides adapter: String) -> String? {
        bonds.filter { $0.key != adapter && $0.value[device] != nil }.keys.min()
    }

    /// The adapters in the order of their names, so that acts on all of them have a fixed order.
    var sortedAdapters: [AirAdapter] {
        adapters.values.sorted { $0.name < $1.name }
    }

    func device(at peer: Peer) -> (any AirDevice)? {
        if let known = atAddress[peer.handle] {
            // It is silent now, and will advertise again under the same address.
            guard let address = known.aired?.address else { return nil }
            if address == peer.handle { return known }
        }
        let found = devices.first { $0.aired?.address == peer.handle }
        if let found { atAddress[peer.handle] = found }
        return found
    }
}
