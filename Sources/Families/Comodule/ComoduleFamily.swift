import Domain
import Modules
import Simulation

extension FamilyRegistry.Entry {
    static let comodule = Self(
        profiles: [
            ("comodule-generic.yaml", PackageResources.comodule_generic_yaml),
            ("comodule-ebike-display.yaml", PackageResources.comodule_ebike_display_yaml),
        ],
        bootloader: BootloaderForm(.comodule) { ModuleSighting.bootloader(in: $0) },
        simulated: .comodule
    )
}
