package import Base
package import BlueZ

/// The messages of the bus, one line for each, in their order and with names instead of paths.
package final class Transcript: Sendable {
    private struct State: Sendable {
        var lines: [String] = []
        /// The first line of the current scene.
        var scene = 0
        var last = EventLoop.now
        var names: [ObjectPath: String]
        /// Whether only the links of devices are written down: the order of the rest is undefined
        /// there.
        var isBrief = false
    }

    private let state: Monitor<State>
    private let adapter: ObjectPath
    /// Receives each line immediately.
    private let told: @Sendable (String) -> Void

    package init(adapter: ObjectPath, told: @escaping @Sendable (String) -> Void) {
        self.adapter = adapter
        self.told = told
        state = Monitor(State(names: [adapter: "adapter"]))
    }

    package var lines: [String] { state.withLock { $0.lines } }
    package var lastChange: Moment { state.withLock { $0.last } }

    func begin(_ scene: String, isBrief: Bool) {
        add("== " + scene)
        state.withLock { state in
            state.scene = state.lines.count
            state.isBrief = isBrief
        }
    }

    func add(_ line: String) {
        state.withLock { state in
            state.lines.append(line)
            state.last = EventLoop.now
            told(line)
        }
    }

    /// Whether a line of this scene has this beginning.
    func holds(_ beginning: String) -> Bool {
        state.withLock { state in
            state.lines[state.scene...].contains { $0.hasPrefix(beginning) }
        }
    }

    // MARK: Names

    func call(_ path: ObjectPath, _ name: String) { state.withLock { $0.names[path] = name } }

    func name(of path: ObjectPath) -> String {
        state.withLock { state in
            if let name = state.names[path] { return name }
            // The only other device beside the peer.
            if path.parent == adapter, path.name.hasPrefix("dev_") { return "central" }
            // A path below a known one is the known name and the rest.
            guard let parent = path.parent, let known = state.names[parent] else {
                return path.text
            }
            return known + "/" + path.name
        }
    }

    func path(of name: String) -> ObjectPath? {
        state.withLock { state in state.names.first { $0.value == name }?.key }
    }

    /// Names services and their contents by their UUIDs, and devices by their role.
    private func learn(_ path: ObjectPath, _ interfaces: [String: [String: DBusValue]]) {
        for (interface, properties) in interfaces {
            guard let uuid = properties["UUID"]?.asString else { continue }
            let short = Self.short(uuid)
            switch interface {
            case "org.bluez.GattService1": call(path, "service " + short)
            case "org.bluez.GattCharacteristic1": call(path, short)
            case "org.bluez.GattDescriptor1":
                call(path, name(of: path.parent ?? .root) + "/" + short)
            default: break
            }
        }
    }

    static func short(_ uuid: String) -> String {
        let isShort = uuid.hasPrefix("0000") && uuid.hasSuffix("-0000-1000-8000-00805f9b34fb")
        return isShort ? String(uuid.dropFirst(4).prefix(4)) : uuid
    }

    // MARK: Signals

    func heard(_ message: Message) {
        guard let path = message.path else { return }
        switch message.member {
        case "PropertiesChanged":
            guard message.body.count == 3, let interface = message.body[0].asString,
                let changed = message.body[1].asProperties, path.isWithin(adapter)
            else { return }
            for (name, value) in changed.sorted(by: { $0.key < $1.key }) {
                guard isToldOf(name, at: path) else { continue }
                let value = Self.text(name, value)
                add("changed \(self.name(of: path)) \(Self.last(interface)).\(name)\(value)")
            }
            for name in (message.body[2].asStrings ?? []).sorted() where !isBrief {
                add("invalidated \(self.name(of: path)) \(Self.last(interface)).\(name)")
            }
        case "InterfacesAdded":
            guard message.body.count == 2, let path = message.body[0].asPath,
                path.isWithin(adapter), let interfaces = Self.interfaces(message.body[1])
            else { return }
            learn(path, interfaces)
            guard !isBrief, !isForeign(path) else { return }
            add("added \(name(of: path)): \(Self.text(interfaces))")
        case "InterfacesRemoved":
            guard message.body.count == 2, let path = message.body[0].asPath,
                path.isWithin(adapter), !isBrief, !isForeign(path)
            else { return }
            let names = (message.body[1].asStrings ?? []).filter(Self.isOwn).map(Self.last)
            add("removed \(name(of: path)): \(names.sorted().joined(separator: " "))")
        default: break
        }
    }

    /// Whether an object belongs to the peer's host, not to the peer's service.
    private func isForeign(_ path: ObjectPath) -> Bool {
        let name = name(of: path)
        return ["service 18", "2a", "2b"].contains { name.hasPrefix($0) }
    }

    private var isBrief: Bool { state.withLock { $0.isBrief } }

    private func isToldOf(_ property: String, at path: ObjectPath) -> Bool {
        // Hosts may report these with each advertisement, or not at all.
        if ["RSSI", "TxPower", "ManufacturerData"].contains(property) { return false }
        guard isBrief else { return true }
        return property == "Connected" || path == adapter && property != "UUIDs"
    }

    // MARK: Texts

    /// An object with its interfaces, as the bus lists them.
    static func interfaces(_ value: DBusValue) -> [String: [String: DBusValue]]? {
        guard case .dictionary(.string, _, let entries) = value else { return nil }
        var interfaces: [String: [String: DBusValue]] = [:]
        for entry in entries {
            guard let name = entry.key.asString, isOwn(name) else { continue }
            interfaces[name] = entry.value.asProperties ?? [:]
        }
        return interfaces
    }

    static func text(_ interfaces: [String: [String: DBusValue]]) -> String {
        interfaces.sorted { $0.key < $1.key }.map { interface, properties in
            let values = properties.sorted { $0.key < $1.key }.map {
                $0.key + text($0.key, $0.value)
            }
            return last(interface) + "(" + values.joined(separator: " ") + ")"
        }.joined(separator: " ")
    }

    private static func isOwn(_ interface: String) -> Bool { interface.hasPrefix("org.bluez.") }
    private static func last(_ name: String) -> String {
        String(name.split(separator: ".").last ?? "")
    }

    /// Properties whose values depend on the machine, or differ each time.
    private static let personal: Set<String> = [
        "Address", "Alias", "Class", "Modalias", "Appearance", "Handle", "RSSI", "TxPower",
        "SupportedCapabilities", "Manufacturer", "Version", "AdvertisingFlags", "AddressType",
        "Icon", "SupportedFeatures", "Roles", "SupportedIncludes", "SupportedSecondaryChannels",
        "SupportedInstances", "Adapter", "Device", "Service", "Characteristic", "Includes",
    ]

    private static func text(_ name: String, _ value: DBusValue) -> String {
        if personal.contains(name) { return "" }
        // A host shows the advertised name until it has read the name from the device.
        if name == "Name" { return value.asString == "contract" ? "=contract" : "=another" }
        if name == "UUIDs" {
            let uuids = (value.asStrings ?? []).map(short)
            return "=" + uuids.filter { $0.hasPrefix("f") }.joined(separator: ",")
        }
        if name == "UUID" { return value.asString.map { "=" + short($0) } ?? "" }
        return text(of: value).map { "=" + $0 } ?? ""
    }

    static func text(of value: DBusValue) -> String? {
        switch value.unwrapped {
        case .boolean(let on): on ? "true" : "false"
        case .bytes(let bytes): "[" + Hex.text(bytes) + "]"
        case .string(let text): text
        case .array(.string, _): value.unwrapped.asStrings?.joined(separator: ",")
        case .descriptor: "socket"
        case .dictionary, .structure, .array, .signature, .double, .objectPath: nil
        case let number: number.asInt.map { "\($0)" }
        }
    }
}
