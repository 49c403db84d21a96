package import Base
package import Radio

/// Opens the modules of one vehicle, after its secret was read and checked.
package struct ModuleOpener: Sendable {
    /// The driver for a profile: it recognises, opens and updates the module.
    package let driver: @Sendable (Profile) -> any UpdateDriver

    init(_ driver: @escaping @Sendable (Profile) -> any UpdateDriver) { self.driver = driver }
}

/// Why a secret cannot open a module.
package enum ModuleSecretError: Error, Sendable, Hashable {
    case missing
    /// The secret does not fit the family: what it is not, why, and the form that it must have.
    case unfit(String, cause: String, form: String)
}

extension FamilyRegistry {
    /// The opener for a family's modules, made from the vehicle's secret.
    ///
    /// Without a secret it opens only modules whose `profile` does not require one.
    package static func opener(
        of family: Family,
        _ secret: Secret?,
        by profile: Profile? = nil
    ) throws(ModuleSecretError) -> ModuleOpener {
        guard let entry = entry(of: family) else { throw .missing }
        let keyed = entry.shape.keyed
        let needsKey = profile.map { keyed.contains($0.authentication) } ?? !keyed.isEmpty
        if secret == nil, needsKey { throw .missing }
        return try entry.opener(secret)
    }

    /// Whether the secret of this family's vehicles is the token of a GO device.
    package static func takesToken(_ family: Family) -> Bool {
        entry(of: family).map { !$0.shape.isHeard } ?? false
    }
}
