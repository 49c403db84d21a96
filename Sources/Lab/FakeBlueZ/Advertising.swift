import Base
import BlueZ
import Simulation

/// The advertisements that programs have registered at an adapter.
final class Advertising {
    private struct Key: Hashable {
        let client: String
        let path: ObjectPath
    }

    private unowned let adapter: FakeAdapter
    private var registered: [Key: Set<GATTUUID>] = [:]
    /// Requested, and not yet read from the program.
    private var reading: Set<Key> = []

    init(_ adapter: FakeAdapter) { self.adapter = adapter }

    private var daemon: Daemon { adapter.daemon }
    private var slots: Int { daemon.settings.host.advertisingSlots }
    var count: Int { registered.count }

    /// The services in the connectable advertisements that are registered.
    var services: Set<GATTUUID> { registered.values.reduce(into: []) { $0.formUnion($1) } }

    var properties: [String: DBusValue] {
        [
            "ActiveInstances": .byte(UInt8(clamping: registered.count)),
            "SupportedInstances": .byte(UInt8(clamping: slots - registered.count)),
            "SupportedIncludes": .strings(["tx-power", "appearance", "local-name", "rsi"]),
            "SupportedSecondaryChannels": .strings([]),
            "SupportedCapabilities": .properties([
                "MaxAdvLen": .byte(31), "MaxScnRspLen": .byte(31),
                "MinTxPower": .int16(-34), "MaxTxPower": .int16(7),
            ]),
        ]
    }

    private func changed() {
        let all = properties
        daemon.update(
            all.filter { ["ActiveInstances", "SupportedInstances"].contains($0.key) },
            of: Interfaces.advertisingManager,
            at: adapter.path
        )
        adapter.applications.refresh()
    }

    // MARK: Calls

    func register(_ call: IncomingCall) {
        guard let path = call.arguments[0].asPath else { return call.fail(.invalidArguments) }
        let key = Key(client: call.sender, path: path)
        guard registered[key] == nil, !reading.contains(key) else {
            return call.fail(.alreadyExists)
        }
        guard registered.count + reading.count < slots, daemon.faults.happens(.slotsTaken) == nil
        else { return call.fail(.notPermitted("Maximum advertisements reached")) }
        reading.insert(key)
        let ask = MethodCall(
            "GetAll",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            on: call.sender,
            [.string("org.bluez.LEAdvertisement1")],
            patience: .seconds(10)
        )
        daemon.ask(ask) { [weak self] result in
            guard let self, reading.remove(key) != nil else {
                return call.fail(.bluezFailed("Failed to register advertisement"))
            }
            guard case .success(let values) = result, let found = values.first?.asProperties,
                let services = Self.services(in: found)
            else { return call.fail(.bluezFailed("Failed to parse advertisement.")) }
            guard adapter.air.isOn else {
                return call.fail(.bluezFailed("Failed to register advertisement"))
            }
            registered[key] = services
            changed()
            call.reply()
        }
    }

    /// Nil for values that an advertisement must not have.
    private static func services(in values: [String: DBusValue]) -> Set<GATTUUID>? {
        guard let type = values["Type"]?.asString, ["peripheral", "broadcast"].contains(type) else {
            return nil
        }
        let texts = values["ServiceUUIDs"]?.asStrings ?? []
        let services = texts.compactMap { GATTUUID($0) }
        guard services.count == texts.count else { return nil }
        return type == "peripheral" ? Set(services) : []
    }

    func unregister(_ call: IncomingCall) {
        guard let path = call.arguments[0].asPath,
            registered.removeValue(forKey: Key(client: call.sender, path: path)) != nil
        else { return call.fail(.doesNotExist) }
        changed()
        call.reply()
    }

    func clientLeft(_ name: String) {
        reading = reading.filter { $0.client != name }
        let before = registered.count
        registered = registered.filter { $0.key.client != name }
        if registered.count != before { changed() }
    }

    /// Drops all advertisements, and informs their programs.
    func releaseAll() {
        let keys = registered.keys.sorted { ($0.client, $0.path) < ($1.client, $1.path) }
        guard !keys.isEmpty else { return }
        registered = [:]
        for key in keys {
            let release = MethodCall(
                "Release",
                of: "org.bluez.LEAdvertisement1",
                at: key.path,
                on: key.client
            )
            daemon.ask(release) { _ in }
        }
        changed()
    }

    /// The service ends.
    func end() {
        registered = [:]
        reading = []
    }
}
