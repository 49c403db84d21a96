package import Base
import Radio
import Simulation

extension Family {
    package static let mcumgr = Self(rawValue: "mcumgr")
}

extension FamilyRegistry.Entry {
    static let mcumgr = Self(
        profiles: [
            ("mcumgr-generic.yaml", PackageResources.mcumgr_generic_yaml)
        ],
        shape: .mcumgr,
        opener: { _ in ModuleOpener { SMPModuleUpdate(profile: $0) } },
        simulated: .mcumgr
    )
}

extension ProfileShape {
    static let mcumgr = Self(
        .mcumgr,
        unnamed: "MCUmgr device",
        groups: [
            Group(
                "management",
                service: SMPNumbers.service,
                [Group.Role(GATTRole(rawValue: "smp"), SMPNumbers.characteristic.uuid)]
            )
        ],
        authentications: [.none],
        places: [.setting, .statistic, .file, .characteristic],
        protocols: [.smp]
    )
}
