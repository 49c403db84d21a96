package import DBus
package import Domain

/// A device as BlueZ shows it, kept to what is needed.
package struct DeviceRecord: Equatable, Sendable {
    package let path: ObjectPath
    package var adapter: ObjectPath?
    package var address = ""
    /// What it was advertised as, or what its services say once it was connected to.
    package var name: String?
    /// What it was advertised as last: the name of a module that restarts into another program.
    package var advertisedName: String?
    /// Absent unless it was heard in the scan that is on.
    package var signal: Int?
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    package var services: [GATTUUID] = []
    package var isConnected = false
    package var isResolved = false
    package var isBonded = false
    package var isPaired = false

    package init(path: ObjectPath) {
        self.path = path
        adapter = path.parent
    }

    /// True when the change tells that the device was heard.
    package mutating func set(_ properties: [String: DBusValue], gone: [String] = []) -> Bool {
        if let value = properties["Adapter"]?.asPath { adapter = value }
        if let value = properties["Address"]?.asString { address = value }
        if let value = properties["Connected"]?.asBool { isConnected = value }
        if let value = properties["Name"]?.asString {
            name = value
            if !isConnected { advertisedName = value }
        }
        if let value = properties["ServicesResolved"]?.asBool { isResolved = value }
        if let value = properties["Bonded"]?.asBool { isBonded = value }
        if let value = properties["Paired"]?.asBool { isPaired = value }
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
