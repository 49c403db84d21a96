import Simulation

extension FamilyRegistry.Entry {
    static let mcumgr = Self(
        profiles: [
            ("mcumgr-generic.yaml", PackageResources.mcumgr_generic_yaml)
        ],
        simulated: .mcumgr
    )
}
