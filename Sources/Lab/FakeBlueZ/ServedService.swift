import Base
import BlueZ

/// A service that a program serves through this daemon, as its objects describe it.
struct ServedService {
    struct Attribute {
        let path: ObjectPath
        let uuid: GATTUUID
        let flags: Set<String>
        /// Whether the program provides sockets for it.
        let hasNotifySocket: Bool
        let hasWriteSocket: Bool
    }

    let client: String
    let uuid: GATTUUID
    private(set) var characteristics: [Attribute]

    /// The characteristic that a central subscribes to.
    var notifying: Attribute? {
        characteristics.first { !$0.flags.isDisjoint(with: ["notify", "indicate"]) }
    }

    /// The characteristic that a central writes to.
    var writable: Attribute? {
        characteristics.first {
            !$0.flags.isDisjoint(with: ["write-without-response", "write", "reliable-write"])
        }
    }

    /// Parses the answer of `GetManagedObjects`; nil when it is malformed or contradictory.
    static func read(_ tree: DBusValue, of client: String) -> [ServedService]? {
        guard case .dictionary(.objectPath, _, let objects) = tree else { return nil }
        var services: [ObjectPath: ServedService] = [:]
        var order: [ObjectPath] = []
        var attributes: [(service: ObjectPath, Attribute)] = []
        for object in objects {
            guard let path = object.key.asPath,
                case .dictionary(.string, _, let interfaces) = object.value
            else { return nil }
            for interface in interfaces {
                guard let values = interface.value.asProperties else { return nil }
                switch interface.key.asString {
                case "org.bluez.GattService1":
                    guard let uuid = uuid(in: values) else { return nil }
                    services[path] = ServedService(client: client, uuid: uuid, characteristics: [])
                    order.append(path)
                case "org.bluez.GattCharacteristic1":
                    guard let uuid = uuid(in: values), let service = values["Service"]?.asPath,
                        let flags = values["Flags"]?.asStrings
                    else { return nil }
                    let attribute = Attribute(
                        path: path,
                        uuid: uuid,
                        flags: Set(flags),
                        hasNotifySocket: values["NotifyAcquired"] != nil,
                        hasWriteSocket: values["WriteAcquired"] != nil
                    )
                    attributes.append((service, attribute))
                default: continue
                }
            }
        }
        for (service, attribute) in attributes {
            guard services[service] != nil else { return nil }
            services[service]?.characteristics.append(attribute)
        }
        return order.sorted().compactMap { services[$0] }
    }

    private static func uuid(in values: [String: DBusValue]) -> GATTUUID? {
        values["UUID"]?.asString.flatMap { GATTUUID($0) }
    }
}
