package import Domain
package import Radio
package import Sessions

/// Why an exchange with a module came to nothing.
package enum ModuleError: Error, Hashable, Sendable {
    case radio(RadioError)
    case authentication(ComoduleAuthenticationError)
    case register(RegisterError)
    case entry(ButtonlessError)
    case upload(UploadError)
    /// A value that the module gave makes no sense; the text says which.
    case value(String)
}

extension ModuleError: CustomStringConvertible {
    package var failureClass: FailureClass {
        switch self {
        case .radio(let error): error.failureClass
        case .authentication(let error): error.failureClass
        case .register(let error): error.failureClass
        case .entry(let error): error.failureClass
        case .upload(let error): error.failureClass
        case .value: .device
        }
    }

    package var description: String {
        switch self {
        case .radio(let error): error.description
        case .authentication(let error): error.description
        case .register(let error): error.description
        case .entry(let error): error.description
        case .upload(let error): error.description
        case .value(let sentence): sentence
        }
    }

    /// Whether the link is gone, so that only a new one can go on.
    package var isLinkLoss: Bool {
        switch self {
        case .radio(let error): error == .linkLost
        case .authentication(.link(.lost)), .authentication(.refusedOrLost): true
        case .register(let error): error == .link(.lost)
        case .upload(let error): error == .link(.lost)
        case .entry(let error): error == .link(.lost)
        case .authentication, .value: false
        }
    }
}

extension RadioError {
    package var failureClass: FailureClass {
        switch self {
        case .adapterOff, .adapterMissing, .serviceUnavailable, .noFreeLink, .connectFailed,
            .linkLost, .timedOut, .cancelled:
            .transient
        case .unauthorized: .rejected
        case .missingService, .missingCharacteristic, .att: .device
        case .tooLong: .internal
        }
    }

    /// Whether the fault is this host's and not the module's.
    package var isHostFault: Bool {
        switch self {
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized: true
        case .noFreeLink, .connectFailed, .linkLost, .timedOut, .missingService,
            .missingCharacteristic, .att, .tooLong, .cancelled:
            false
        }
    }

    /// As a session knows it; what is the host's doing ends the link like any other loss.
    package var linkFailure: LinkFailure {
        switch self {
        case .timedOut: .timedOut
        case .att(let error): .refused(code: error.rawValue)
        case .missingService(let uuid), .missingCharacteristic(let uuid):
            .missing(uuid.description)
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized, .noFreeLink,
            .connectFailed, .linkLost, .tooLong, .cancelled:
            .lost
        }
    }
}
