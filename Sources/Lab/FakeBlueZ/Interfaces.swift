import BlueZ

/// The interfaces of `org.bluez` in version 5.66.
enum Interfaces {
    static let adapter = describe(
        "org.bluez.Adapter1",
        [
            ("StartDiscovery", "", ""), ("SetDiscoveryFilter", "properties:a{sv}", ""),
            ("StopDiscovery", "", ""), ("RemoveDevice", "device:o", ""),
            ("GetDiscoveryFilters", "", "filters:as"),
        ],
        reads: [
            "Address:s", "AddressType:s", "Name:s", "Class:u", "Discovering:b", "UUIDs:as",
            "Modalias:s", "Roles:as",
        ],
        writes: [
            "Alias:s", "Powered:b", "Discoverable:b", "DiscoverableTimeout:u", "Pairable:b",
            "PairableTimeout:u",
        ]
    )

    static let device = describe(
        "org.bluez.Device1",
        [
            ("Disconnect", "", ""), ("Connect", "", ""), ("ConnectProfile", "UUID:s", ""),
            ("DisconnectProfile", "UUID:s", ""), ("Pair", "", ""), ("CancelPairing", "", ""),
        ],
        reads: [
            "Address:s", "AddressType:s", "Name:s", "Class:u", "Appearance:q", "Icon:s",
            "Paired:b", "Bonded:b", "LegacyPairing:b", "RSSI:n", "Connected:b", "UUIDs:as",
            "Modalias:s", "Adapter:o", "ManufacturerData:a{qv}", "ServiceData:a{sv}",
            "TxPower:n", "ServicesResolved:b",
        ],
        writes: ["Alias:s", "Trusted:b", "Blocked:b", "WakeAllowed:b"]
    )

    static let service = describe(
        "org.bluez.GattService1",
        reads: ["UUID:s", "Device:o", "Primary:b", "Includes:ao", "Handle:q"]
    )

    static let characteristic = describe(
        "org.bluez.GattCharacteristic1",
        [
            ("ReadValue", "options:a{sv}", "value:ay"),
            ("WriteValue", "value:ay options:a{sv}", ""),
            ("AcquireWrite", "options:a{sv}", "fd:h mtu:q"),
            ("AcquireNotify", "options:a{sv}", "fd:h mtu:q"), ("StartNotify", "", ""),
            ("StopNotify", "", ""),
        ],
        reads: [
            "UUID:s", "Service:o", "Value:ay", "Notifying:b", "Flags:as", "WriteAcquired:b",
            "NotifyAcquired:b", "MTU:q", "Handle:q",
        ]
    )

    static let descriptor = describe(
        "org.bluez.GattDescriptor1",
        [
            ("ReadValue", "options:a{sv}", "value:ay"),
            ("WriteValue", "value:ay options:a{sv}", ""),
        ],
        reads: ["UUID:s", "Characteristic:o", "Value:ay", "Handle:q"]
    )

    static let gattManager = describe(
        "org.bluez.GattManager1",
        [
            ("RegisterApplication", "application:o options:a{sv}", ""),
            ("UnregisterApplication", "application:o", ""),
        ]
    )

    static let advertisingManager = describe(
        "org.bluez.LEAdvertisingManager1",
        [
            ("RegisterAdvertisement", "advertisement:o options:a{sv}", ""),
            ("UnregisterAdvertisement", "service:o", ""),
        ],
        reads: [
            "ActiveInstances:y", "SupportedInstances:y", "SupportedIncludes:as",
            "SupportedSecondaryChannels:as", "SupportedCapabilities:a{sv}",
        ]
    )

    static let agentManager = describe(
        "org.bluez.AgentManager1",
        [
            ("RegisterAgent", "agent:o capability:s", ""), ("UnregisterAgent", "agent:o", ""),
            ("RequestDefaultAgent", "agent:o", ""),
        ]
    )

    static let profileManager = describe(
        "org.bluez.ProfileManager1",
        [
            ("RegisterProfile", "profile:o UUID:s options:a{sv}", ""),
            ("UnregisterProfile", "profile:o", ""),
        ]
    )

    /// Parses the short form: arguments and properties as `name:type`, arguments separated by
    /// spaces.
    static func describe(
        _ name: String,
        _ methods: [(name: String, takes: String, gives: String)] = [],
        reads: [String] = [],
        writes: [String] = [],
        signals: [(name: String, carries: String)] = []
    ) -> InterfaceDescription {
        InterfaceDescription(
            name,
            methods: methods.map {
                .init($0.name, takes: arguments($0.takes), gives: arguments($0.gives))
            },
            properties: properties(reads, isWritable: false) + properties(writes, isWritable: true),
            signals: signals.map { .init($0.name, carries: arguments($0.carries)) }
        )
    }

    private static func arguments(_ text: String) -> [InterfaceDescription.Argument] {
        text.split(separator: " ").map {
            let (name, type) = pair($0)
            return InterfaceDescription.Argument(name, type)
        }
    }

    private static func properties(
        _ list: [String],
        isWritable: Bool
    ) -> [InterfaceDescription.Property] {
        list.map {
            let (name, type) = pair($0[...])
            return InterfaceDescription.Property(name, type, isWritable: isWritable)
        }
    }

    private static func pair(_ text: Substring) -> (String, Signature) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let type = Signature(String(parts[1])) else {
            preconditionFailure("\(text) is a name and a type")
        }
        return (String(parts[0]), type)
    }
}
