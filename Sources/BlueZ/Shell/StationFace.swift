package import DBus
package import Domain

/// What an advertisement of ours says.
package struct AdvertisedFace: Equatable, Sendable {
    package var name: String?
    package var services: [GATTUUID]
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    /// Whether it says that it can be found by anybody; and how often it is sent, if that matters.
    package var isDiscoverable = false
    package var interval: Duration?

    package init(name: String? = nil, services: [GATTUUID]) {
        self.name = name
        self.services = services
    }

    var properties: [String: DBusValue] {
        var properties: [String: DBusValue] = ["Type": .string("peripheral")]
        if isDiscoverable { properties["Discoverable"] = .boolean(true) }
        if let interval {
            let milliseconds = UInt32(clamping: max(20, interval.nanoseconds / 1_000_000))
            properties["MinInterval"] = .uint32(milliseconds)
            properties["MaxInterval"] = .uint32(milliseconds)
        }
        if let name { properties["LocalName"] = .string(name) }
        if !services.isEmpty {
            properties["ServiceUUIDs"] = .strings(services.map(\.description))
        }
        if !manufacturerData.isEmpty {
            properties["ManufacturerData"] = .dictionary(
                key: .uint16,
                value: .variant,
                manufacturerData.sorted { $0.key < $1.key }.map {
                    DBusEntry(key: .uint16($0.key), value: .variant(.bytes($0.value)))
                }
            )
        }
        return properties
    }
}

/// What happens at a station, in its order; told on the thread of the bus.
package enum StationEvent: Sendable {
    /// The adapter can be used again.
    case usable
    /// What was registered is void: the service or the adapter went away.
    case void
    /// Somebody else than a link of ours has connected to the adapter, or left.
    case arrived(ObjectPath)
    case left(ObjectPath)
    /// A central asks for something.
    case asked(IncomingCall, Characteristic)
    /// All is registered as it is wanted.
    case settled
    /// Something cannot be registered.
    case refused(StationMachine.Step, BlueZRefusal)
}
