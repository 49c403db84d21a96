import Base
import BlueZ
import Radio
import Simulation

/// The scan of an adapter: its clients with their filters, and its results.
final class FakeDiscovery {
    private enum Deafness { case none, untilRescan, untilPowerCycle }

    private unowned let adapter: FakeAdapter
    private var filters: [String: DiscoveryFilter] = [:]
    private var clients: Set<String> = []
    private var deafness = Deafness.none
    /// When each device was last reported, for clients that want no duplicates.
    private var told: [String: Moment] = [:]
    /// Devices heard in this scan.
    private var heardOnes: Set<ObjectPath> = []
    private var jitter = 0

    init(_ adapter: FakeAdapter) { self.adapter = adapter }

    private var daemon: Daemon { adapter.daemon }
    var isOn: Bool { !clients.isEmpty }
    var count: Int { clients.count }

    // MARK: Calls

    func setFilter(_ call: IncomingCall) {
        guard let values = call.arguments[0].asProperties,
            let filter = DiscoveryFilter.read(values)
        else { return call.fail(.invalidArguments) }
        filters[call.sender] = values.isEmpty ? nil : filter
        call.reply()
    }

    func start(_ call: IncomingCall) {
        guard adapter.air.isOn else { return call.fail(.notReady) }
        guard !clients.contains(call.sender) else { return call.fail(.busy) }
        if deafness == .untilRescan { deafness = .none }
        let isFirst = clients.isEmpty
        clients.insert(call.sender)
        // The call is refused as "in progress", but the scan runs all the same.
        if daemon.faults.happens(.scanRefused) != nil { call.fail(.busy) } else { call.reply() }
        guard isFirst else { return }
        listen()
        adapter.update(["Discovering": .boolean(true)])
    }

    func stop(_ call: IncomingCall) {
        guard adapter.air.isOn else { return call.fail(.notReady) }
        guard clients.contains(call.sender) else {
            return call.fail(.bluezFailed("No discovery started"))
        }
        if daemon.faults.happens(.scanStuck) != nil {
            deafness = .untilRescan
            // The session has ended all the same: only the controller continues.
            clients.remove(call.sender)
            return call.fail(.busy)
        }
        call.reply()
        leave(call.sender)
    }

    func clientLeft(_ name: String) {
        filters[name] = nil
        leave(name)
    }

    private func leave(_ name: String) {
        guard clients.remove(name) != nil, clients.isEmpty else { return }
        finish()
        adapter.update(["Discovering": .boolean(false)])
    }

    /// Ends the scan for all clients: the adapter or the service goes off.
    func end() {
        guard isOn else { return }
        clients = []
        finish()
    }

    /// The adapter was switched off and on, which clears the controller's fault.
    func powerCycled() { deafness = .none }

    // MARK: The air

    private func listen() {
        heardOnes = []
        told = [:]
        adapter.air.listen { [weak self] in self?.heard($0) }
    }

    private func finish() {
        adapter.air.stopListening()
        for path in heardOnes.sorted() { adapter.devices[path]?.scanEnded() }
        heardOnes = []
    }

    private func heard(_ advertisement: Advertisement) {
        if daemon.faults.happens(.deaf) != nil { deafness = .untilRescan }
        if daemon.faults.happens(.deafUntilPowerCycle) != nil { deafness = .untilPowerCycle }
        guard deafness == .none else { return }
        // No two packets have the same strength, and an unchanged strength is not reported.
        jitter = (jitter + 1) % 3
        var advertisement = advertisement
        advertisement.signal += jitter - 1
        let wanting = clients.map { filters[$0] ?? DiscoveryFilter() }
        guard wanting.contains(where: { $0.passes(advertisement) }) else { return }
        let address = adapter.addresses.shown(advertisement.peer.handle)
        if !wanting.contains(where: \.wantsDuplicates), let last = told[address],
            last.duration(to: daemon.world.now) < .seconds(1)
        {
            return
        }
        told[address] = daemon.world.now
        guard let device = adapter.known(address) else { return }
        heardOnes.insert(device.path)
        device.heard(advertisement, repeats: wanting.contains(where: \.wantsDuplicates))
    }
}

/// The filter of one client.
struct DiscoveryFilter: Equatable {
    private var services: [GATTUUID] = []
    private var weakest: Int?
    private var pattern = ""
    private var isClassicOnly = false
    private(set) var wantsDuplicates = true

    init() {}

    /// Nil for a value of a wrong type, or when both distance measures are given.
    static func read(_ values: [String: DBusValue]) -> DiscoveryFilter? {
        var filter = DiscoveryFilter()
        filter.wantsDuplicates = false
        guard values["RSSI"] == nil || values["Pathloss"] == nil else { return nil }
        for (name, value) in values {
            switch (name, value) {
            case ("UUIDs", .array(.string, _)):
                let texts = value.asStrings ?? []
                filter.services = texts.compactMap { GATTUUID($0) }
                guard filter.services.count == texts.count else { return nil }
            case ("RSSI", .int16(let number)): filter.weakest = Int(number)
            case ("Pattern", .string(let text)): filter.pattern = text
            case ("DuplicateData", .boolean(let on)): filter.wantsDuplicates = on
            case ("Transport", .string(let text)):
                guard ["auto", "le", "bredr"].contains(text) else { return nil }
                filter.isClassicOnly = text == "bredr"
            case ("Pathloss", .uint16), ("Discoverable", .boolean), ("AutoConnect", .boolean): break
            default: return nil
            }
        }
        return filter
    }

    func passes(_ heard: Advertisement) -> Bool {
        guard !isClassicOnly else { return false }
        if let weakest, heard.signal < weakest { return false }
        if !services.isEmpty, !services.contains(where: heard.services.contains) { return false }
        return pattern.isEmpty || heard.peer.handle.hasPrefix(pattern)
            || heard.name?.hasPrefix(pattern) == true
    }
}
