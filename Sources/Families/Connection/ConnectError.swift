package import Domain
package import Modules
package import Radio
import Sessions

/// Why a connection was not made.
package enum ConnectError: Error, Sendable, Hashable {
    /// Ended by a later connect, by disconnect, or because the task was cancelled.
    case aborted
    case bluetoothDisabled
    case bluetoothNotSupported
    /// The module refuses to bond, or did not answer.
    case bondingError
    /// The fault of the bond, where it is known.
    case bond(BondFailure)
    /// The source of the profiles does not accept our API key.
    case invalidAPIKey
    /// The secret is not a key, or not the key of this module.
    case invalidPrivateKey(ComoduleKeyError?)
    /// The secret does not fit the family: why, and the form that it must have.
    case secretUnfit(String, form: String)
    case secretMissing(Family)
    /// Vehicles of this family connect to us.
    case looksForUs(Family)
    case missingCharacteristic(GATTUUID)
    /// This can also happen right after an update.
    case missingService(GATTUUID)
    case missingPermissions([String])
    /// The profile could not be fetched.
    case networkError(String)
    /// The time is over; the value is the phase at that moment.
    case timedOut(ConnectionState.Connecting)
    case unexpected(String)
}

extension ConnectError: Explained {
    package var sentence: String {
        switch self {
        case .aborted: return "the attempt to connect was ended"
        case .bluetoothDisabled: return "Bluetooth is switched off"
        case .bluetoothNotSupported: return "this host has no such Bluetooth adapter"
        case .bondingError: return "the module could not be bonded"
        case .bond(let failure): return failure.description
        case .secretUnfit(let words, _): return words
        case .secretMissing(let family):
            return "modules of family \(family.rawValue) are opened with a secret"
        case .looksForUs(let family):
            return "vehicles of family \(family.rawValue) connect to us"
        case .invalidAPIKey: return "the source of profiles refuses our key"
        case .invalidPrivateKey(let error?): return error.description
        case .invalidPrivateKey(nil): return "the module refuses our secret"
        case .missingCharacteristic(let uuid): return "the module has no characteristic \(uuid)"
        case .missingService(let uuid): return "the module has no service \(uuid)"
        case .missingPermissions(let list):
            return "this user may not use Bluetooth: " + list.joined(separator: ", ")
        case .networkError(let words): return "the module's profile could not be fetched: \(words)"
        case .timedOut(let part):
            return switch part {
            case .bluetoothOff: "Bluetooth stayed switched off"
            case .searching: "the module was not heard"
            case .handshaking: "the module did not finish the handshake"
            case .firmwareUpdateOngoing: "the module is still updating its firmware"
            }
        case .unexpected(let words): return words
        }
    }

    package var remedy: String {
        switch self {
        case .aborted: "connect again if nobody else wants to"
        case .bluetoothDisabled, .timedOut(.bluetoothOff): "switch Bluetooth on"
        case .bluetoothNotSupported: "plug the adapter in, or name another one"
        case .bondingError: "remove the bond on both sides and connect again"
        case .bond(let failure): failure.remedy
        case .secretUnfit(_, let form): "give \(form)"
        case .secretMissing: "give the module's secret"
        case .looksForUs: "wait for it, with its token"
        case .invalidAPIKey: "check the key"
        case .invalidPrivateKey(.some): "give up to 40 hex digits"
        case .invalidPrivateKey(nil): "check the module's secret"
        case .missingCharacteristic: "check that the profile is this model's"
        case .missingService:
            "check that the profile is this model's; right after an update, connect again"
        case .missingPermissions: "give this user the right to use Bluetooth"
        case .networkError: "check the network, or give the profile as a file"
        case .timedOut(.searching):
            "see whether it is near, charged, and not connected to a phone"
        case .timedOut(.handshaking): "move closer and connect again"
        case .timedOut(.firmwareUpdateOngoing): "wait some minutes and connect again"
        case .unexpected: "connect again, and restart the module if it stays so"
        }
    }
}

/// Why an attempt ended, for the loop that makes the attempts.
enum AttemptFailure: Error, Sendable {
    /// No further attempt can succeed.
    case final(ConnectError)
    /// A further attempt can succeed while there is time.
    case passing(ModuleError)
    /// The radio of the host is off: it may be switched on again.
    case radioOff
}

extension AttemptFailure {
    init(_ error: RadioError) {
        switch error {
        case .adapterOff, .serviceUnavailable: self = .radioOff
        case .adapterMissing: self = .final(.bluetoothNotSupported)
        case .unauthorized: self = .final(.missingPermissions(["use of Bluetooth"]))
        case .cancelled: self = .final(.aborted)
        case .missingService(let uuid): self = .final(.missingService(uuid))
        case .missingCharacteristic(let uuid): self = .final(.missingCharacteristic(uuid))
        case .att(let error) where error.isAboutBonding: self = .final(.bondingError)
        case .bond(let failure): self = .final(.bond(failure))
        case .noFreeLink, .heldByAnother, .connectFailed, .linkLost, .timedOut, .att, .tooLong:
            self = .passing(.radio(error))
        }
    }

    init(_ error: ModuleError) {
        switch error {
        case .radio(let radio): self.init(radio)
        case .exchange(let fault):
            if fault.secret == .refused {
                self = .final(.invalidPrivateKey(nil))
            } else if case .refused(let code)? = fault.link, ATTError(rawValue: code).isAboutBonding
            {
                self = .final(.bondingError)
            } else {
                self = .passing(error)
            }
        case .value: self = .passing(error)
        }
    }
}

extension ATTError {
    /// Insufficient authentication, encryption key size or encryption: the link is not bonded.
    var isAboutBonding: Bool { [0x05, 0x0C, 0x0F].contains(rawValue) }
}
