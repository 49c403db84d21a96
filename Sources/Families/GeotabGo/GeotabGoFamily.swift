package import Base
import Radio
import Simulation

extension Family {
    package static let geotabGo = Self(rawValue: "geotab-go")
}

extension FamilyRegistry.Entry {
    static let geotabGo = Self(
        profiles: [
            ("geotab-go-generic.yaml", PackageResources.geotab_go_generic_yaml)
        ],
        shape: .geotabGo,
        opener: { _ in ModuleOpener { _ in CarShareDriver() } },
        simulated: .geotabGo
    )
}

extension ProfileShape {
    static let geotabGo = Self(
        .geotabGo,
        unnamed: "Geotab GO",
        isHeard: false,
        groups: [
            Group(
                "socket",
                service: nil,
                [
                    Group.Role(.notify, AddOnNumbers.notify),
                    Group.Role(.write, AddOnNumbers.write),
                ]
            )
        ],
        authentications: [AuthenticationForm(rawValue: "token")]
    )
}

extension GATTRole {
    static let notify = Self(rawValue: "notify")
    static let write = Self(rawValue: "write")
}
