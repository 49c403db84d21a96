/// How a vehicle's module wants to be paired with, as profiles and fleet lists name it.
package enum PairingKind: String, CaseIterable, Sendable, Hashable {
    /// It is worked on without a bond.
    case none
    /// By a bond that nobody has to confirm.
    case justWorks = "just-works"
    /// By six digits.
    case passkey
}
