import BlueZ
import Radio

/// BlueZ's error answers, with its own texts.
extension ErrorReply {
    private static func bluez(_ name: String, _ message: String) -> ErrorReply {
        ErrorReply("org.bluez.Error." + name, message)
    }

    static func bluezFailed(_ message: String) -> ErrorReply { bluez("Failed", message) }
    static func notPermitted(_ message: String) -> ErrorReply { bluez("NotPermitted", message) }
    static func invalid(_ message: String) -> ErrorReply { bluez("InvalidArguments", message) }

    static let notReady = bluez("NotReady", "Resource Not Ready")
    static let busy = bluez("InProgress", "Operation already in progress")
    static let inProgress = bluez("InProgress", "In Progress")
    static let alreadyExists = bluez("AlreadyExists", "Already Exists")
    static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
    static let notSupported = bluez("NotSupported", "Operation is not supported")
    static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
    static let authenticationCanceled = bluez("AuthenticationCanceled", "Authentication Canceled")
    static let authenticationFailed = bluez("AuthenticationFailed", "Authentication Failed")
    static let authenticationRejected = bluez("AuthenticationRejected", "Authentication Rejected")
    static let noLink = bluezFailed("Not connected")
    static let profileUnavailable = bluez("NotAvailable", "br-connection-profile-unavailable")
    static let invalidArguments = invalid("Invalid arguments in method call")
    static let inputOutput = bluezFailed("Input/output error")
    static let connectAborted = bluezFailed("le-connection-abort-by-local")
    static let connectCanceled = bluezFailed("br-connection-canceled")
    static let connectBusy = bluezFailed("Operation already in progress")
    static let tooManyLinks = bluezFailed("le-connection-concurrent-connection-limit")
    static let accessDenied = ErrorReply(
        "org.freedesktop.DBus.Error.AccessDenied",
        "Rejected send message: the policy of the bus does not let you talk to org.bluez"
    )

    /// An error of the Attribute Protocol, as a client gets it.
    static func att(_ error: ATTError) -> ErrorReply {
        switch error.rawValue {
        case 0x02: .notPermitted("Read not permitted")
        case 0x03: .notPermitted("Write not permitted")
        case 0x05, 0x0C, 0x0F: .notPermitted("Not paired")
        case 0x06: .notSupported
        case 0x07: .invalid("Invalid offset")
        case 0x08: .notAuthorized
        case 0x0D: .invalid("Invalid Length")
        default: .bluezFailed("Operation failed with ATT error: 0x" + hex(error.rawValue))
        }
    }

    /// The error of a request, with or without an answer of the other device.
    static func request(_ error: RadioError) -> ErrorReply {
        if case .att(let error) = error { return .att(error) }
        return .bluezFailed("Operation failed with ATT error: 0x0e")
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
