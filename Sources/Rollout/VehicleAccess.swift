package import Families
package import Radio

/// The secrets that open one vehicle, read and parsed.
package struct VehicleAccess: Sendable {
    package let module: ModuleOpener
    package let carShare: TokenSupply?
    /// The keeper of its module's secret; nil when the secret cannot be changed.
    package let secrets: (any SecretKeeper)?
    /// The passkey for pairing with its module.
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
