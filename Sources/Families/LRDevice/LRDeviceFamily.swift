import Simulation

extension FamilyRegistry.Entry {
    static let lrdevice = Self(
        profiles: [
            ("lrdevice-generic.yaml", PackageResources.lrdevice_generic_yaml)
        ],
        simulated: .lrdevice
    )
}
