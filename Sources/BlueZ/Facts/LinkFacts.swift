package import Radio

/// What is known about a device and its adapter at one moment.
package struct LinkFacts: Equatable {
    /// Whether the BlueZ daemon is still the one with which the link, or the attempt, began.
    package var isSameGeneration: Bool
    package var adapter: AdapterRecord?
    package var device: DeviceRecord?
    /// Whether a program receives notifications of the device or has acquired a socket for it.
    package var isInUse: Bool
    /// Whether any service of the device is known.
    package var hasServices: Bool

    package init(
        isSameGeneration: Bool = true,
        adapter: AdapterRecord?,
        device: DeviceRecord?,
        isInUse: Bool = false,
        hasServices: Bool = true
    ) {
        self.isSameGeneration = isSameGeneration
        self.adapter = adapter
        self.device = device
        self.isInUse = isInUse
        self.hasServices = hasServices
    }

    /// Why the host cannot carry a link; nil when it can.
    package var hostFault: RadioError? {
        guard isSameGeneration else { return .serviceUnavailable }
        guard let adapter else { return .adapterMissing }
        return adapter.isPowered ? nil : .adapterOff
    }

    package var isConnected: Bool { hostFault == nil && device?.isConnected == true }

    package var isResolved: Bool { isConnected && device?.isResolved == true }
}
