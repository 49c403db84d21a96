package import Base

/// The content of an advertisement of this program.
package struct AdvertisedFace: Equatable, Sendable {
    package var name: String?
    package var services: [GATTUUID]
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    /// Whether it is marked as generally discoverable; `interval` sets how often it is sent, nil
    /// for the default.
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

/// The events of a station in their order, reported on the thread of the bus.
package enum StationEvent: Sendable {
    /// The adapter can be used again.
    case usable
    /// All registrations are void: the service or the adapter disappeared.
    case void
    /// A device that is no link of this program has connected to the adapter, or disconnected.
    case arrived(ObjectPath)
    case left(ObjectPath)
    /// A central makes a request.
    case asked(IncomingCall, Characteristic)
    /// All registrations are as requested.
    case settled
    /// A registration was refused.
    case refused(StationMachine.Step, BlueZRefusal)
}
