import BlueZ
import DBus
import Domain
import Simulation

/// One object of an application: a service, or a characteristic of one.
struct ServedObject: Sendable {
    let path: ObjectPath
    let description: InterfaceDescription
    let properties: [String: DBusValue]
    /// Nil for a service.
    let characteristic: Characteristic?

    /// Services and characteristics in the order of their UUIDs, so that handles come out alike.
    static func objects(
        of table: [Characteristic: CharacteristicFlags],
        under root: ObjectPath
    ) -> [ServedObject] {
        var objects: [ServedObject] = []
        for (index, service) in Set(table.keys.map(\.service)).sorted().enumerated() {
            guard let path = root.appending("service\(index)") else { continue }
            objects.append(
                ServedObject(
                    path: path,
                    description: InterfaceDescription(BlueZName.gattService),
                    properties: [
                        "UUID": .string(service.description), "Primary": .boolean(true),
                    ],
                    characteristic: nil
                )
            )
            let members = table.filter { $0.key.service == service }
                .sorted { $0.key.uuid < $1.key.uuid }
            for (index, (characteristic, flags)) in members.enumerated() {
                guard let own = path.appending("char\(index)") else { continue }
                var properties: [String: DBusValue] = [
                    "UUID": .string(characteristic.uuid.description),
                    "Service": .objectPath(path),
                    "Flags": .strings(names(of: flags)),
                ]
                if !flags.isDisjoint(with: [.notify, .indicate]) {
                    properties["NotifyAcquired"] = .boolean(false)
                }
                objects.append(
                    ServedObject(
                        path: own,
                        description: .served,
                        properties: properties,
                        characteristic: characteristic
                    )
                )
            }
        }
        return objects
    }

    private static func names(of flags: CharacteristicFlags) -> [String] {
        let words: [(CharacteristicFlags, String)] = [
            (.read, "read"), (.write, "write"), (.writeWithoutResponse, "write-without-response"),
            (.notify, "notify"), (.indicate, "indicate"),
        ]
        return words.filter { flags.contains($0.0) }.map(\.1)
    }

    /// What the service is to put into the advertisement.
    static func advertisement(of broadcast: Broadcast) -> [String: DBusValue] {
        let interval = UInt32(clamping: max(20, broadcast.interval.nanoseconds / 1_000_000))
        var properties: [String: DBusValue] = [
            "Type": .string("peripheral"),
            "Discoverable": .boolean(true),
            "MinInterval": .uint32(interval),
            "MaxInterval": .uint32(interval),
        ]
        if let name = broadcast.name { properties["LocalName"] = .string(name) }
        if !broadcast.services.isEmpty {
            properties["ServiceUUIDs"] = .strings(broadcast.services.map(\.description))
        }
        if !broadcast.manufacturerData.isEmpty {
            properties["ManufacturerData"] = .dictionary(
                key: .uint16,
                value: .variant,
                broadcast.manufacturerData.sorted { $0.key < $1.key }.map {
                    DBusEntry(key: .uint16($0.key), value: .variant(.bytes($0.value)))
                }
            )
        }
        return properties
    }
}
