package import Base

/// A device as BlueZ reports it, limited to the properties that are needed.
package struct DeviceRecord: Equatable, Sendable {
    package let path: ObjectPath
    package var adapter: ObjectPath?
    package var address = ""
    /// The advertised name, or the name in its services once it was connected.
    package var name: String?
    /// The name in its last advertisement: this shows when a module has restarted into another
    /// program.
    package var advertisedName: String?
    /// Absent unless the device was heard in the current scan.
    package var signal: Int?
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    /// The services in its advertisements.
    package private(set) var advertisedServices: [GATTUUID] = []
    /// The services that were found on a link, with those that were advertised among them.
    private var resolvedServices: [GATTUUID] = []
    package var isConnected = false
    package var isResolved = false
    package var isBonded = false
    private var isPaired = false
    /// BlueZ before 5.65 does not tell bonds from pairings.
    private var tellsBonds = false

    package init(path: ObjectPath) {
        self.path = path
        adapter = path.parent
    }

    /// Applies a change; returns true when the change means that the device was heard.
    package mutating func set(_ properties: [String: DBusValue], gone: [String] = []) -> Bool {
        if let value = properties["Adapter"]?.asPath { adapter = value }
        if let value = properties["Address"]?.asString { address = value }
        if let value = properties["Connected"]?.asBool { isConnected = value }
        if let value = properties["Name"]?.asString {
            name = value
            if !isConnected { advertisedName = value }
        }
        if let value = properties["ServicesResolved"]?.asBool { isResolved = value }
        if let value = properties["Paired"]?.asBool { isPaired = value }
        if let value = properties["Bonded"]?.asBool { (isBonded, tellsBonds) = (value, true) }
        if !tellsBonds { isBonded = isPaired }
        if let value = properties["UUIDs"]?.asStrings {
            let list = value.compactMap { GATTUUID($0) }
            // Every device has Generic Access, and none advertises it.
            if list.contains(.genericAccess) {
                resolvedServices = list
            } else {
                advertisedServices = list
            }
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

    /// The services by which a program may recognise the device.
    ///
    /// Services that were found on a link count only for a device that says nothing about itself in
    /// its advertisements: many modules have a service by which others are recognised.
    package var services: [GATTUUID] {
        guard advertisedServices.isEmpty, manufacturerData.isEmpty else {
            return advertisedServices
        }
        return resolvedServices
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

extension GATTUUID {
    fileprivate static let genericAccess = GATTUUID(short: 0x1800)
}
