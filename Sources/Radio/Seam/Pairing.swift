/// How a vehicle must be paired with before it can be used.
package enum Pairing: Hashable, Sendable {
    /// Nothing: no bond is made.
    case none
    /// A bond that no person has to confirm.
    case justWorks
    /// A bond with six digits that the module's manufacturer has assigned.
    case passkey(Passkey)

    /// Whether only a device that knows the passkey can be at the other end.
    package var isAuthenticated: Bool {
        switch self {
        case .passkey: true
        case .none, .justWorks: false
        }
    }
}

/// The six digits of a pairing by passkey.
package struct Passkey: Hashable, Sendable {
    /// 0 to 999999.
    package let number: UInt32

    package init?(_ number: UInt32) {
        guard number <= 999_999 else { return nil }
        self.number = number
    }

    /// Six decimal digits, leading zeros included.
    package init?(text: String) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt32(text)
        else { return nil }
        self.init(number)
    }
}

extension Passkey: CustomStringConvertible, CustomDebugStringConvertible {
    // A passkey is a secret, so it must not be printed by accident.
    package var description: String { "(passkey)" }
    package var debugDescription: String { description }
}

/// The rules for a vehicle's bond.
package struct BondPolicy: Hashable, Sendable {
    package var pairing: Pairing
    /// Whether a bond that the vehicle has lost may be made again.
    ///
    /// Any device that advertises as the vehicle could cause that, so a person must allow it.
    package var mayRenew: Bool

    package init(_ pairing: Pairing, mayRenew: Bool = false) {
        self.pairing = pairing
        self.mayRenew = mayRenew
    }

    package static let unbonded = BondPolicy(.none)
}

/// Why a bond is missing or unusable.
package enum BondFailure: Hashable, Sendable {
    /// The vehicle requires a bond, and the settings do not state how to make one.
    case notConfigured
    /// The vehicle requires more than a bond without confirmation.
    case passkeyNeeded
    /// The vehicle rejected the passkey.
    case wrongPasskey
    /// The vehicle bonded without the passkey that it should require.
    case passkeyUnused
    /// The vehicle refused to pair.
    case refused
    /// The vehicle refused to pair, and was bonded to another adapter before.
    case bondedToOther(adapter: String)
    /// The vehicle has lost the bond that this host still has.
    case lost
    /// The pairing did not end in time.
    case timedOut
}

extension BondFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notConfigured:
            "the module asks for a bond, and neither its profile nor its vehicle says how to make "
                + "one"
        case .passkeyNeeded:
            "the module asks for a bond by passkey, and the one there is was made without"
        case .wrongPasskey: "the module did not take the passkey"
        case .passkeyUnused: "the module bonded without asking for the passkey"
        case .refused: "the module refused to pair"
        case .bondedToOther(let adapter):
            "the module refused to pair; it was bonded to the adapter \(adapter) before"
        case .lost: "the module has lost its bond with this host"
        case .timedOut: "the module did not finish the pairing"
        }
    }

    /// What a person can do about it.
    package var remedy: String {
        switch self {
        case .notConfigured: "set `pairing` in the vehicle's profile or in its row of the fleet"
        case .passkeyNeeded:
            "set `pairing: passkey` and its secret, and remove the bond: bluetoothctl remove"
        case .wrongPasskey: "check the secret; the module takes one try at a time"
        case .passkeyUnused:
            "check that it is this vehicle; when its model has no passkey, set `pairing: just-works`"
        case .refused:
            "let the module pair (its manual says how), or delete its old bonds: it may hold as "
                + "many as it can"
        case .bondedToOther:
            "delete the bond at the module, or plug the adapter of before in again"
        case .lost:
            "check that it is this vehicle; then allow it: `renew-bond: true`, or bluetoothctl "
                + "remove"
        case .timedOut: "try again nearer to the module"
        }
    }
}
