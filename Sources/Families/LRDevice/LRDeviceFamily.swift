import Domain
import Modules
import Simulation

extension FamilyRegistry.Entry {
    static let lrdevice = Self(
        profiles: [
            ("lrdevice-generic.yaml", PackageResources.lrdevice_generic_yaml)
        ],
        shape: .lrdevice,
        simulated: .lrdevice
    )
}

extension ProfileShape {
    static let lrdevice = Self(
        .lrdevice,
        groups: [
            Group(
                "messages",
                service: LRNumbers.service,
                [
                    Group.Role(GATTRole(rawValue: "request"), LRNumbers.request.uuid),
                    Group.Role(GATTRole(rawValue: "reply"), LRNumbers.reply.uuid),
                ]
            )
        ],
        authentications: [AuthenticationForm(rawValue: "key-exchange"), .none],
        hasProperties: true,
        hasFeatures: true
    )
}
