package import Base
package import Radio
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
        groups: [management(isRequired: true)],
        authentications: [.none],
        places: [.setting, .statistic, .file, .characteristic],
        protocols: [.smp]
    )

    /// A family that a program brings along: its modules have values behind a wire of their own, and
    /// may support SMP besides.
    package static func own(_ family: Family) -> Self {
        let own = AuthenticationForm(rawValue: "own")
        return Self(
            family,
            unnamed: family.rawValue,
            groups: [management(isRequired: false)],
            authentications: [.none, own],
            keyed: [own],
            places: [.value, .setting, .statistic, .file, .characteristic],
            protocols: [.smp]
        )
    }

    private static func management(isRequired: Bool) -> Group {
        Group(
            "management",
            service: SMPNumbers.service,
            isRequired: isRequired,
            [Group.Role(GATTRole(rawValue: "smp"), SMPNumbers.characteristic.uuid)]
        )
    }
}
