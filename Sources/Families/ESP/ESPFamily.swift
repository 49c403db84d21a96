package import Base
import Radio
import Simulation

extension Family {
    package static let esp = Self(rawValue: "esp")
}

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
        unnamed: "ESP device",
        groups: [.information, .espOTA],
        authentications: [.none],
        protocols: [.espOTA]
    )
}
