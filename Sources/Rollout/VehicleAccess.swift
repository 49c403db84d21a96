import Domain
package import Families
import Modules
package import Radio

/// What opens one vehicle: secrets that were read and understood.
package struct VehicleAccess: Sendable {
    package enum Module: Sendable {
        case comodule(ComoduleKey)
        /// Without credentials only features that are not sealed can be used.
        case lrdevice(LRCredentials?)
        case mcumgr
        /// There is none besides the GO device.
        case none
    }

    package let module: Module
    package let carShare: CarShareCredentials?
    /// What its module is paired with.
    package let passkey: Passkey?

    package init(
        module: Module,
        carShare: CarShareCredentials? = nil,
        passkey: Passkey? = nil
    ) {
        self.module = module
        self.carShare = carShare
        self.passkey = passkey
    }

    /// Nil for a family that cannot be driven by this profile.
    func driver(_ profile: Profile) -> (any UpdateDriver)? {
        switch module {
        case .comodule(let key): ComoduleUpdate(key: key, profile: profile)
        case .lrdevice(let credentials): LRDriver(profile: profile, credentials: credentials)
        case .mcumgr: SMPModuleUpdate(profile: profile)
        case .none: CarShareDriver()
        }
    }
}
