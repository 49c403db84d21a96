package import Families
import Modules
package import Radio

/// What opens one vehicle: secrets that were read and understood.
package struct VehicleAccess: Sendable {
    package let module: ModuleOpener
    package let carShare: TokenSupply?
    /// Who keeps what opens its module, where that can be changed.
    package let secrets: (any SecretKeeper)?
    /// What its module is paired with.
    package let passkey: Passkey?

    package init(
        module: ModuleOpener,
        carShare: TokenSupply? = nil,
        secrets: (any SecretKeeper)? = nil,
        passkey: Passkey? = nil
    ) {
        self.module = module
        self.carShare = carShare
        self.secrets = secrets
        self.passkey = passkey
    }
}
