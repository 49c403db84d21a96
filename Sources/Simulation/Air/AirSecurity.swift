import Base
package import Radio

/// The shared secret of two paired devices.
package struct AirBond: Sendable, Equatable {
    let key: UInt64
    /// Whether it was made with a passkey, which rules out an attacker between the two.
    package let isAuthenticated: Bool
}

/// A device's side of bonds: what it requires, and with which adapters it is bonded.
///
/// It exists as long as its device; adapters are identified by their names.
package final class AirSecurity {
    /// The behaviour of a device in pairing.
    package struct Plan: Sendable, Equatable {
        /// How it pairs.
        package var pairing: Pairing
        /// How many bonds it keeps; it refuses any further one.
        package var slots = 4
        package var refuses = false

        package init(_ pairing: Pairing) { self.pairing = pairing }
    }

    package enum Failure: Error, Equatable, Sendable { case refused, wrongPasskey }

    package var plan: Plan
    private var bonds: [String: AirBond] = [:]
    private var lastKey: UInt64 = 0
    /// Pairings that ended with a bond.
    package private(set) var pairings = 0

    package init(_ plan: Plan) { self.plan = plan }

    /// The text for a device's record.
    package var record: String { "\(pairings) pairings" }

    /// Adapters it is bonded to, sorted.
    package var hosts: [String] { bonds.keys.sorted() }

    /// Deletes all its bonds.
    package func forget() { bonds = [:] }

    func knows(_ bond: AirBond, with host: String) -> Bool { bonds[host] == bond }

    /// Whether it asks the host for its passkey.
    package func asksForPasskey(keyboard: Bool) -> Bool {
        if case .passkey = plan.pairing { keyboard } else { false }
    }

    /// Pairs with a host, which gives a passkey when it was asked for one.
    ///
    /// A host without a keyboard gets a bond without authentication.
    package func pair(
        with host: String,
        _ passkey: Passkey?
    ) -> Result<AirBond, Failure> {
        guard !plan.refuses, bonds[host] != nil || bonds.count < plan.slots else {
            return .failure(.refused)
        }
        var isAuthenticated = false
        if case .passkey(let own) = plan.pairing, let passkey {
            guard own == passkey else { return .failure(.wrongPasskey) }
            isAuthenticated = true
        }
        lastKey += 1
        pairings += 1
        let bond = AirBond(key: lastKey, isAuthenticated: isAuthenticated)
        bonds[host] = bond
        return .success(bond)
    }

    /// Whether its characteristics can be used on a link that this bond encrypts.
    package func admits(_ bond: AirBond?) -> Bool {
        switch plan.pairing {
        case .none: true
        case .justWorks: bond != nil
        case .passkey: bond?.isAuthenticated == true
        }
    }
}
