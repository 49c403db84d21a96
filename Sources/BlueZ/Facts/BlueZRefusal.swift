/// The meaning of a BlueZ error, independent of its name in each version.
package enum BlueZRefusal: Hashable, Sendable {
    /// The adapter is off.
    case notReady
    /// The same operation is already running: join it, or ask again soon.
    case inProgress
    /// The adapter cannot carry more links.
    case tooManyLinks
    /// Another program has acquired the characteristic, or this one has just released it.
    case acquired
    /// There is no link.
    case notConnected
    case att(UInt8)
    case alreadyExists
    case notSupported
    /// All advertising slots are taken, or the operation is not allowed.
    case notPermitted
    case objectGone
    case serviceGone
    case accessDenied
    /// The other device has lost the keys of the bond.
    case keyMissing
    /// The attempt was canceled before it had a result.
    case canceled
    case authentication(Authentication)
    /// Any other failure.
    case failed

    /// How a pairing ended without a bond.
    package enum Authentication: Hashable, Sendable {
        /// Refused: the passkey was wrong, or there was another reason.
        case failed
        /// Another pairing is running at the adapter.
        case rejected
        /// The link was lost during the pairing, or somebody canceled it.
        case canceled
        case timedOut
        /// There was no connection to the other device.
        case noLink
    }

    package init(_ reply: ErrorReply) {
        if reply.isServiceGone {
            self = .serviceGone
            return
        }
        if reply.isObjectGone {
            self = .objectGone
            return
        }
        if reply.isAccessDenied {
            self = .accessDenied
            return
        }
        let prefix = "org.bluez.Error."
        guard reply.name.hasPrefix(prefix) else {
            self = .failed
            return
        }
        self = Self.meaning(of: reply.name.dropFirst(prefix.utf8.count), reply.message)
    }

    private static func meaning(of name: Substring, _ message: String) -> BlueZRefusal {
        let words = message.lowercased()
        switch name {
        case "NotReady": return .notReady
        case "InProgress": return .inProgress
        case "AlreadyExists": return .alreadyExists
        case "DoesNotExist": return .objectGone
        case "NotConnected": return .notConnected
        case "NotSupported": return .att(0x06)
        case "NotAuthorized": return .att(0x08)
        case "InvalidValueLength", "InvalidLength": return .att(0x0D)
        case "InvalidOffset": return .att(0x07)
        case "InvalidArguments":
            if words.contains("length") { return .att(0x0D) }
            return words.contains("offset") ? .att(0x07) : .failed
        case "AuthenticationFailed": return .authentication(.failed)
        case "AuthenticationRejected": return .authentication(.rejected)
        case "AuthenticationCanceled": return .authentication(.canceled)
        case "AuthenticationTimeout": return .authentication(.timedOut)
        case "ConnectionAttemptFailed": return .authentication(.noLink)
        case "NotPermitted":
            if words.contains("acquired") { return .acquired }
            if words.contains("not paired") { return .att(0x05) }
            if words.contains("read not permitted") { return .att(0x02) }
            return words.contains("write not permitted") ? .att(0x03) : .notPermitted
        case "Failed":
            if words.contains("already in progress") { return .inProgress }
            if words.contains("concurrent-connection-limit") { return .tooManyLinks }
            if words.contains("not connected") { return .notConnected }
            if words.contains("key-missing") { return .keyMissing }
            if words.contains("connection-cancel") { return .canceled }
            if words.contains("adapter-not-powered") || words.contains("not powered") {
                return .notReady
            }
            return code(in: words).map { .att($0) } ?? .failed
        default: return .failed
        }
    }

    /// The number in "Operation failed with ATT error: 0x08".
    private static func code(in words: String) -> UInt8? {
        guard words.contains("att error"), let mark = words.lastIndex(of: "x") else { return nil }
        return UInt8(words[words.index(after: mark)...].prefix(2), radix: 16)
    }
}
