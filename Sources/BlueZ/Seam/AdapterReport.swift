package import Radio

/// The host's report on one of its adapters.
package struct AdapterReport: Equatable, Sendable {
    /// For example `hci0`.
    package let name: String
    package let address: String
    package let isPowered: Bool
    /// Whether a switch or the system blocks switching it on.
    package let isBlocked: Bool
    /// Whether any program scans with it.
    package let isDiscovering: Bool
    package let canServe: Bool
    /// Addresses of the connected devices, sorted.
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
    /// The host's adapters, sorted by path.
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
