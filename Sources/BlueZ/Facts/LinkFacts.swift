package import Radio

/// What is known about a device and its adapter at one moment.
package struct LinkFacts: Equatable {
    /// Whether BlueZ is the one with which the link, or the attempt, began.
    package var isSameGeneration: Bool
    package var adapter: AdapterRecord?
    package var device: DeviceRecord?
    /// Whether some program listens to the device, or has a socket of it.
    package var isInUse: Bool

    package init(
        isSameGeneration: Bool = true,
        adapter: AdapterRecord?,
        device: DeviceRecord?,
        isInUse: Bool = false
    ) {
        self.isSameGeneration = isSameGeneration
        self.adapter = adapter
        self.device = device
        self.isInUse = isInUse
    }

    /// What the host itself lacks for a link; nil when it can carry one.
    package var hostFault: RadioError? {
        guard isSameGeneration else { return .serviceUnavailable }
        guard let adapter else { return .adapterMissing }
        return adapter.isPowered ? nil : .adapterOff
    }

    package var isConnected: Bool { hostFault == nil && device?.isConnected == true }

    package var isResolved: Bool { isConnected && device?.isResolved == true }
}
