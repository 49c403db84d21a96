import Simulation

extension FamilyRegistry.Entry {
    static let geotabGo = Self(
        profiles: [
            ("geotab-go-generic.yaml", PackageResources.geotab_go_generic_yaml)
        ],
        simulated: .geotabGo
    )
}
