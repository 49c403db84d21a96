package import Base

/// The errors of communication with a module, as far as the radio knows them.
package enum RadioError: Error, Hashable, Sendable {
    /// The adapter is switched off or blocked.
    case adapterOff
    /// The adapter is missing.
    case adapterMissing
    /// The host's Bluetooth service does not answer, or has exited.
    case serviceUnavailable
    /// The host does not permit the use of Bluetooth.
    case unauthorized
    /// The adapter has as many links as it can carry.
    case noFreeLink
    /// Another program of this host is connected to the module.
    case heldByAnother
    /// There is no bond with the module, or an unusable one.
    case bond(BondFailure)
    /// The link could not be made.
    case connectFailed
    /// There was a link, and the module refused to have its services read.
    case servicesRefused
    /// The link was lost.
    case linkLost
    /// There was no result by the deadline.
    case timedOut
    case missingService(GATTUUID)
    case missingCharacteristic(GATTUUID)
    /// The other device answered with an ATT error.
    case att(ATTError)
    /// Longer than one packet of the link can be; `limit` is the longest.
    case tooLong(limit: Int)
    /// The task was cancelled.
    case cancelled
}

/// An error code of the Attribute Protocol (Core specification, volume 3, part F, 3.4.1.1).
package struct ATTError: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readNotPermitted = Self(rawValue: 0x02)
    package static let writeNotPermitted = Self(rawValue: 0x03)
    package static let insufficientAuthentication = Self(rawValue: 0x05)
    package static let insufficientAuthorization = Self(rawValue: 0x08)
    package static let invalidLength = Self(rawValue: 0x0D)
    /// The client characteristic configuration does not match the request.
    package static let improperlyConfigured = Self(rawValue: 0xFD)
    package static let procedureInProgress = Self(rawValue: 0xFE)

    package var description: String {
        switch self {
        case .readNotPermitted: "read not permitted"
        case .writeNotPermitted: "write not permitted"
        case .insufficientAuthentication: "insufficient authentication"
        case .insufficientAuthorization: "insufficient authorization"
        case .invalidLength: "invalid length"
        case .improperlyConfigured: "notifications not switched on"
        case .procedureInProgress: "procedure in progress"
        default: "ATT error \(rawValue)"
        }
    }
}

extension RadioError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .adapterOff: "the Bluetooth adapter is switched off"
        case .adapterMissing: "the Bluetooth adapter is gone"
        case .serviceUnavailable: "the host's Bluetooth service does not answer"
        case .unauthorized: "the host does not permit the use of Bluetooth"
        case .noFreeLink: "the adapter has no free link"
        case .heldByAnother: "another program of this host is connected to the module"
        case .bond(let failure): failure.description
        case .connectFailed: "the connection could not be made"
        case .servicesRefused: "the module refused to have its services read"
        case .linkLost: "the link was lost"
        case .timedOut: "no answer in time"
        case .missingService(let uuid): "the module has no service \(uuid)"
        case .missingCharacteristic(let uuid): "the module has no characteristic \(uuid)"
        case .att(let error): "the module refused: \(error)"
        case .tooLong(let limit): "longer than the \(limit) bytes the link carries"
        case .cancelled: "cancelled"
        }
    }
}
