package import Base
package import Radio

/// Services of this program, in the form in which BlueZ finds them on the bus.
package struct ServedTable: Equatable, Sendable {
    /// How a characteristic is served.
    package struct Attribute: Equatable, Sendable {
        package var flags: CharacteristicFlags
        /// Whether notifications and writes of centrals use sockets.
        package var notifiesBySocket = true
        package var isWrittenBySocket = false
        /// The pairing that a link needs before it can use the characteristic.
        package var pairing = Pairing.none

        package init(_ flags: CharacteristicFlags) { self.flags = flags }
    }

    package var attributes: [Characteristic: Attribute]

    package init(_ attributes: [Characteristic: Attribute]) { self.attributes = attributes }

    package init(
        _ flags: [Characteristic: CharacteristicFlags],
        secured pairing: Pairing = .none
    ) {
        attributes = flags.mapValues {
            var attribute = Attribute($0)
            attribute.pairing = pairing
            return attribute
        }
    }

    /// A service for one central at a time, which has to be paired where the service says so: without that, one that
    /// has never paired could use it.
    package init(_ service: ServiceDescription) {
        let write = Characteristic(service.write, of: service.uuid)
        self.init(
            [
                Characteristic(service.notify, of: service.uuid): [.notify],
                write: [.write, .writeWithoutResponse],
            ],
            secured: service.bond.pairing
        )
        attributes[write]?.isWrittenBySocket = true
    }

    /// One object on the bus: a service, or a characteristic of one.
    struct Object: Sendable {
        let path: ObjectPath
        let description: InterfaceDescription
        let properties: [String: DBusValue]
        /// Nil for a service.
        let characteristic: Characteristic?
    }

    /// Services and characteristics in the order of their UUIDs, so that handles are reproducible.
    func objects(under root: ObjectPath) -> [Object] {
        var objects: [Object] = []
        for (index, service) in Set(attributes.keys.map(\.service)).sorted().enumerated() {
            guard let path = root.appending("service\(index)") else { continue }
            objects.append(
                Object(
                    path: path,
                    description: InterfaceDescription(BlueZName.gattService),
                    properties: [
                        "UUID": .string(service.description), "Primary": .boolean(true),
                    ],
                    characteristic: nil
                )
            )
            let members = attributes.filter { $0.key.service == service }
                .sorted { $0.key.uuid < $1.key.uuid }
            for (index, (characteristic, attribute)) in members.enumerated() {
                guard let own = path.appending("char\(index)") else { continue }
                objects.append(
                    Object(
                        path: own,
                        description: .served,
                        properties: Self.properties(of: characteristic, attribute, in: path),
                        characteristic: characteristic
                    )
                )
            }
        }
        return objects
    }

    private static func properties(
        of characteristic: Characteristic,
        _ attribute: Attribute,
        in service: ObjectPath
    ) -> [String: DBusValue] {
        var properties: [String: DBusValue] = [
            "UUID": .string(characteristic.uuid.description),
            "Service": .objectPath(service),
            "Flags": .strings(attribute.flags.names(secured: attribute.pairing)),
        ]
        // BlueZ requests sockets where these properties exist.
        if attribute.notifiesBySocket, !attribute.flags.isDisjoint(with: [.notify, .indicate]) {
            properties["NotifyAcquired"] = .boolean(false)
        }
        if attribute.isWrittenBySocket { properties["WriteAcquired"] = .boolean(false) }
        return properties
    }
}

extension CharacteristicFlags {
    private static let words: [(CharacteristicFlags, String)] = [
        (.read, "read"), (.write, "write"), (.writeWithoutResponse, "write-without-response"),
        (.notify, "notify"), (.indicate, "indicate"),
    ]

    /// The flags in BlueZ's spelling, including those that exclude unpaired centrals.
    func names(secured pairing: Pairing) -> [String] {
        let plain = Self.words.filter { contains($0.0) }.map(\.1)
        let prefix: String
        switch pairing {
        case .none: return plain
        case .justWorks: prefix = "encrypt-"
        case .passkey: prefix = "encrypt-authenticated-"
        }
        var secured: [String] = []
        if contains(.read) { secured.append("read") }
        if !isDisjoint(with: [.write, .writeWithoutResponse]) { secured.append("write") }
        if contains(.notify) { secured.append("notify") }
        if contains(.indicate) { secured.append("indicate") }
        return plain + secured.map { prefix + $0 }
    }

    init(names: [String]) {
        self = Self.words.reduce(into: []) { flags, word in
            if names.contains(word.1) { flags.insert(word.0) }
        }
    }
}

extension InterfaceDescription {
    /// The interface of a served characteristic, as BlueZ defines it.
    static let served = InterfaceDescription(
        BlueZName.characteristic,
        methods: [
            Method(
                "ReadValue",
                takes: [Argument("options", .properties)],
                gives: [Argument("value", .bytes)]
            ),
            Method(
                "WriteValue",
                takes: [Argument("value", .bytes), Argument("options", .properties)]
            ),
            Method(
                "AcquireWrite",
                takes: [Argument("options", .properties)],
                gives: [Argument("socket", .descriptor), Argument("mtu", .uint16)]
            ),
            Method(
                "AcquireNotify",
                takes: [Argument("options", .properties)],
                gives: [Argument("socket", .descriptor), Argument("mtu", .uint16)]
            ),
            Method("StartNotify"), Method("StopNotify"), Method("Confirm"),
        ]
    )
    static let advertised = InterfaceDescription(
        BlueZName.advertisement,
        methods: [Method("Release")]
    )
}
