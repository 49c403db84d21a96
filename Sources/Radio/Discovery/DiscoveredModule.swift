package import Base

/// A module that is heard now.
package struct DiscoveredModule: Sendable, Hashable {
    package let serial: Serial
    package let family: Family
    /// The profiles of its family that recognise it; never empty.
    package let profiles: [String]
    /// The name to show; a module without a name gets its family's default name.
    package var name: String
    /// In dBm.
    package var signal: Int
    package var lastSeen: Moment
    /// Valid for one connection attempt.
    package var peer: Peer
    /// The module waits for an image, or has received part of one, and runs nothing else.
    package var isInBootloader: Bool
}

/// How long to scan.
package enum ScanLength: Sendable, Hashable {
    /// 5, 30 and 60 seconds.
    case short, medium, long
    case lasting(Duration)

    package var duration: Duration {
        switch self {
        case .short: .seconds(5)
        case .medium: .seconds(30)
        case .long: .seconds(60)
        case .lasting(let duration): duration
        }
    }
}

/// Why a scan failed or ended early.
package enum DiscoveryProblem: Error, Sendable, Hashable {
    case bluetoothDisabled
    case bluetoothNotSupported
    case bluetoothUnavailable
    case missingPermission
    case unexpected(RadioError)

    package init(_ error: RadioError) {
        switch error {
        case .adapterOff: self = .bluetoothDisabled
        case .adapterMissing: self = .bluetoothNotSupported
        case .serviceUnavailable: self = .bluetoothUnavailable
        case .unauthorized: self = .missingPermission
        case .noFreeLink, .heldByAnother, .bond, .connectFailed, .servicesRefused, .linkLost,
            .timedOut, .missingService, .missingCharacteristic, .att, .tooLong, .cancelled:
            self = .unexpected(error)
        }
    }
}

extension DiscoveryProblem: Explained {
    package var sentence: String {
        switch self {
        case .bluetoothDisabled: "Bluetooth is switched off"
        case .bluetoothNotSupported: "this host has no such Bluetooth adapter"
        case .bluetoothUnavailable: "the host's Bluetooth service does not answer"
        case .missingPermission: "this user may not use Bluetooth"
        case .unexpected(let error): "the scan ended: \(error)"
        }
    }

    package var remedy: String {
        switch self {
        case .bluetoothDisabled: RadioError.adapterOff.remedy
        case .bluetoothNotSupported: RadioError.adapterMissing.remedy
        case .bluetoothUnavailable: RadioError.serviceUnavailable.remedy
        case .missingPermission: RadioError.unauthorized.remedy
        case .unexpected(let error): error.remedy
        }
    }
}
