import Base
import BlueZ
import Radio
import Simulation

/// One controller, as `org.bluez` shows it.
final class FakeAdapter: ServedObject {
    let air: HostAdapter
    unowned let daemon: Daemon
    private let index: Int
    private(set) var word: String
    private(set) var isPlugged = true
    private var isBlocked = false
    private var alias: String?
    private var discoverable = false
    private var pairable = false

    private(set) var devices: [ObjectPath: FakeDevice] = [:]
    /// Kept on disk, by the devices' addresses.
    var bonds: [String: AirBond] = [:]
    /// Only one pairing at a time.
    var isPairing = false
    var addresses: AddressBook
    private(set) lazy var discovery = FakeDiscovery(self)
    private(set) lazy var advertising = Advertising(self)
    private(set) lazy var applications = Applications(self)

    init(_ air: HostAdapter, index: Int, of daemon: Daemon) {
        self.air = air
        self.daemon = daemon
        self.index = index
        word = air.name
        addresses = AddressBook(daemon.world, lifetime: daemon.settings.host.addressLifetime)
    }

    var path: ObjectPath {
        guard let path = ObjectPath("/org/bluez/" + word) else { return .root }
        return path
    }

    /// A locally administered address, so that it belongs to no manufacturer; it stays the same
    /// after replugging.
    var address: String { "02:59:4D:00:00:" + Hex.text([UInt8(truncatingIfNeeded: index)]) }
    private var name: String { "yardmaster-\(index)" }

    // MARK: Appearing and disappearing

    func appear() {
        daemon.serve(
            self,
            [
                (Interfaces.adapter, properties), (Interfaces.gattManager, [:]),
                (Interfaces.advertisingManager, advertising.properties),
            ]
        )
        // Devices that are kept on disk, because a program has connected to them.
        for device in devices.values.sorted(by: { $0.path < $1.path }) { device.appear() }
    }

    private var properties: [String: DBusValue] {
        [
            "Address": .string(address), "AddressType": .string("public"),
            "Name": .string(name), "Alias": .string(alias ?? name), "Class": .uint32(0),
            "Powered": .boolean(air.isOn), "Discoverable": .boolean(discoverable),
            "DiscoverableTimeout": .uint32(180), "Pairable": .boolean(pairable),
            "PairableTimeout": .uint32(0), "Discovering": .boolean(false),
            "UUIDs": .strings(
                [0x1800, 0x1801, 0x180A].map { GATTUUID(short: $0).description }
            ),
            "Modalias": .string("usb:v1D6Bp0246d0542"),
            "Roles": .strings(["central", "peripheral"]),
        ]
    }

    /// The service ends: links end too, and what is on disk stays.
    func end() {
        discovery.end()
        advertising.end()
        applications.end()
        isPairing = false
        for device in devices.values { device.serviceEnded() }
        devices = devices.filter { !$0.value.isTemporary }
    }

    func update(_ values: [String: DBusValue]) {
        daemon.update(values, of: Interfaces.adapter, at: path)
    }

    func clientLeft(_ name: String) {
        discovery.clientLeft(name)
        advertising.clientLeft(name)
        applications.clientLeft(name)
        for device in devices.values { device.clientLeft(name) }
    }

    func count(into figures: inout HostFigures) {
        figures.devices += devices.count
        figures.links += devices.values.count { $0.link != nil }
        figures.scans += discovery.count
        figures.advertisements += advertising.count
        figures.applications += applications.count
        figures.centrals += applications.visitCount
    }

    // MARK: Power

    /// `answered` is called after the links have ended, and before the change of power is reported.
    func power(_ on: Bool, answered: () -> Void = {}) {
        guard isPlugged, air.isOn != on, !(on && isBlocked) else { return answered() }
        if !on {
            if discovery.isOn { update(["Discovering": .boolean(false)]) }
            discovery.end()
        } else {
            discovery.powerCycled()
        }
        air.setPower(on)
        if !on { advertising.releaseAll() }
        answered()
        update(["Powered": .boolean(on)])
    }

    /// True as long as there is an agent.
    func setPairable(_ on: Bool) {
        guard pairable != on else { return }
        pairable = on
        update(["Pairable": .boolean(on)])
    }

    func block(_ on: Bool) {
        isBlocked = on
        if on { power(false) }
    }

    func unplug() {
        guard isPlugged else { return }
        discovery.end()
        air.setPower(false)
        advertising.releaseAll()
        applications.end()
        isPlugged = false
        for device in devices.values.sorted(by: { $0.path > $1.path }) { device.vanish() }
        devices = [:]
        daemon.withdraw(path)
    }

    func plugIn(as word: String) {
        guard !isPlugged, ObjectPath("/org/bluez/" + word) != nil else { return }
        self.word = word
        isPlugged = true
        isBlocked = false
        air.setPower(true)
        appear()
    }

    // MARK: Devices

    func device(at address: String) -> FakeDevice? {
        FakeDevice.path(of: address, on: path).flatMap { devices[$0] }
    }

    /// The device with this address; it is created if it does not exist.
    func known(_ address: String) -> FakeDevice? {
        if let device = device(at: address) { return device }
        guard let device = FakeDevice(address, on: self) else { return nil }
        devices[device.path] = device
        return device
    }

    func remove(_ device: FakeDevice) {
        guard devices.removeValue(forKey: device.path) != nil else { return }
        device.vanish()
    }

    /// Whether a program has a link, or is making one.
    var hasLinks: Bool { devices.values.contains { $0.link != nil || $0.isConnecting } }

    // MARK: Calls

    func called(_ call: IncomingCall) {
        switch call.member {
        case "Set": set(call)
        case "StartDiscovery": discovery.start(call)
        case "StopDiscovery": discovery.stop(call)
        case "SetDiscoveryFilter": discovery.setFilter(call)
        case "GetDiscoveryFilters":
            call.reply(
                .strings([
                    "UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable",
                    "Pattern",
                ])
            )
        case "RemoveDevice": removeDevice(call)
        case "RegisterApplication": applications.register(call)
        case "UnregisterApplication": applications.unregister(call)
        case "RegisterAdvertisement": advertising.register(call)
        case "UnregisterAdvertisement": advertising.unregister(call)
        default: call.fail(.unknownMethod(call.member))
        }
    }

    private func removeDevice(_ call: IncomingCall) {
        guard let path = call.arguments[0].asPath, let device = devices[path] else {
            return call.fail(.doesNotExist)
        }
        bonds[device.address] = nil
        remove(device)
        call.reply()
    }

    private func set(_ call: IncomingCall) {
        guard call.arguments[0].asString == Interfaces.adapter.name,
            let property = call.arguments[1].asString
        else { return call.fail(.invalidArguments) }
        let value = call.arguments[2].unwrapped
        switch (property, value) {
        case ("Powered", .boolean(let on)):
            if on, isBlocked {
                return call.fail(ErrorReply("org.bluez.Error.Blocked", "Blocked through rfkill"))
            }
            return power(on) { call.reply() }
        case ("Alias", .string(let text)):
            alias = text.isEmpty ? nil : text
            update(["Alias": .string(alias ?? name)])
        case ("Discoverable", .boolean(let on)):
            guard air.isOn else { return call.fail(.notReady) }
            discoverable = on
            update([property: value])
        case ("Pairable", .boolean(let on)):
            pairable = on
            update([property: value])
        default: update([property: value])
        }
        call.reply()
    }
}
