package import Domain
package import Modules

/// What opens the modules of one vehicle, once its secret was read and understood.
package struct ModuleOpener: Sendable {
    /// How its module is heard, opened and updated, by what its profile says.
    package let driver: @Sendable (Profile) -> any UpdateDriver

    init(_ driver: @escaping @Sendable (Profile) -> any UpdateDriver) { self.driver = driver }
}

/// Why a secret opens no module.
package enum ModuleSecretError: Error, Sendable, Hashable {
    case missing
    /// It is not what the family's modules are opened with: what it is not, why, and its form.
    case unfit(String, cause: String, form: String)
}

extension FamilyRegistry {
    /// What a family's modules are opened with, given the vehicle's secret.
    package static func opener(
        of family: Family,
        _ secret: Secret?
    ) throws(ModuleSecretError) -> ModuleOpener {
        guard let entry = entry(of: family) else { throw .missing }
        return try entry.opener(secret)
    }

    /// Its vehicles take their secret for the token of a GO device.
    package static func takesToken(_ family: Family) -> Bool {
        entry(of: family).map { !$0.shape.isHeard } ?? false
    }
}
