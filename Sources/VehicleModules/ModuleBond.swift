import Base
import Radio

/// How to bond with a module; the passkey is never printed.
///
/// The bond outlives the link: the host and the module keep it, and the next link uses it.
public struct ModuleBond: Sendable, Hashable {
    private let pairing: Pairing
    private let mayRenew: Bool

    private init(_ pairing: Pairing, renewing mayRenew: Bool) {
        self.pairing = pairing
        self.mayRenew = mayRenew
    }

    /// No bond is made, whatever the profile says.
    public static let unbonded = ModuleBond(.none, renewing: false)

    /// A bond that no person has to confirm.
    ///
    /// With `renewing`, a bond that the module has lost is made again: any device that advertises
    /// as the module could cause that.
    public static func justWorks(renewing mayRenew: Bool = false) -> ModuleBond {
        ModuleBond(.justWorks, renewing: mayRenew)
    }

    /// A bond with the six digits that the module's manufacturer has assigned.
    public static func passkey(
        _ digits: String,
        renewing mayRenew: Bool = false
    ) throws(ModuleFailure) -> ModuleBond {
        guard let passkey = Passkey(text: digits) else {
            throw ModuleFailure(
                .invalidValue,
                "a passkey is six digits, leading zeros included",
                "write it as it stands in the module's papers"
            )
        }
        return ModuleBond(.passkey(passkey), renewing: mayRenew)
    }

    var policy: BondPolicy { BondPolicy(pairing, mayRenew: mayRenew) }
}

extension ModuleBond: CustomStringConvertible {
    /// The kind of bond: a passkey is never printed, nor shown to a debugger.
    public var description: String {
        switch pairing {
        case .none: "none"
        case .justWorks: "just-works"
        case .passkey: "passkey"
        }
    }
}
