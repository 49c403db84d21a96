import Domain
package import Modules
package import Sessions

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

    package init(module: Module, carShare: CarShareCredentials? = nil) {
        self.module = module
        self.carShare = carShare
    }

    var lock: LRCredentials? {
        guard case .lrdevice(let credentials) = module else { return nil }
        return credentials
    }

    /// Nil for a family that cannot be driven by this profile.
    func driver(_ profile: Profile) -> (any UpdateDriver)? {
        switch module {
        case .comodule(let key): ComoduleUpdate(key: key, profile: profile)
        case .lrdevice: LRDriver(profile: profile)
        case .mcumgr: nil
        case .none: CarShareDriver()
        }
    }
}
