import Radio

/// What the present facts say about a link in the making or in use.
///
/// BlueZ tells of a loss in many ways and in no fixed order; whichever comes first decides.
enum LinkRace: Equatable {
    /// No link yet, and nothing against it.
    case waiting
    /// There is a link; its services are not found yet.
    case connected
    case resolved
    case lost(RadioError)

    /// Before the link has stood, no `Connected` is no loss.
    static func verdict(
        isSameGeneration: Bool,
        adapter: AdapterRecord?,
        device: DeviceRecord?,
        hasStood: Bool
    ) -> LinkRace {
        let loss = RadioError.linkLost
        guard isSameGeneration else { return .lost(hasStood ? loss : .serviceUnavailable) }
        guard let adapter else { return .lost(hasStood ? loss : .adapterMissing) }
        guard adapter.isPowered else { return .lost(hasStood ? loss : .adapterOff) }
        guard let device else { return .lost(hasStood ? loss : .connectFailed) }
        guard device.isConnected else { return hasStood ? .lost(loss) : .waiting }
        return device.isResolved ? .resolved : .connected
    }
}
