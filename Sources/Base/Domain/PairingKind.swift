/// How a vehicle's module is paired, in the spelling of profiles and fleet lists.
package enum PairingKind: String, CaseIterable, Sendable, Hashable {
    /// Without a bond.
    case none
    /// With a bond that no person has to confirm.
    case justWorks = "just-works"
    /// With six digits.
    case passkey
}
