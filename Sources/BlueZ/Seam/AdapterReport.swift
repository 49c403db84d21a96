package import Radio

/// What the host says of one of its adapters.
package struct AdapterReport: Equatable, Sendable {
    /// Such as `hci0`.
    package let name: String
    package let address: String
    package let isPowered: Bool
    /// A switch or the system forbids it to be switched on.
    package let isBlocked: Bool
    /// Somebody searches with it.
    package let isDiscovering: Bool
    package let canServe: Bool
    /// Addresses of devices that are connected to it, sorted.
    package let connected: [String]

    package init(
        name: String,
        address: String,
        isPowered: Bool,
        isBlocked: Bool = false,
        isDiscovering: Bool = false,
        canServe: Bool = true,
        connected: [String] = []
    ) {
        self.name = name
        self.address = address
        self.isPowered = isPowered
        self.isBlocked = isBlocked
        self.isDiscovering = isDiscovering
        self.canServe = canServe
        self.connected = connected
    }
}

extension BlueZ {
    /// The host's adapters, by name.
    package func survey() async throws(RadioError) -> [AdapterReport] {
        try await attach()
        return mirror.adapters.values.sorted { $0.path < $1.path }.map { adapter in
            AdapterReport(
                name: adapter.name,
                address: adapter.address,
                isPowered: adapter.isPowered,
                isBlocked: adapter.powerState == "off-blocked",
                isDiscovering: adapter.isDiscovering,
                canServe: adapter.hasGattManager && adapter.hasAdvertisingManager,
                connected: mirror.devices.values
                    .filter { $0.adapter == adapter.path && $0.isConnected }
                    .map(\.address).sorted()
            )
        }
    }
}
