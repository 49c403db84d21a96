import DBus
import Domain

/// An adapter as BlueZ shows it.
struct AdapterRecord: Equatable, Sendable {
    let path: ObjectPath
    var address = ""
    var isPowered = false
    var isDiscovering = false
    /// "off-blocked" when a switch forbids it; absent in old versions.
    var powerState: String?
    var roles: [String] = []
    var hasGattManager = false
    var hasAdvertisingManager = false
    var freeAdvertisingSlots: Int?

    init(path: ObjectPath) { self.path = path }

    /// What the host calls it, such as `hci0`; may be another's after it was plugged in again.
    var name: String { String(path.name) }

    /// Whether an operator's word means this adapter: its address, or its name.
    func isCalled(_ word: String) -> Bool {
        name == word || address.lowercased() == word.lowercased()
    }

    mutating func set(_ properties: [String: DBusValue]) {
        if let value = properties["Address"]?.asString { address = value }
        if let value = properties["Powered"]?.asBool { isPowered = value }
        if let value = properties["Discovering"]?.asBool { isDiscovering = value }
        if let value = properties["PowerState"]?.asString { powerState = value }
        if let value = properties["Roles"]?.asStrings { roles = value }
    }
}

/// A device as BlueZ shows it, kept to what is needed.
struct DeviceRecord: Equatable, Sendable {
    let path: ObjectPath
    var adapter: ObjectPath?
    var address = ""
    var name: String?
    /// Absent unless it was heard in the scan that is on.
    var signal: Int?
    var manufacturerData: [UInt16: [UInt8]] = [:]
    var services: [GATTUUID] = []
    var isConnected = false
    var isResolved = false
    var isBonded = false

    init(path: ObjectPath) {
        self.path = path
        adapter = path.parent
    }

    /// True when the change tells that the device was heard.
    mutating func set(_ properties: [String: DBusValue], gone: [String] = []) -> Bool {
        if let value = properties["Adapter"]?.asPath { adapter = value }
        if let value = properties["Address"]?.asString { address = value }
        if let value = properties["Name"]?.asString { name = value }
        if let value = properties["Connected"]?.asBool { isConnected = value }
        if let value = properties["ServicesResolved"]?.asBool { isResolved = value }
        if let value = properties["Bonded"]?.asBool { isBonded = value }
        if let value = properties["UUIDs"]?.asStrings {
            services = value.compactMap { GATTUUID($0) }
        }
        var isHeard = false
        if let value = properties["ManufacturerData"] {
            manufacturerData = Self.manufacturerData(value)
            isHeard = signal != nil
        }
        if properties["ServiceData"] != nil { isHeard = signal != nil }
        if let value = properties["RSSI"]?.asInt {
            signal = value
            isHeard = true
        }
        if gone.contains("RSSI") {
            signal = nil
            isHeard = false
        }
        return isHeard && !isConnected
    }

    private static func manufacturerData(_ value: DBusValue) -> [UInt16: [UInt8]] {
        guard case .dictionary(.uint16, .variant, let entries) = value else { return [:] }
        var data: [UInt16: [UInt8]] = [:]
        for entry in entries {
            guard case .uint16(let company) = entry.key, let bytes = entry.value.unwrapped.asBytes
            else { continue }
            data[company] = bytes
        }
        return data
    }
}

/// A characteristic as BlueZ shows it.
struct CharacteristicRecord: Equatable, Sendable {
    let path: ObjectPath
    var service: ObjectPath?
    var uuid: GATTUUID?
    var flags: CharacteristicFlags = []
    var mtu: Int?
    /// Whether it can be written through a socket, which its property tells by being there.
    var hasWriteSocket = false
    var hasNotifySocket = false

    init(path: ObjectPath) {
        self.path = path
        service = path.parent
    }

    mutating func set(_ properties: [String: DBusValue]) {
        if let value = properties["Service"]?.asPath { service = value }
        if let value = properties["UUID"]?.asString { uuid = GATTUUID(value) }
        if let value = properties["Flags"]?.asStrings { flags = Self.flags(value) }
        if let value = properties["MTU"]?.asInt { mtu = value }
        if properties["WriteAcquired"] != nil { hasWriteSocket = true }
        if properties["NotifyAcquired"] != nil { hasNotifySocket = true }
    }

    private static func flags(_ names: [String]) -> CharacteristicFlags {
        names.reduce(into: []) { flags, name in
            switch name {
            case "read": flags.insert(.read)
            case "write": flags.insert(.write)
            case "write-without-response": flags.insert(.writeWithoutResponse)
            case "notify": flags.insert(.notify)
            case "indicate": flags.insert(.indicate)
            default: break
            }
        }
    }
}
