package import Base

/// A copy of BlueZ's objects, kept up to date from its signals: one for the whole process.
///
/// A value without a bus, valid for one owner of the name `org.bluez`.
package struct ObjectMirror {
    /// The object of a change, for tasks that wait for it.
    package enum Change: Equatable {
        case adapter(ObjectPath)
        case device(ObjectPath, isHeard: Bool)
        case gone(ObjectPath)
        /// A value that a signal notified.
        case value(ObjectPath, [UInt8])
        case other
    }

    package init() {}

    package private(set) var adapters: [ObjectPath: AdapterRecord] = [:]
    package private(set) var devices: [ObjectPath: DeviceRecord] = [:]
    /// Services and characteristics by their device, since they are read for a device.
    private var services: [ObjectPath: [ObjectPath: GATTUUID]] = [:]
    private var characteristics: [ObjectPath: [ObjectPath: CharacteristicRecord]] = [:]

    package var objectCount: Int {
        adapters.count + devices.count + services.values.reduce(0) { $0 + $1.count }
            + characteristics.values.reduce(0) { $0 + $1.count }
    }

    // MARK: Queries

    /// Records that the adapter was switched on, according to the answer to the call.
    mutating func switchedOn(_ word: String) {
        guard let path = adapter(called: word)?.path else { return }
        adapters[path]?.isPowered = true
    }

    package func adapter(called word: String) -> AdapterRecord? {
        adapters.values.filter { $0.isCalled(word) }.min { $0.path < $1.path }
    }

    package func device(_ address: String, on adapter: ObjectPath) -> DeviceRecord? {
        let part = address.uppercased().split(separator: ":").joined(separator: "_")
        if let path = adapter.appending("dev_" + part), let device = devices[path],
            device.address == address
        {
            return device
        }
        return devices.values.filter { $0.adapter == adapter && $0.address == address }
            .min { $0.path < $1.path }
    }

    /// A device's current GATT table.
    ///
    /// Where a UUID occurs twice, the lowest path wins.
    package func table(of device: ObjectPath) -> [Characteristic: CharacteristicRecord] {
        var table: [Characteristic: CharacteristicRecord] = [:]
        let own = services[device] ?? [:]
        for record in (characteristics[device] ?? [:]).values {
            guard let uuid = record.uuid, let service = record.service.flatMap({ own[$0] }) else {
                continue
            }
            let key = Characteristic(uuid, of: service)
            if let other = table[key], other.path < record.path { continue }
            table[key] = record
        }
        return table
    }

    package func hasServices(_ device: ObjectPath) -> Bool {
        services[device]?.isEmpty == false
    }

    /// Whether a program uses a characteristic of the device, not counting those in `ours`.
    package func isInUse(_ device: ObjectPath, besides ours: Set<ObjectPath> = []) -> Bool {
        (characteristics[device] ?? [:]).values.contains { $0.isInUse && !ours.contains($0.path) }
    }

    package func characteristic(at path: ObjectPath) -> CharacteristicRecord? {
        Self.device(of: path).flatMap { characteristics[$0]?[path] }
    }

    /// The device that a service, characteristic or descriptor belongs to.
    private static func device(of path: ObjectPath) -> ObjectPath? {
        var place: ObjectPath? = path
        while let candidate = place {
            if candidate.name.hasPrefix("dev_") { return candidate }
            place = candidate.parent
        }
        return nil
    }

    // MARK: Updates

    /// Replaces the whole copy with the answer to `GetManagedObjects`.
    package mutating func load(_ objects: DBusValue) {
        self = ObjectMirror()
        guard case .dictionary(.objectPath, _, let entries) = objects else { return }
        for entry in entries {
            guard let path = entry.key.asPath else { continue }
            _ = add(path, entry.value)
        }
    }

    /// Applies an `InterfacesAdded` signal.
    package mutating func add(_ path: ObjectPath, _ interfaces: DBusValue) -> [Change] {
        guard case .dictionary(.string, _, let entries) = interfaces else { return [] }
        return entries.map { entry in
            guard let name = entry.key.asString, let properties = entry.value.asProperties else {
                return .other
            }
            return add(path, name, properties)
        }
    }

    private mutating func add(
        _ path: ObjectPath,
        _ interface: String,
        _ properties: [String: DBusValue]
    ) -> Change {
        switch interface {
        case BlueZName.adapter:
            adapters[path, default: AdapterRecord(path: path)].set(properties)
        case BlueZName.gattManager:
            adapters[path, default: AdapterRecord(path: path)].hasGattManager = true
        case BlueZName.advertisingManager:
            var adapter = adapters[path] ?? AdapterRecord(path: path)
            adapter.hasAdvertisingManager = true
            adapter.set(properties)
            adapters[path] = adapter
        case BlueZName.device:
            let isHeard = devices[path, default: DeviceRecord(path: path)].set(properties)
            return .device(path, isHeard: isHeard)
        case BlueZName.gattService:
            guard let device = Self.device(of: path) else { return .other }
            services[device, default: [:]][path] =
                properties["UUID"]?.asString.flatMap { GATTUUID($0) }
            return .other
        case BlueZName.characteristic:
            guard let device = Self.device(of: path) else { return .other }
            characteristics[device, default: [:]][
                path,
                default: CharacteristicRecord(path: path)
            ].set(properties)
            return .other
        default: return .other
        }
        return .adapter(path)
    }

    /// Applies an `InterfacesRemoved` signal.
    package mutating func remove(_ path: ObjectPath, _ interfaces: [String]) -> [Change] {
        interfaces.map { interface in
            switch interface {
            case BlueZName.adapter:
                adapters[path] = nil
                return .gone(path)
            case BlueZName.gattManager:
                adapters[path]?.hasGattManager = false
                return .adapter(path)
            case BlueZName.advertisingManager:
                adapters[path]?.hasAdvertisingManager = false
                return .adapter(path)
            case BlueZName.device:
                devices[path] = nil
                services[path] = nil
                characteristics[path] = nil
                return .gone(path)
            case BlueZName.gattService:
                guard let device = Self.device(of: path) else { return .other }
                services[device]?[path] = nil
                return .gone(path)
            case BlueZName.characteristic:
                guard let device = Self.device(of: path) else { return .other }
                characteristics[device]?[path] = nil
                return .gone(path)
            default: return .other
            }
        }
    }

    /// Applies a `PropertiesChanged` signal.
    package mutating func change(
        _ path: ObjectPath,
        _ interface: String,
        _ changed: [String: DBusValue],
        gone: [String]
    ) -> Change {
        switch interface {
        case BlueZName.adapter, BlueZName.advertisingManager:
            guard adapters[path] != nil else { return .other }
            adapters[path]?.set(changed)
            return .adapter(path)
        case BlueZName.device:
            // Nothing is known of an object that was never added.
            let isHeard = devices[path]?.set(changed, gone: gone)
            return isHeard.map { .device(path, isHeard: $0) } ?? .other
        case BlueZName.characteristic:
            if let device = Self.device(of: path) {
                characteristics[device]?[path]?.set(changed)
            }
            return changed["Value"]?.asBytes.map { .value(path, $0) } ?? .other
        default: return .other
        }
    }
}
