import Domain
import Modules
import Protocols
import Simulation

extension FamilyRegistry.Entry {
    static let esp = Self(
        profiles: [("esp-generic.yaml", PackageResources.esp_generic_yaml)],
        shape: .esp,
        opener: { _ in ModuleOpener { ESPUpdate(profile: $0) } },
        simulated: .esp
    )
}

extension ProfileShape {
    static let esp = Self(
        .esp,
        groups: [.information, .espOTA],
        authentications: [.none],
        protocols: [.espOTA]
    )
}
