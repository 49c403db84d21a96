package import Base
import Radio
import Simulation

extension Family {
    package static let nordic = Self(rawValue: "nordic")
}

extension FamilyRegistry.Entry {
    static let nordic = Self(
        profiles: [
            ("nordic-generic.yaml", PackageResources.nordic_generic_yaml),
            ("nordic-legacy.yaml", PackageResources.nordic_legacy_yaml),
        ],
        shape: .nordic,
        bootloader: { NordicBootloader.form(of: $0) },
        opener: { _ in ModuleOpener { NordicUpdate(profile: $0) } },
        simulated: .nordic
    )
}

extension ProfileShape {
    static let nordic = Self(
        .nordic,
        unnamed: "Nordic device",
        groups: [.information, .secureDFU, .legacyDFU],
        authentications: [.none],
        protocols: [.secureDFU, .legacyDFU]
    )
}
