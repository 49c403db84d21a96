package import Base

/// Why an exchange with a module failed.
package enum ModuleError: Error, Hashable, Sendable {
    case radio(RadioError)
    /// An exchange of the module's own protocol failed.
    case exchange(ExchangeFault)
    /// The module sent an invalid value; the text says which.
    case value(String)
}

extension ModuleError: CustomStringConvertible {
    package var failureClass: FailureClass {
        switch self {
        case .radio(let error): error.failureClass
        case .exchange(let fault): fault.failureClass
        case .value: .device
        }
    }

    package var description: String {
        switch self {
        // Only a person can fix a bond, so the message contains the remedy.
        case .radio(.bond(let failure)): "\(failure); \(failure.remedy)"
        case .radio(let error): error.description
        case .exchange(let fault): fault.description
        case .value(let sentence): sentence
        }
    }

    /// Whether the link is lost, so that only a new link can continue.
    package var isLinkLoss: Bool { kind == .linkLost }

    /// What the error indicates about our secret; nil when nothing.
    package var secret: SecretSuspicion.Sign? {
        if case .exchange(let fault) = self { fault.secret } else { nil }
    }

    /// Whether authentication failed.
    package var isAboutAuthentication: Bool {
        if case .exchange(let fault) = self { fault.subject == .authentication } else { false }
    }

    private var kind: UpdateFault.Kind {
        switch self {
        case .radio(let error): error == .linkLost ? .linkLost : .plain
        case .exchange(let fault): fault.kind
        case .value: .plain
        }
    }

    /// The error as the update session evaluates it.
    package func fault(while doing: String) -> UpdateFault {
        UpdateFault(failureClass, kind, doing.isEmpty ? description : "\(doing): \(description)")
    }
}

extension RadioError {
    package var failureClass: FailureClass {
        switch self {
        case .adapterOff, .adapterMissing, .serviceUnavailable, .noFreeLink, .heldByAnother,
            .connectFailed, .linkLost, .timedOut, .cancelled, .bond(.timedOut):
            .transient
        case .unauthorized, .bond: .rejected
        case .servicesRefused, .missingService, .missingCharacteristic, .att: .device
        case .tooLong: .internal
        }
    }

    /// Whether the fault is in this host and not in the module.
    package var isHostFault: Bool {
        switch self {
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized: true
        case .noFreeLink, .heldByAnother, .bond, .connectFailed, .servicesRefused, .linkLost,
            .timedOut, .missingService, .missingCharacteristic, .att, .tooLong, .cancelled:
            false
        }
    }

    /// Whether no further exchange with the module can help; the protocols then pass the error on.
    package var endsExchange: Bool {
        if case .bond = self { return true }
        return isHostFault || self == .cancelled
    }

    /// The failure as a session sees it; a host fault ends the link like any other loss.
    package var linkFailure: LinkFailure {
        switch self {
        case .timedOut: .timedOut
        case .att(let error): .refused(code: error.rawValue)
        case .missingService(let uuid), .missingCharacteristic(let uuid):
            .missing(uuid.description)
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized, .noFreeLink,
            .heldByAnother, .bond, .connectFailed, .servicesRefused, .linkLost, .tooLong,
            .cancelled:
            .lost
        }
    }
}
