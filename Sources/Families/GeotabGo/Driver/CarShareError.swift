package import Base
package import Radio

/// Why a car-share command did not succeed, and whether it may have been carried out nevertheless.
package struct CarShareError: Error, Hashable, Sendable {
    package let fate: CarShareFate
    package let reason: Reason

    package enum Reason: Hashable, Sendable {
        /// The token is not valid now, according to the clock of this machine.
        case token(CarShareTokenFault)
        case socket(CarShareSocketError)
        case radio(RadioError)
        case session(CarShareFailure.Reason)
    }

    package init(_ fate: CarShareFate, _ reason: Reason) {
        self.fate = fate
        self.reason = reason
    }

    init(_ failure: CarShareFailure) {
        self.init(failure.fate, .session(failure.reason))
    }

    /// The error of the radio, when it kept the commands from being sent.
    package var radioError: RadioError? {
        switch reason {
        case .radio(let error): error
        case .socket(.radio(.off)): .adapterOff
        case .socket(.radio(.missing)): .adapterMissing
        case .socket(.radio(.unavailable)): .serviceUnavailable
        case .token, .socket, .session: nil
        }
    }

    package var mayHaveBeenExecuted: Bool { fate.mayHaveBeenExecuted }

    package var failureClass: FailureClass {
        guard fate != .inDoubt else { return .inDoubt }
        switch reason {
        case .token: return .rejected
        case .socket(.nobodyCame): return .unreachable
        case .socket(.radio(.unauthorized)): return .rejected
        case .socket(.noRoom): return .device
        case .socket(.radio), .socket(.lost): return .transient
        case .radio(let error): return error.failureClass
        case .session(let reason): return CarShareFailure(fate, reason).failureClass
        }
    }
}

extension CarShareError: CustomStringConvertible {
    package var description: String {
        let sentence =
            switch reason {
            case .token(let fault): "the token cannot be used: \(fault)"
            case .socket(let error): error.description
            case .radio(let error): error.description
            case .session(let reason): reason.description
            }
        guard fate == .inDoubt else { return sentence }
        guard case .session(let reason) = reason, reason.isDenial else {
            return sentence + "; it may have been carried out"
        }
        return sentence + "; without a bond by passkey that proves nothing, "
            + "and it may have been carried out"
    }
}

extension RadioError {
    /// The same error in the terms of the socket.
    var socketFault: CarShareSocketError.Radio {
        switch self {
        case .adapterOff: .off
        case .adapterMissing: .missing
        case .serviceUnavailable: .unavailable
        case .unauthorized: .unauthorized
        case .noFreeLink, .heldByAnother, .bond, .connectFailed, .servicesRefused, .linkLost,
            .timedOut, .missingService, .missingCharacteristic, .att, .tooLong, .cancelled:
            .failed
        }
    }
}
