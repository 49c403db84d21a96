import Domain
package import Radio

/// What two devices share once they are paired.
package struct AirBond: Sendable, Equatable {
    let key: UInt64
    /// Made with a passkey, so that nobody stood between the two.
    package let isAuthenticated: Bool
}

/// A device's side of bonds: what it asks for, and with whom it is bonded.
///
/// Lives with its device; adapters are known by their names.
package final class AirSecurity {
    /// What a device is like in this.
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
    /// Pairings that came to a bond.
    package private(set) var pairings = 0

    package init(_ plan: Plan) { self.plan = plan }

    /// As a device's record has it.
    package var record: String { "\(pairings) pairings" }

    /// Adapters it is bonded to, sorted.
    package var hosts: [String] { bonds.keys.sorted() }

    /// Its memory of bonds is wiped.
    package func forget() { bonds = [:] }

    func knows(_ bond: AirBond, with host: String) -> Bool { bonds[host] == bond }

    /// Whether it asks the host for its passkey.
    package func asksForPasskey(keyboard: Bool) -> Bool {
        if case .passkey = plan.pairing { keyboard } else { false }
    }

    /// Pairs with a host, which gives a passkey when it was asked for one.
    ///
    /// A host without a keyboard gets a bond that nobody has confirmed.
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
